import CloudModel
import SQLite
import Storage

extension SQLiteCatalog {
    package func set(_ ending: AccountEnding) throws {
        try write { catalog in
            try SQLiteCatalog.requireAccount(ending.account, in: catalog)
            try catalog.run(
                """
                INSERT OR REPLACE INTO account_endings (account, due_at, public_records)
                VALUES (?, ?, ?)
                """, .text(ending.account.text), .integer(ending.dueAt),
                .text(ending.publicRecords.rawValue))
            try SQLiteCatalog.endSessions(of: ending.account, except: nil, in: catalog)
        }
    }

    package func ending(of account: AccountID) throws -> AccountEnding? {
        try read {
            try $0.first(
                "\(SQLiteCatalog.endingQuery) WHERE account = ?", .text(account.text),
                row: SQLiteCatalog.ending)
        }
    }

    package func takeBackEnding(of account: AccountID) throws -> Bool {
        try write(endsWhatWasTrue: false) {
            try $0.run("DELETE FROM account_endings WHERE account = ?", .text(account.text)) == 1
        }
    }

    package func dueEndings(now: Milliseconds, countMax: Int) throws -> [AccountEnding] {
        try read {
            try $0.all(
                "\(SQLiteCatalog.endingQuery) WHERE due_at <= ? ORDER BY due_at LIMIT ?",
                .integer(now), .integer(Int64(countMax)), row: SQLiteCatalog.ending)
        }
    }

    private static let endingQuery = "SELECT account, due_at, public_records FROM account_endings"

    private static func ending(_ row: Statement) throws -> AccountEnding {
        guard let fate = PublicRecordsFate(rawValue: row.string(2)) else {
            throw SQLiteError.unreadable("account_endings")
        }
        return AccountEnding(
            account: AccountID(row.string(0)), dueAt: row.int64(1), publicRecords: fate)
    }
}
