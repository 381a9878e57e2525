/// What a sealed secret is for and whose it is: both are authenticated with it.
///
/// A secret that somebody copies to another owner's row, or uses for another purpose, opens no more.
package struct SecretSubject: Sendable, Equatable {
    /// A constant of the program, such as `totp`.
    package let purpose: String
    /// An account's id, a provider's name; empty for the server itself.
    package let owner: String

    package init(purpose: String, owner: String) {
        self.purpose = purpose
        self.owner = owner
    }

    /// Both texts with their lengths before them, so that no two subjects give the same bytes.
    fileprivate var bytes: [UInt8] {
        [purpose, owner].flatMap { text -> [UInt8] in
            let bytes = Array(text.utf8)
            return (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (24 - 8 * $0)) } + bytes
        }
    }
}

/// Why a sealed secret does not open.
package enum SecretRefusal: Error, Sendable, Equatable {
    /// Not of the form that sealing gives.
    case malformed
    /// Sealed by a key that is not among those at hand.
    case otherKey
    /// Changed, or sealed for another purpose or owner.
    case notAuthentic
}

/// Secrets that the server must be able to read again, sealed by AES-256-GCM under the server's keys.
///
/// The first key seals; all of them open, so that a new key can be put before an old one. A sealed
/// secret is a byte for the form, 8 bytes that name its key, a nonce of 12, and the sealed bytes with
/// their tag. Nonces are random: one key is good for 2^32 secrets.
package struct SealedSecrets: Sendable {
    package static let keyBytes = 32
    /// How many bytes longer than the secret its sealed form is.
    package static let overheadBytes =
        1 + nameBytes + AES256GCM.nonceBytes + AES256GCM.tagBytes

    private static let form: UInt8 = 1
    private static let nameBytes = 8

    private struct Key: Sendable {
        let name: [UInt8]
        let cipher: AES256GCM
        /// Makes further keys from it.
        let root: HMACSHA256

        /// Name and cipher both come from the key, so that it may serve for other things as well.
        init?(_ bytes: [UInt8]) {
            guard bytes.count == SealedSecrets.keyBytes else { return nil }
            let root = HMACSHA256(key: bytes)
            name = Array(root.code(for: Array("sealed secrets: name".utf8)).prefix(nameBytes))
            guard let cipher = AES256GCM(key: root.code(for: Array("sealed secrets: key".utf8)))
            else { return nil }
            self.cipher = cipher
            self.root = root
        }
    }

    private let keys: [Key]
    private let random: RandomSource

    /// - Parameter keys: each 32 bytes; the first one seals.
    /// - Returns: nil for no key, and for one of another length.
    package init?(keys: [[UInt8]], random: RandomSource) {
        let made = keys.compactMap { Key($0) }
        guard !made.isEmpty, made.count == keys.count else { return nil }
        self.keys = made
        self.random = random
    }

    /// What the key is called that has sealed something, as in `keyNames`.
    package static func keyName(of sealed: [UInt8]) -> String {
        Hexadecimal.encode(Array(sealed.dropFirst().prefix(nameBytes)))
    }

    /// What the keys are called, in hexadecimal; no secret, and the same for the same key anywhere.
    package var keyNames: [String] { keys.map { Hexadecimal.encode($0.name) } }

    /// Seals a secret under the first key.
    ///
    /// Never the same bytes twice. Ends the process where the library fails, which is out of memory.
    package func seal(_ secret: [UInt8], for subject: SecretSubject) -> [UInt8] {
        let nonce = random.bytes(AES256GCM.nonceBytes)
        let header = [Self.form] + keys[0].name
        let sealed = secret.withUnsafeBytes {
            keys[0].cipher.seal($0, nonce: nonce, beside: header + subject.bytes)
        }
        guard let sealed else { preconditionFailure("OpenSSL seals nothing") }
        return header + nonce + sealed
    }

    /// The secret again.
    ///
    /// - Throws: `SecretRefusal`.
    package func open(
        _ sealed: [UInt8], for subject: SecretSubject
    ) throws(SecretRefusal) -> [UInt8] {
        guard sealed.count >= Self.overheadBytes, sealed[0] == Self.form else { throw .malformed }
        let header = Array(sealed[..<(1 + Self.nameBytes)])
        guard let key = keys.first(where: { $0.name.elementsEqual(header[1...]) }) else {
            throw .otherKey
        }
        let bodyStart = header.count + AES256GCM.nonceBytes
        let opened = sealed[bodyStart...].withUnsafeBytes {
            key.cipher.open(
                $0, nonce: Array(sealed[header.count..<bodyStart]), beside: header + subject.bytes)
        }
        guard let opened else { throw .notAuthentic }
        return opened
    }

    /// Keys of 32 bytes that nobody has to keep, one from each of the server's keys: the first one is given out, and
    /// the others go on for those who have them.
    package func derivedKeys(for subject: SecretSubject) -> [[UInt8]] {
        keys.map { $0.root.code(for: Array("sealed secrets: derived".utf8) + subject.bytes) }
    }

    /// Whether it should be sealed anew: it was sealed by a key that no longer comes first.
    package func isStale(_ sealed: [UInt8]) -> Bool {
        !sealed.dropFirst().starts(with: keys[0].name)
    }
}
