import CloudModel
import Storage
import StoredRows

extension SQLCatalog {
    package func add(_ letter: Letter, dueAt: Milliseconds, waitingMax: Int?) throws -> Bool {
        try write(endsWhatWasTrue: false) {
            if let waitingMax {
                let waiting = try $0.first(
                    "SELECT count(*) FROM letters WHERE purpose = ?", .text(letter.purpose.rawValue)
                ) { Int($0.int64(0)) }
                guard waiting ?? 0 < waitingMax else { return false }
            }
            try $0.run(
                """
                INSERT INTO letters
                (purpose, account, kind, folded, address, detail, return_path, language, tries, made_at,
                due_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, .text(letter.purpose.rawValue), .optional(letter.account?.text),
                .text(letter.address.kind.rawValue), .text(letter.address.folded),
                .text(letter.address.text), .text(letter.detail), .optional(letter.returnPath),
                .text(letter.language), .integer(Int64(letter.tries)), .integer(letter.madeAt),
                .integer(dueAt))
            return true
        }
    }

    package func dueLetters(
        to kind: Address.Kind, now: Milliseconds, countMax: Int
    ) throws -> [Letter] {
        try read {
            try $0.all(
                """
                SELECT number, purpose, account, kind, folded, address, detail, tries, made_at,
                return_path, language FROM letters
                WHERE due_at <= ? AND kind = ? ORDER BY due_at, number LIMIT ?
                """, .integer(now), .text(kind.rawValue), .integer(Int64(countMax))
            ) { row in
                guard let purpose = Letter.Purpose(rawValue: row.string(1)),
                    let kind = Address.Kind(rawValue: row.string(3))
                else { throw InvalidRow(table: "letters") }
                return Letter(
                    number: row.int64(0), purpose: purpose,
                    account: row.optionalString(2).map { AccountID($0) },
                    address: Address(kind: kind, text: row.string(5), folded: row.string(4)),
                    detail: row.string(6), returnPath: row.optionalString(9),
                    language: row.string(10), tries: Int(clamping: row.int64(7)),
                    madeAt: row.int64(8))
            }
        }
    }

    package func postpone(
        letter number: Int64, until dueAt: Milliseconds?, by lease: LeaderLease
    ) throws {
        try write(endsWhatWasTrue: false) { catalog in
            try check(lease, in: catalog)
            guard let dueAt else {
                try catalog.run("DELETE FROM letters WHERE number = ?", .integer(number))
                return
            }
            try catalog.run(
                "UPDATE letters SET tries = tries + 1, due_at = ? WHERE number = ?",
                .integer(dueAt), .integer(number))
        }
    }

    package func add(_ link: LetterLink, now: Milliseconds) throws {
        try write(endsWhatWasTrue: false) { catalog in
            if let account = link.account {
                try Self.requireAccount(account, in: catalog)
            }
            try catalog.run("DELETE FROM letter_links WHERE expires_at <= ?", .integer(now))
            try catalog.run(
                """
                INSERT INTO letter_links
                (hash, purpose, account, kind, folded, address, return_path, expires_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (hash) DO UPDATE SET expires_at = excluded.expires_at
                """, .bytes(link.hash), .text(link.purpose.rawValue),
                .optional(link.account?.text), .text(link.address.kind.rawValue),
                .text(link.address.folded), .text(link.address.text), .optional(link.returnPath),
                .integer(link.expiresAt))
        }
    }

    package func letterLink(hash: [UInt8], now: Milliseconds) throws -> LetterLink? {
        try read { try Self.letterLink(hash, now: now, in: $0) }
    }

    /// Uses a link up, and ends all others of its purpose for its address; nil for one that does not work.
    static func takeLetterLink(
        _ hash: [UInt8], _ purpose: LetterLink.Purpose, now: Milliseconds,
        in catalog: CatalogConnection
    ) throws -> LetterLink? {
        guard let link = try letterLink(hash, now: now, in: catalog), link.purpose == purpose
        else { return nil }
        try catalog.run(
            "DELETE FROM letter_links WHERE purpose = ? AND kind = ? AND folded = ?",
            .text(purpose.rawValue), .text(link.address.kind.rawValue),
            .text(link.address.folded))
        return link
    }

    private static func letterLink(
        _ hash: [UInt8], now: Milliseconds, in catalog: CatalogConnection
    ) throws -> LetterLink? {
        try catalog.first(
            """
            SELECT purpose, account, kind, folded, address, expires_at, return_path FROM letter_links
            WHERE hash = ? AND expires_at > ?
            """, .bytes(hash), .integer(now)
        ) { row in
            guard let purpose = LetterLink.Purpose(rawValue: row.string(0)),
                let kind = Address.Kind(rawValue: row.string(2))
            else { throw InvalidRow(table: "letter_links") }
            return LetterLink(
                hash: hash, purpose: purpose, account: row.optionalString(1).map { AccountID($0) },
                address: Address(kind: kind, text: row.string(4), folded: row.string(3)),
                returnPath: row.optionalString(6), expiresAt: row.int64(5))
        }
    }

    package func expect(
        code hash: [UInt8], for address: Address, of account: AccountID, triesMax: Int,
        expiresAt: Milliseconds
    ) throws {
        try write(endsWhatWasTrue: false) { catalog in
            try Self.requireAccount(account, in: catalog)
            try catalog.run(
                """
                INSERT INTO address_codes
                (account, kind, folded, address, hash, tries_left, expires_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (account, kind, folded) DO UPDATE SET address = excluded.address,
                hash = excluded.hash, tries_left = excluded.tries_left,
                expires_at = excluded.expires_at
                """, .text(account.text), .text(address.kind.rawValue), .text(address.folded),
                .text(address.text), .bytes(hash), .integer(Int64(triesMax)), .integer(expiresAt))
        }
    }

    package func awaitedAddresses(
        of account: AccountID, now: Milliseconds
    ) throws -> [Address] {
        try read { catalog in
            let asked = try catalog.all(
                """
                SELECT kind, folded, address, expires_at AS asked FROM address_codes
                WHERE account = ?1 AND expires_at > ?2 AND tries_left > 0
                UNION ALL
                SELECT kind, folded, address, 9000000000000000 + number FROM letters
                WHERE account = ?1 AND purpose = 'address'
                ORDER BY asked, folded
                """, .text(account.text), .integer(now)
            ) { row in
                guard let kind = Address.Kind(rawValue: row.string(0)) else {
                    throw InvalidRow(table: "address_codes")
                }
                return Address(kind: kind, text: row.string(2), folded: row.string(1))
            }
            // Of one that was asked for twice, the later counts.
            return asked.indices.filter { index in
                !asked[(index + 1)...].contains {
                    ($0.kind, $0.folded) == (asked[index].kind, asked[index].folded)
                }
            }.map { asked[$0] }
        }
    }

    package func take(
        code hash: [UInt8], for address: Address, of account: AccountID, now: Milliseconds
    ) throws -> CodeOutcome {
        let key: [CatalogValue] = [
            .text(account.text), .text(address.kind.rawValue), .text(address.folded),
        ]
        return try write(endsWhatWasTrue: false) { catalog in
            try catalog.run("DELETE FROM address_codes WHERE expires_at <= ?", .integer(now))
            let tried = try catalog.run(
                """
                UPDATE address_codes SET tries_left = tries_left - 1
                WHERE account = ? AND kind = ? AND folded = ? AND tries_left > 0
                """, key[0], key[1], key[2])
            guard tried == 1 else { return .none }
            let ended = try catalog.run(
                """
                DELETE FROM address_codes WHERE account = ? AND kind = ? AND folded = ? AND hash = ?
                """, key[0], key[1], key[2], .bytes(hash))
            return ended == 1 ? .right : .wrong
        }
    }

}
