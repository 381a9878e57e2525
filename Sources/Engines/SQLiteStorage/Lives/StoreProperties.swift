import CloudModel
import SQLite
import Storage
import StoredRows

/// What a store knows of itself.
struct StoreProperties {
    static let incarnationKey = "incarnation"
    static let tokenKeyKey = "token_key"
    static let nameKey = "catalog_name"
    private static let nameHashKey = "name_hash_key"
    /// How far a restored store's counter moves at least: further than its previous life can have gone
    /// since.
    private static let restoredGap: Position = 1 << 30
    /// How far the counter moves at least when a store was opened.
    ///
    /// Further than what a lost end of the log can have held. There are numbers for some 300,000 lives.
    private static let lifeGap: Position = 1 << 20
    /// How many earlier lives are known; tokens of those before have expired.
    ///
    /// For a server that is started each hour it is 400 days.
    static let incarnationsMax = 10_000

    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Gives a new file its first incarnation, its keys and the public database's owner.
    ///
    /// - Parameter name: what the catalog is to know it by; empty for none.
    /// - Returns: whether the file is new.
    func makeMissing(named name: [UInt8], random: (Int) -> [UInt8]) throws -> Bool {
        guard try value(Self.incarnationKey, { $0.int64(0) }) == nil else { return false }
        try connection.transaction {
            try set(Self.incarnationKey) { $0.bind(Self.incarnation(random), at: 2) }
            try set(Self.tokenKeyKey) { $0.bind(random(32), at: 2) }
            try set(Self.nameHashKey) { $0.bind(random(NameHash.keyBytes), at: 2) }
            if !name.isEmpty { try set(Self.nameKey) { $0.bind(name, at: 2) } }
            try connection.prepare("INSERT INTO owners (id, record_name) VALUES (0, ?1)").run(
                UserRecordName.publicOwner.text)
        }
        return true
    }

    /// Whether the file has had its first incarnation.
    func isMade() throws -> Bool { try value(Self.incarnationKey) { $0.int64(0) } != nil }

    /// Gives a new file the life and the keys of a store elsewhere, and a key of its own for names.
    ///
    /// In a transaction of the caller's.
    func take(
        incarnation: Int64, tokenKey: [UInt8], name: [UInt8], random: (Int) -> [UInt8]
    ) throws {
        try set(Self.incarnationKey) { $0.bind(incarnation, at: 2) }
        try set(Self.tokenKeyKey) { $0.bind(tokenKey, at: 2) }
        try set(Self.nameKey) { $0.bind(name, at: 2) }
        try set(Self.nameHashKey) { $0.bind(random(NameHash.keyBytes), at: 2) }
    }

    /// What the catalog knows the file by; nil for a file without a name.
    func name() throws -> [UInt8]? { try value(Self.nameKey) { [UInt8]($0.bytes(0)) } }

    /// What a file calls itself before anything is done to it; nil for one that has nothing yet.
    ///
    /// - Throws: `MigrationError` for a file that is not this version's, `SQLiteError`.
    static func name(in connection: Connection) throws -> [UInt8]? {
        _ = try Schemas.store.pendingCount(connection)
        let table = try connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'properties'")
        return try table.hasRow() ? StoreProperties(connection).name() : nil
    }

    /// What the file knows names by.
    ///
    /// - Parameter bits: how many bits of the hash are used.
    func nameHash(bits: Int) throws -> NameHash {
        let hash = try value(Self.nameHashKey) { NameHash(key: [UInt8]($0.bytes(0)), bits: bits) }
        guard let hash, let hash else { throw InvalidRow(table: "properties") }
        return hash
    }

    /// The life that the file has recorded last, and those before it.
    func identity() throws -> StoreIdentity {
        guard let incarnation = try value(Self.incarnationKey, { $0.int64(0) }),
            let tokenKey = try value(Self.tokenKeyKey, { [UInt8]($0.bytes(0)) })
        else { throw InvalidRow(table: "properties") }
        let rows = try connection.prepare(
            "SELECT number, last_position FROM incarnations ORDER BY last_position DESC")
        defer { rows.reset() }
        var earlier: [Int64: Position] = [:]
        var previous: Int64?
        while try rows.step() {
            previous = previous ?? rows.int64(0)
            earlier[rows.int64(0)] = rows.int64(1)
        }
        return StoreIdentity(
            incarnation: incarnation, previous: previous, earlier: earlier,
            last: try lastPosition(),
            tokenKey: tokenKey)
    }

