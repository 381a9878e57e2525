import COpenSSL

/// AES-256 in Galois/Counter Mode (NIST SP 800-38D), for one key.
///
/// A nonce must never be used twice with one key.
package struct AES256GCM: Sendable {
    package static let keyBytes = 32
    package static let nonceBytes = 12
    package static let tagBytes = 16

    private let key: [UInt8]

    /// Nil for a key of another length than 32 bytes.
    package init?(key: [UInt8]) {
        guard key.count == Self.keyBytes else { return nil }
        self.key = key
    }

    /// Encrypts, and authenticates also what lies beside: as many bytes as came, and a tag.
    ///
    /// - Parameter nonce: 12 bytes.
    /// - Returns: nil when the library fails or the nonce is of another length.
    package func seal(
        _ plain: UnsafeRawBufferPointer, nonce: [UInt8], beside: [UInt8]
    ) -> [UInt8]? {
        guard nonce.count == Self.nonceBytes else { return nil }
        var isMade = false
        let sealed = [UInt8](unsafeUninitializedCapacity: plain.count + Self.tagBytes) {
            bytes, count in
            isMade =
                lenticular_aesgcm_seal(
                    key, key.count, nonce, beside, beside.count,
                    plain.baseAddress?.assumingMemoryBound(to: UInt8.self), plain.count,
                    bytes.baseAddress) == 1
            count = plain.count + Self.tagBytes
        }
        return isMade ? sealed : nil
    }

    /// Decrypts; nil when a bit of it, of its tag or of what lies beside is not what was sealed.
    package func open(
        _ sealed: UnsafeRawBufferPointer, nonce: [UInt8], beside: [UInt8]
    ) -> [UInt8]? {
        guard nonce.count == Self.nonceBytes, sealed.count >= Self.tagBytes else { return nil }
        let plainCount = sealed.count - Self.tagBytes
        var isOpen = false
        let plain = [UInt8](unsafeUninitializedCapacity: max(plainCount, 1)) { bytes, count in
            isOpen =
                lenticular_aesgcm_open(
                    key, key.count, nonce, beside, beside.count,
                    sealed.baseAddress?.assumingMemoryBound(to: UInt8.self), plainCount,
                    bytes.baseAddress) == 1
            count = isOpen ? plainCount : 0
        }
        return isOpen ? plain : nil
    }
}
