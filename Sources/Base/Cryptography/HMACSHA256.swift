import COpenSSL

/// A key of HMAC-SHA256 (RFC 2104, FIPS 198-1), prepared once and used for many messages.
///
/// Keep it where messages are short and many: the key's own two blocks are already digested.
package struct HMACSHA256: Sendable {
    package static let codeBytes = 32
    /// The shortest truncated code that is made or believed (RFC 2104 §5: half of the digest).
    package static let codeBytesMin = 16

    private var prepared = lenticular_hmac_sha256()

    /// Takes a key of any length.
    package init(key: [UInt8]) {
        key.withUnsafeBufferPointer {
            lenticular_hmac_sha256_prepare(&prepared, $0.baseAddress, $0.count)
        }
    }

    /// The message's code, cut to its first `bytes` bytes (16 to 32).
    package func code(for message: UnsafeRawBufferPointer, bytes: Int = codeBytes) -> [UInt8] {
        precondition((HMACSHA256.codeBytesMin...HMACSHA256.codeBytes).contains(bytes))
        return [UInt8](unsafeUninitializedCapacity: HMACSHA256.codeBytes) { code, count in
            withUnsafePointer(to: prepared) {
                lenticular_hmac_sha256($0, message.baseAddress, message.count, code.baseAddress)
            }
            count = bytes
        }
    }

    /// The message's code, cut to its first `bytes` bytes (16 to 32).
    package func code(for message: [UInt8], bytes: Int = codeBytes) -> [UInt8] {
        message.withUnsafeBytes { code(for: $0, bytes: bytes) }
    }

    /// Whether the code, whole or cut to at least 16 bytes, is the message's.
    ///
    /// Takes the same time wherever the code differs. Hand in only codes of the length that the
    /// format prescribes: a shorter one is easier to guess.
    package func isValid(
        _ code: UnsafeRawBufferPointer, for message: UnsafeRawBufferPointer
    ) -> Bool {
        guard (HMACSHA256.codeBytesMin...HMACSHA256.codeBytes).contains(code.count) else {
            return false
        }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: HMACSHA256.codeBytes) {
            expected in
            withUnsafePointer(to: prepared) {
                lenticular_hmac_sha256($0, message.baseAddress, message.count, expected.baseAddress)
            }
            return CRYPTO_memcmp(expected.baseAddress, code.baseAddress, code.count) == 0
        }
    }

    /// Whether the code, whole or cut to at least 16 bytes, is the message's.
    package func isValid(_ code: [UInt8], for message: [UInt8]) -> Bool {
        code.withUnsafeBytes { code in message.withUnsafeBytes { isValid(code, for: $0) } }
    }
}
