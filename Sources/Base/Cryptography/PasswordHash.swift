import COpenSSL
import Synchronization

/// Passwords as they are kept: salted and hashed by scrypt (RFC 7914), in one text with the costs.
///
/// Only one is derived at a time, so that many attempts wait instead of taking the memory of all.
package enum PasswordHash {
    /// What deriving takes: time by all three, memory of 128 bytes times block size times 2 to the bits.
    package struct Costs: Sendable, Equatable {
        /// The logarithm of the number of blocks.
        package let bits: Int
        package let blockSize: Int
        package let parallelism: Int

        package init(bits: Int = 15, blockSize: Int = 8, parallelism: Int = 3) {
            self.bits = bits
            self.blockSize = blockSize
            self.parallelism = parallelism
        }

        /// Three times about 70 ms, and 32 MiB.
        package static let standard = Costs()

        /// Whether a text may name them: so no row can make the server take a gigabyte.
        var areBearable: Bool {
            (8...20).contains(bits) && (1...32).contains(blockSize)
                && (1...16).contains(parallelism) && memoryBytes <= 268_435_456
        }

        var memoryBytes: UInt64 { 128 * UInt64(blockSize) << UInt64(bits) }
    }

    /// What a comparison came to.
    package struct Comparison: Sendable, Equatable {
        package let isMatch: Bool
        /// Whether the text was made at other costs than those that are wanted now.
        package let isOutdated: Bool
    }

    package static let passwordBytesMax = 1_024

    private static let saltBytes = 16
    private static let hashBytes = 32
    private static let turn = Mutex(())

    /// The text to keep: `scrypt$15$8$3$salt$hash`, with salt and hash in base64.
    ///
    /// Nil when there is no memory to derive it.
    package static func make(
        _ password: [UInt8], random: RandomSource, costs: Costs = .standard
    ) -> String? {
        let salt = random.bytes(saltBytes)
        guard let hash = derive(password, salt, costs) else { return nil }
        return "scrypt$\(costs.bits)$\(costs.blockSize)$\(costs.parallelism)"
            + "$\(Base64.encode(salt))$\(Base64.encode(hash))"
    }

    /// Whether the text was made from this password; false for a text of another form.
    package static func matches(_ password: [UInt8], _ text: String) -> Bool {
        compare(password, text, wanted: .standard)?.isMatch ?? false
    }

    /// Compares a password with a stored text, at the same cost when there is none.
    ///
    /// - Parameters:
    ///   - text: nil, or of another form: then nothing matches.
    ///   - wanted: the costs of new texts, and of a comparison without a stored text. A text of lower
    ///     parallelism is compared at these, too.
    /// - Returns: nil when there is no memory to derive it.
    package static func compare(
        _ password: [UInt8], _ text: String?, wanted: Costs
    ) -> Comparison? {
        let known = text.flatMap(Known.init)
        let costs = known?.costs ?? wanted
        // There is no stored text: derive a key all the same, and throw it away.
        let salt = known?.salt ?? [UInt8](repeating: 0, count: saltBytes)
        guard let hash = derive(password, salt, costs) else { return nil }
        if costs.bits == wanted.bits, costs.blockSize == wanted.blockSize,
            costs.parallelism < wanted.parallelism
        {
            let rest = Costs(
                bits: costs.bits, blockSize: costs.blockSize,
                parallelism: wanted.parallelism - costs.parallelism)
            guard derive(password, salt, rest) != nil else { return nil }
        }
        let expected = known?.hash ?? [UInt8](repeating: 0, count: hashBytes)
        let isMatch = ConstantTime.areEqual(hash, expected) && known != nil
        return Comparison(isMatch: isMatch, isOutdated: known != nil && costs != wanted)
    }

    /// A kept text, taken apart.
    private struct Known {
        let costs: Costs
        let salt: [UInt8]
        let hash: [UInt8]

        init?(_ text: String) {
            let parts = text.split(separator: "$", omittingEmptySubsequences: false)
            guard parts.count == 6, parts[0] == "scrypt", let bits = Int(parts[1]),
                let blockSize = Int(parts[2]), let parallelism = Int(parts[3]),
                let salt = Base64.decode(String(parts[4])),
                let hash = Base64.decode(String(parts[5])), hash.count == hashBytes
            else { return nil }
            costs = Costs(bits: bits, blockSize: blockSize, parallelism: parallelism)
            guard costs.areBearable else { return nil }
            self.salt = salt
            self.hash = hash
        }
    }

    private static func derive(
        _ password: [UInt8], _ salt: [UInt8], _ costs: Costs
    ) -> [UInt8]? {
        guard password.count <= passwordBytesMax else { return nil }
        var hash = [UInt8](repeating: 0, count: hashBytes)
        let isDerived = turn.withLock { _ in
            password.withUnsafeBytes { password in
                EVP_PBE_scrypt(
                    password.baseAddress?.assumingMemoryBound(to: CChar.self), password.count,
                    salt, salt.count, 1 << UInt64(costs.bits), UInt64(costs.blockSize),
                    UInt64(costs.parallelism), 2 * costs.memoryBytes + 1_048_576, &hash, hash.count)
                    == 1
            }
        }
        return isDerived ? hash : nil
    }
}
