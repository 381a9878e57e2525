import Network

/// Finds the client whose request a proxy has passed on.
///
/// Each proxy adds the address from which it was called to the end of `X-Forwarded-For`. Anybody
/// can have written the rest. So the list is read from its end, for as long as the addresses are
/// trusted proxies.
enum ForwardedFor {
    /// Longer chains of proxies are not followed: the last proxy looked at is the client then.
    static let hopsMax = 32

    /// The block that a request came from, which a trusted proxy has passed on.
    ///
    /// An entry that is no address ends the list: then the proxy that added it is the client. The
    /// same holds for a proxy that added nothing.
    ///
    /// - Parameter isTrusted: whether an address is that of a proxy that is believed.
    static func client(
        of headers: HTTPHeaders, from proxy: AddressBlock?, isTrusted: (String) -> Bool
    ) -> AddressBlock? {
        var client = proxy
        var hopsLeft = hopsMax
        for index in (0..<headers.count).reversed() {
            let isOver = headers.withField(index) { name, value in
                guard name.elementsEqual("x-forwarded-for".utf8) else { return false }
                var rest = value[...]
                while hopsLeft > 0 {
                    hopsLeft -= 1
                    let comma = rest.lastIndex(of: UInt8(ascii: ","))
                    let entry = address(rest[(comma.map { $0 + 1 } ?? rest.startIndex)...])
                    guard let block = AddressBlock(entry) else { return true }
                    client = block
                    guard isTrusted(String(decoding: entry, as: UTF8.self)) else { return true }
                    guard let comma else { return false }
                    rest = rest[..<comma]
                }
                return true
            }
            if isOver { return client }
        }
        return client
    }

    /// An entry without the blanks around it, and without a port: `192.0.2.7:80`, `[2001:db8::1]:80`.
    private static func address(
        _ entry: Slice<UnsafeRawBufferPointer>
    ) -> UnsafeRawBufferPointer {
        var entry = entry
        while let byte = entry.first, byte == 0x20 || byte == 0x09 { entry.removeFirst() }
        while let byte = entry.last, byte == 0x20 || byte == 0x09 { entry.removeLast() }
        if entry.first == UInt8(ascii: "[") {
            let end = entry.firstIndex(of: UInt8(ascii: "]")) ?? entry.endIndex
            return UnsafeRawBufferPointer(rebasing: entry[(entry.startIndex + 1)..<end])
        }
        if let colon = entry.firstIndex(of: UInt8(ascii: ":")),
            entry.lastIndex(of: UInt8(ascii: ":")) == colon
        {
            return UnsafeRawBufferPointer(rebasing: entry[..<colon])
        }
        return UnsafeRawBufferPointer(rebasing: entry)
    }
}