    /// The last position that is in the file.
    func lastPosition() throws -> Position {
        let row = try connection.prepare("SELECT last_position FROM progress")
        defer { row.reset() }
        guard try row.step() else { throw InvalidRow(table: "progress") }
        return row.int64(0)
    }

    /// A life to follow the one that the file has recorded, and where its counter begins.
    ///
    /// - Parameter note: what stood beside the file when it was opened.
    func newLife(
        after identity: StoreIdentity, noted note: PositionNote.Content?,
        random: (Int) -> [UInt8]
    ) throws -> (life: NewLife, first: Position) {
        let last = try lastPosition()
        let further = randomNumber(bytes: 4, random) >> 10
        let life = NewLife(
            incarnation: Self.incarnation(random), previous: identity.incarnation,
            previousLast: last,
            lostThrough: try note.flatMap { try loss(noted: $0) })
        return (life, last + 1 + Self.lifeGap + further)
    }

    /// What a note tells of that the file does not have; nil when it has all.
    func loss(noted note: PositionNote.Content) throws -> Position? {
        let identity = try identity()
        let known =
            note.incarnation == identity.incarnation
            ? try lastPosition() : identity.earlier[note.incarnation]
        return known.map { note.position <= $0 } == true ? nil : note.position
    }

    /// Records a life with the first numbers that it gives out.
    ///
    /// In a transaction of the caller's.
    func begin(_ life: NewLife, at moment: Milliseconds) throws {
        try note(life, at: moment)
        try set(Self.incarnationKey) { $0.bind(life.incarnation, at: 2) }
        try connection.execute("UPDATE progress SET life_count = life_count + 1 WHERE id = 0")
    }

    private func note(_ life: NewLife, at moment: Milliseconds?) throws {
        let note = try connection.prepare(
            """
            INSERT OR REPLACE INTO incarnations (number, last_position, ended_at, lost_through)
            VALUES (?1, ?2, ?3, ?4)
            """)
        note.bind(life.previous, life.previousLast)
        if let moment { note.bind(moment, at: 3) } else { note.bindNull(at: 3) }
        if let lost = life.lostThrough { note.bind(lost, at: 4) } else { note.bindNull(at: 4) }
        try note.run()
        try connection.prepare(
            """
            DELETE FROM incarnations WHERE number IN (
                SELECT number FROM incarnations ORDER BY last_position DESC LIMIT -1 OFFSET ?1)
            """
        ).run(Self.incarnationsMax)
    }

    /// Opens a new incarnation in a restored file: later tokens of the previous one expire.
    func beginIncarnation(random: (Int) -> [UInt8]) throws {
        let identity = try identity()
        let last = try lastPosition()
        let life = NewLife(
            incarnation: Self.incarnation(random), previous: identity.incarnation,
            previousLast: last,
            lostThrough: nil)
        // Two lives from one copy must not give out the same numbers either.
        let further = randomNumber(bytes: 4, random) >> 2
        try connection.transaction {
            try note(life, at: nil)
            try set(Self.incarnationKey) { $0.bind(life.incarnation, at: 2) }
            try move(to: last + Self.restoredGap + further)
        }
    }

    /// Goes on where a store ended whose data is gone: its tokens are known, and have expired.
    ///
    /// In a transaction of the caller's.
    func succeed(_ previous: StoreProperties) throws {
        let identity = try previous.identity()
        try set(Self.tokenKeyKey) { $0.bind(identity.tokenKey, at: 2) }
        try move(to: try previous.lastPosition())
    }

    private func move(to position: Position) throws {
        try connection.prepare("UPDATE progress SET last_position = ?1 WHERE id = 0").run(position)
    }

    private static func incarnation(_ random: (Int) -> [UInt8]) -> Int64 {
        randomNumber(bytes: 7, random)
    }

    private func value<Value>(_ name: String, _ read: (Statement) -> Value) throws -> Value? {
        try connection.prepare("SELECT value FROM properties WHERE name = ?1").first(name) {
            read($0)
        }
    }

    private func set(_ name: String, _ bind: (Statement) -> Void) throws {
        let statement = try connection.prepare(
            "INSERT OR REPLACE INTO properties (name, value) VALUES (?1, ?2)")
        statement.bind(name, at: 1)
        bind(statement)
        try statement.run()
    }
}
