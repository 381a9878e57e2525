import CloudModel
import Storage
import StoredRows

extension SQLCatalog {
    package func set(_ ending: AccountEnding?, of account: AccountID) throws -> Bool {
        try write(endsWhatWasTrue: ending != nil) { catalog in
            let id = CatalogValue.text(account.text)
            let isFormer =
                try catalog.run("DELETE FROM account_endings WHERE account = ?", id) == 1
            guard let ending else { return isFormer }
            try Self.requireAccount(account, in: catalog)
            try catalog.run(
                "INSERT INTO account_endings (account, due_at, public_records) VALUES (?, ?, ?)",
                id, .integer(ending.dueAt), .text(ending.publicRecords.rawValue))
            try Self.endSessions(of: account, except: nil, in: catalog)
            return isFormer
        }
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
