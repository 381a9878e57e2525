/// Keys out of a secret (RFC 5869), with HMAC-SHA256.
package enum HKDF {
    /// As many bytes as one block of the digest has: all that is ever needed here.
    package static let bytesMax = 32

    /// A key from a secret that need not be evenly distributed.
    ///
    /// - Parameters:
    ///   - info: what the key is for.
    ///   - bytes: from 1 to 32.
    package static func key(
        from secret: [UInt8], salt: [UInt8], info: [UInt8], bytes: Int
    ) -> [UInt8] {
        precondition((1...bytesMax).contains(bytes))
        let pseudorandom = HMACSHA256(key: salt).code(for: secret)
        return Array(HMACSHA256(key: pseudorandom).code(for: info + [1]).prefix(bytes))
    }
}
