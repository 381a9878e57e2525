import CloudModel
import Cryptography
import Storage

/// What lets scripts act as an operator: made, found, ended.
package struct OperatorTokens: Sendable {
    /// A token just made: the only time that its text is seen.
    package struct Created: Sendable {
        /// `lop_` and 64 hexadecimal digits.
        package let token: String
        package let record: OperatorTokenRecord
    }

    /// What searches for lost secrets know one by.
    private static let prefix = "lop_"
    private static let secretBytes = 32
    private static let daySeconds = 86_400
    /// How long one is good unless something else is asked for, and at most.
    package static let secondsUsual = 90 * daySeconds
    package static let secondsMax = 366 * daySeconds
    /// How exactly its last use is known.
    private static let useMilliseconds: Milliseconds = 60_000

    let catalog: any CatalogStorage
    let random: RandomSource

    /// - Parameters:
    ///   - name: unique over the server; made up when nil.
    ///   - seconds: nil for the usual time.
    /// - Throws: `nameIllegal`, `lifetimeIllegal`, `containerUnknown`, `nameTaken`.
    package func create(
        name: String?, rights: OperatorRights, seconds: Int?, now: Milliseconds
    ) throws -> Created {
        let seconds = seconds ?? Self.secondsUsual
        guard (1...Self.secondsMax).contains(seconds) else {
            throw AccountsRefusal.lifetimeIllegal
        }
        let token = Self.prefix + Hexadecimal.encode(random.bytes(Self.secretBytes))
        let hash = Self.hash(token)
        let record = OperatorTokenRecord(
            hash: hash,
            name: try PlainName.checked(name) ?? "operator-\(Hexadecimal.encode(hash.prefix(4)))",
            rights: rights, madeAt: now, expiresAt: now + Milliseconds(seconds) * 1_000)
        try catalog.add(record, now: now)
        return Created(token: token, record: record)
    }

    /// The token of this text; nil for one that is not good now.
    package func find(_ token: String, now: Milliseconds) throws -> OperatorTokenRecord? {
        guard token.hasPrefix(Self.prefix),
            let record = try catalog.operatorToken(hash: Self.hash(token)), now < record.expiresAt
        else { return nil }
        if now - (record.usedAt ?? .min / 2) > Self.useMilliseconds {
            try catalog.note(uses: [.operatorToken(hash: record.hash): now])
        }
        return record
    }

    private static func hash(_ token: String) -> [UInt8] { SHA256.digest(Array(token.utf8)) }
}
