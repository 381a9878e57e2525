import Cryptography

/// Seals what a backup consists of, names included; without a key all of it lies open.
package struct BackupKey: Sendable {
    package static let keyBytes = AES256GCM.keyBytes

    private let cipher: AES256GCM?
    private let digests: HMACSHA256?
    private let random: RandomSource
    /// Tells one key from another, and nothing else; nil without a key.
    let name: String?

    /// No key.
    package init(random: RandomSource) {
        (cipher, digests, name) = (nil, nil, nil)
        self.random = random
    }

    /// Nil for a key of another length than 32 bytes.
    package init?(_ key: [UInt8], random: RandomSource) {
        func derived(_ purpose: String, bytes: Int) -> [UInt8] {
            HKDF.key(
                from: key, salt: Array("lenticular backups".utf8), info: Array(purpose.utf8),
                bytes: bytes)
        }
        guard key.count == Self.keyBytes,
            let cipher = AES256GCM(key: derived("contents", bytes: AES256GCM.keyBytes))
        else { return nil }
        self.cipher = cipher
        digests = HMACSHA256(key: derived("digests", bytes: 32))
        name = Hexadecimal.encode(derived("name", bytes: 8))
        self.random = random
    }

    /// Names contents: only equal ones have the same, and without the key nobody can tell what they are.
    func digest(_ bytes: [UInt8]) -> [UInt8] {
        digests?.code(for: bytes) ?? SHA256.digest(bytes)
    }

    /// - Parameter purpose: what it is; only as that it can be opened.
    func seal(_ bytes: [UInt8], as purpose: [UInt8]) throws -> [UInt8] {
        guard let cipher else { return bytes }
        let nonce = random.bytes(AES256GCM.nonceBytes)
        let sealed = bytes.withUnsafeBytes { cipher.seal($0, nonce: nonce, beside: purpose) }
        guard let sealed else { throw BackupFailure("the system's cryptography fails") }
        return nonce + sealed
    }

    /// Nil when a bit of it is not what was sealed.
    func open(_ bytes: ArraySlice<UInt8>, as purpose: [UInt8]) -> [UInt8]? {
        guard let cipher else { return Array(bytes) }
        guard bytes.count >= AES256GCM.nonceBytes else { return nil }
        let nonce = Array(bytes.prefix(AES256GCM.nonceBytes))
        return Array(bytes.dropFirst(AES256GCM.nonceBytes)).withUnsafeBytes {
            cipher.open($0, nonce: nonce, beside: purpose)
        }
    }
}
