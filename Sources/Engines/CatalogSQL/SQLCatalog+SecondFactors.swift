import CloudModel
import Storage
import StoredRows

extension SQLCatalog {
    private static var digestBytes: Int { 32 }

    package func set(
        _ factor: SecondFactor, inPlaceOf previous: SecondFactor?
    ) throws -> Bool {
        try write(endsWhatWasTrue: false) { catalog in
            if let previous {
                return try Self.replace(previous, by: factor, in: catalog)
            }
            try Self.requireAccount(factor.account, in: catalog)
            try catalog.run(
                """
                INSERT INTO second_factors
                (account, secret, last_step, recovery, made_at) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (account) DO UPDATE SET secret = excluded.secret,
                last_step = excluded.last_step, recovery = excluded.recovery,
                made_at = excluded.made_at
                """, .text(factor.account.text), .bytes(factor.secret),
                .integer(factor.lastStep), .bytes(factor.recovery.flatMap { $0 }),
                .integer(factor.madeAt))
            return true
        }
    }

    private static func replace(
        _ previous: SecondFactor, by factor: SecondFactor, in catalog: CatalogConnection
    ) throws -> Bool {
        try catalog.run(
            """
            UPDATE second_factors SET secret = ?, last_step = ?, recovery = ?, made_at = ?
            WHERE account = ? AND secret = ? AND last_step = ? AND recovery = ?
            """, .bytes(factor.secret), .integer(factor.lastStep),
            .bytes(factor.recovery.flatMap { $0 }), .integer(factor.madeAt),
            .text(previous.account.text), .bytes(previous.secret),
            .integer(previous.lastStep), .bytes(previous.recovery.flatMap { $0 })) == 1
    }

    static func secondFactors(
        of accounts: [CatalogValue], in catalog: CatalogConnection
    ) throws -> [SecondFactor] {
        try catalog.all(
            """
            SELECT account, secret, last_step, recovery, made_at FROM second_factors
            WHERE account IN (?*)
            """, among: accounts
        ) { row in
            let recovery = row.array(3)
            guard recovery.count.isMultiple(of: digestBytes) else {
                throw InvalidRow(table: "second_factors")
            }
            let digests = stride(from: 0, to: recovery.count, by: digestBytes)
                .map { Array(recovery[$0..<$0 + digestBytes]) }
            return SecondFactor(
                account: AccountID(row.string(0)), secret: row.array(1), lastStep: row.int64(2),
                recovery: digests, madeAt: row.int64(4))
        }
    }

    package func spend(
        _ hash: [UInt8], expiresAt: Milliseconds, now: Milliseconds
    ) throws -> Bool {
        try write(endsWhatWasTrue: false) { catalog in
            try catalog.run("DELETE FROM spent_page_tokens WHERE expires_at <= ?", .integer(now))
            return try catalog.run(
                """
                INSERT INTO spent_page_tokens (hash, expires_at) VALUES (?, ?)
                ON CONFLICT DO NOTHING
                """, .bytes(hash), .integer(expiresAt)) == 1
        }
    }
}
