import Foundation
import Synchronization

/// A proxy that hands each request without a body on to a server and says for whom, in a thread of its own.
final class ForwardingProxy: Sendable {
    /// Where it listens.
    let address: String
    private let listener: Int32
    private let target = Mutex<UInt16>(0)

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        let port = Self.withLoopback(port: 0) { name, length -> UInt16? in
            var length = length
            let isBound =
                bind(listener, name, length) == 0 && listen(listener, 16) == 0
                && getsockname(listener, name, &length) == 0
            return isBound
                ? name.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    UInt16(bigEndian: $0.pointee.sin_port)
                } : nil
        }
        guard let port else { throw CocoaError(.fileReadUnknown) }
        address = "127.0.0.1:\(port)"
        Thread.detachNewThread { [weak self] in
            // Closed here and nowhere else: its number may be another test's socket right after that.
            defer { close(listener) }
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                self?.handOn(client)
                close(client)
            }
        }
    }

    deinit {
        // `accept` comes back, also when it is called only after this.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Where requests go from now on.
    ///
    /// - Parameter address: `127.0.0.1` and a port.
    func forward(to address: String) {
        target.withLock { $0 = address.split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }
    }

    private func handOn(_ client: Int32) {
        guard var head = Self.received(on: client, until: { $0.hasSuffix("\r\n\r\n") }) else {
            return
        }
        // One character, as Swift counts.
        head.removeLast()
        head += "X-Forwarded-For: 203.0.113.9\r\nConnection: close\r\n\r\n"
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(server) }
        let isConnected = Self.withLoopback(port: target.withLock { $0 }) {
            connect(server, $0, $1) == 0
        }
        guard isConnected else { return }
        Self.send(head, on: server)
        if let answer = Self.received(on: server, until: { _ in false }) {
            Self.send(answer, on: client)
        }
    }

    /// What comes until it is enough or the other side has ended; nil for nothing.
    private static func received(on descriptor: Int32, until isEnough: (String) -> Bool) -> String?
    {
        var text = ""
        var piece = [UInt8](repeating: 0, count: 4_096)
        while !isEnough(text) {
            let count = read(descriptor, &piece, piece.count)
            guard count > 0 else { break }
            text += String(decoding: piece[..<count], as: UTF8.self)
        }
        return text.isEmpty ? nil : text
    }

    private static func send(_ text: String, on descriptor: Int32) {
        _ = Array(text.utf8).withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    private static func withLoopback<Result>(
        port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
