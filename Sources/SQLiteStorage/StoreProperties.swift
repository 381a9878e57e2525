import CloudModel
import Migrations
import SQLite
import Storage

/// The migrations that make a store's file.
enum StoreFile {
    static var migrations: [Migration] {
        let embedded = lenticular_store_migrations()
        return (0..<embedded.count).map { index in
            let file = embedded.first[index]
            return Migration(
                name: String(cString: file.name),
                sql: String(
                    decoding: UnsafeRawBufferPointer(start: file.sql, count: file.byteCount),
                    as: UTF8.self))
        }
    }
}

/// What a store knows of itself.
struct StoreProperties {
    private static let incarnationKey = "incarnation"
    private static let tokenKeyKey = "token_key"
    /// How far a restored store's counter moves at least: further than its former life can have gone
    /// since.
    private static let restoredGap: Position = 1 << 30

    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Gives a new file its first incarnation, its token key and the public database's owner.
    func makeMissing(random: (Int) -> [UInt8]) throws {
        guard try value(Self.incarnationKey, { $0.int64(0) }) == nil else { return }
        try connection.execute("BEGIN IMMEDIATE")
        try set(Self.incarnationKey) { $0.bind(Self.incarnation(random), at: 2) }
        try set(Self.tokenKeyKey) { $0.bind(random(32), at: 2) }
        try set(GroupState.reservationKey) { $0.bind(Int64(0), at: 2) }
        let owner = try connection.prepare(
            "INSERT INTO owners (id, record_name, account) VALUES (0, ?1, '')")
        owner.bind(UserRecordName.publicOwner.text, at: 1)
        try owner.run()
        try connection.execute("COMMIT")
    }

    func identity() throws -> StoreIdentity {
        guard let incarnation = try value(Self.incarnationKey, { $0.int64(0) }),
            let tokenKey = try value(Self.tokenKeyKey, { [UInt8]($0.bytes(0)) })
        else { throw InvalidRow(table: "properties") }
        let rows = try connection.prepare("SELECT number, last_position FROM incarnations")
        defer { rows.reset() }
        var earlier: [Int64: Position] = [:]
        while try rows.step() { earlier[rows.int64(0)] = rows.int64(1) }
        return StoreIdentity(incarnation: incarnation, earlier: earlier, tokenKey: tokenKey)
    }

    func number(_ name: String) throws -> Int64 { try value(name) { $0.int64(0) } ?? 0 }

    /// Opens a new incarnation in a restored file: later tokens of the former one expire.
    func beginIncarnation(random: (Int) -> [UInt8]) throws {
        let former = try number(Self.incarnationKey)
        let last = try connection.prepare("SELECT coalesce(max(changed), 0) FROM zones")
        defer { last.reset() }
        _ = try last.step()
        let position = max(last.int64(0), 0)
        last.reset()
        try connection.execute("BEGIN IMMEDIATE")
        let note = try connection.prepare(
            "INSERT INTO incarnations (number, last_position) VALUES (?1, ?2)")
        note.bind(former, at: 1)
        note.bind(position, at: 2)
        try note.run()
        // Two lives from one copy must not give out the same numbers either.
        let further = random(4).reduce(0) { $0 << 8 | Position($1) }
        let reserved = try number(GroupState.reservationKey) + Self.restoredGap + further
        try set(Self.incarnationKey) { $0.bind(Self.incarnation(random), at: 2) }
        try set(GroupState.reservationKey) { $0.bind(reserved, at: 2) }
        try connection.execute("COMMIT")
    }

    /// Goes on where a store ended whose data is gone: its tokens are known, and have expired.
    ///
    /// In a transaction of the caller's.
    func succeed(_ former: StoreProperties) throws {
        let identity = try former.identity()
        try set(Self.tokenKeyKey) { $0.bind(identity.tokenKey, at: 2) }
        let reserved = try former.number(GroupState.reservationKey)
        try set(GroupState.reservationKey) { $0.bind(reserved, at: 2) }
    }

    private static func incarnation(_ random: (Int) -> [UInt8]) -> Int64 {
        random(7).reduce(0) { $0 << 8 | Int64($1) }
    }

    private func value<Value>(_ name: String, _ read: (Statement) -> Value) throws -> Value? {
        let statement = try connection.prepare("SELECT value FROM properties WHERE name = ?1")
        defer { statement.reset() }
        statement.bind(name, at: 1)
        return try statement.step() ? read(statement) : nil
    }

    private func set(_ name: String, _ bind: (Statement) -> Void) throws {
        let statement = try connection.prepare(
            "INSERT OR REPLACE INTO properties (name, value) VALUES (?1, ?2)")
        statement.bind(name, at: 1)
        bind(statement)
        try statement.run()
    }
}
