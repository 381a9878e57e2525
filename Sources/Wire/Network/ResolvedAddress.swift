import CNetwork

/// An address of a host, and a port: what a connection is made to, with no name left to look up.
package struct ResolvedAddress: Sendable, CustomStringConvertible {
    /// More of one name are not looked at.
    package static let perNameMax = 16

    let endpoint: network_endpoint

    /// The address in numbers, without the port.
    package var description: String {
        withUnsafeBytes(of: endpoint.text) { bytes in
            String(decoding: bytes.prefix(while: { $0 != 0 }), as: UTF8.self)
        }
    }

    /// The address alone: 4 bytes, or 16.
    package var bytes: [UInt8] {
        withUnsafeBytes(of: endpoint.address) { Array($0.prefix(Int(endpoint.address_count))) }
    }

    /// Looks up the addresses of a host, by its name or number; blocks for as long as the name takes.
    ///
    /// - Throws: when there are none.
    package static func resolve(
        host: String, port: UInt16
    ) throws(SystemError) -> [ResolvedAddress] {
        let found = UnsafeMutableBufferPointer<network_endpoint>.allocate(capacity: perNameMax)
        found.initialize(repeating: network_endpoint())
        defer { found.deallocate() }
        let count = try SystemCall.require("getaddrinfo") {
            Int(network_resolve(host, "\(port)", found.baseAddress, Int32(found.count)))
        }
        return found.prefix(count).map { ResolvedAddress(endpoint: $0) }
    }
}
