import COpenSSL
import Synchronization

/// Passwords as they are kept: salted and hashed by scrypt (RFC 7914), in one text.
///
/// Costs of 2^15 blocks of 8: about 70 ms and 32 MiB. Only one is derived at a time, so that many
/// attempts wait instead of taking the memory of all.
package enum PasswordHash {
    package static let passwordBytesMax = 1_024

    private static let costBits = 15
    private static let blockSize = 8
    private static let saltBytes = 16
    private static let hashBytes = 32
    private static let memoryBytesMax: UInt64 = 67_108_864
    private static let turn = Mutex(())

    /// The text to keep: `scrypt$15$8$1$salt$hash`, with salt and hash in base64.
    ///
    /// Nil when there is no memory to derive it.
    package static func make(_ password: [UInt8], random: RandomSource) -> String? {
        let salt = random.bytes(saltBytes)
        guard let hash = derive(password, salt) else { return nil }
        return "scrypt$\(costBits)$\(blockSize)$1$\(Base64.encode(salt))$\(Base64.encode(hash))"
    }

    /// Whether the text was made from this password; false for a text of another form.
    package static func matches(_ password: [UInt8], _ text: String) -> Bool {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "scrypt", parts[1] == "\(costBits)",
            parts[2] == "\(blockSize)", parts[3] == "1", let salt = Base64.decode(String(parts[4])),
            let expected = Base64.decode(String(parts[5])), let hash = derive(password, salt)
        else { return false }
        return ConstantTime.areEqual(hash, expected)
    }

    private static func derive(_ password: [UInt8], _ salt: [UInt8]) -> [UInt8]? {
        guard password.count <= passwordBytesMax else { return nil }
        var hash = [UInt8](repeating: 0, count: hashBytes)
        let isDerived = turn.withLock { _ in
            password.withUnsafeBytes { password in
                EVP_PBE_scrypt(
                    password.baseAddress?.assumingMemoryBound(to: CChar.self), password.count,
                    salt, salt.count, 1 << UInt64(costBits), UInt64(blockSize), 1, memoryBytesMax,
                    &hash, hash.count) == 1
            }
        }
        return isDerived ? hash : nil
    }
}
