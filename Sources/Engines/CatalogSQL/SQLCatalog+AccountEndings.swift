import CloudModel
import Storage
import StoredRows

extension SQLCatalog {
    package func set(
        _ ending: AccountEnding?, of account: AccountID, inPlaceOf previous: AccountEnding?
    ) throws -> Bool {
        try write(endsWhatWasTrue: previous == nil) { catalog in
            if let previous { return try Self.replace(previous, by: ending, in: catalog) }
            let id = CatalogValue.text(account.text)
            let hadOne =
                try catalog.run("DELETE FROM account_endings WHERE account = ?", id) == 1
            try Self.requireAccount(account, in: catalog)
            if let ending {
                try catalog.run(
                    "INSERT INTO account_endings (account, due_at, public_records) VALUES (?, ?, ?)",
                    id, .integer(ending.dueAt), .text(ending.publicRecords.rawValue))
            }
            try Self.endSessions(of: account, except: nil, in: catalog)
            return hadOne
        }
    }

    private static func replace(
        _ previous: AccountEnding, by next: AccountEnding?, in catalog: CatalogConnection
    ) throws -> Bool {
        let values: [CatalogValue] = [
            .text(previous.account.text), .integer(previous.dueAt),
            .text(previous.publicRecords.rawValue),
        ]
        let isPrevious = "account = ? AND due_at = ? AND public_records = ?"
        guard let next else {
            return try catalog.run("DELETE FROM account_endings WHERE \(isPrevious)", values) == 1
        }
        return try catalog.run(
            "UPDATE account_endings SET due_at = ?, public_records = ? WHERE \(isPrevious)",
            [.integer(next.dueAt), .text(next.publicRecords.rawValue)] + values) == 1
    }

    package func endings(_ key: EndingKey) throws -> [AccountEnding] {
        try read { catalog in
            switch key {
            case .account(let account):
                try catalog.all(
                    "\(Self.endingQuery) WHERE account = ?", .text(account.text),
                    row: Self.ending)
            case .due(let moment, let countMax):
                try catalog.all(
                    "\(Self.endingQuery) WHERE due_at <= ? ORDER BY due_at LIMIT ?",
                    .integer(moment), .integer(Int64(countMax)), row: Self.ending)
            }
        }
    }

    private static var endingQuery: String {
        "SELECT account, due_at, public_records FROM account_endings"
    }

    private static func ending(_ row: any CatalogRow) throws -> AccountEnding {
        guard let fate = PublicRecordsFate(rawValue: row.string(2)) else {
            throw InvalidRow(table: "account_endings")
        }
        return AccountEnding(
            account: AccountID(row.string(0)), dueAt: row.int64(1), publicRecords: fate)
    }
}
