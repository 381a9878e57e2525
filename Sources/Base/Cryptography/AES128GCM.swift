import COpenSSL

/// AES-128 in Galois/Counter Mode (NIST SP 800-38D), which Web Push prescribes (RFC 8188).
///
/// A nonce must never be used twice with one key.
package struct AES128GCM: Sendable {
    package static let keyBytes = 16

    private let key: [UInt8]

    /// Nil for a key of another length than 16 bytes.
    package init?(key: [UInt8]) {
        guard key.count == Self.keyBytes else { return nil }
        self.key = key
    }

    /// Encrypts: as many bytes as came, and a tag of 16.
    ///
    /// - Parameter nonce: 12 bytes.
    /// - Returns: nil when the library fails or the nonce is of another length.
    package func seal(_ plain: [UInt8], nonce: [UInt8]) -> [UInt8]? {
        guard nonce.count == AES256GCM.nonceBytes else { return nil }
        var sealed = [UInt8](repeating: 0, count: plain.count + AES256GCM.tagBytes)
        return lenticular_aesgcm_seal(
            key, key.count, nonce, nil, 0, plain, plain.count, &sealed) == 1 ? sealed : nil
    }
}
