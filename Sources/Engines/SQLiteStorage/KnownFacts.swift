import CloudModel
import SQLite
import Storage
import StoredRows
import Synchronization

/// What reads ask for again and again and what seldom changes, as one connection has read it last.
///
/// The row `progress` says with each snapshot whether it has moved. The first connection to meet a new state reads it, and leaves it
/// for the store's other connections.
struct KnownFacts: Sendable {
    /// The schema, under a number that moves with it.
    struct KnownSchema: Sendable {
        let revision: Int64
        let schema: Schema
        /// When what is held is free.
        let heldUntil: Milliseconds
    }

    /// The store's lives, under their count.
    struct KnownLives: Sendable {
        let count: Int64
        let identity: StoreIdentity
    }

    fileprivate(set) var schema: KnownSchema?
    fileprivate(set) var lives: KnownLives?
}

/// The latest facts that any connection of a store has read.
final class SharedFacts: Sendable {
    /// What the store knows names by, as long as its file lives.
    let nameHash: NameHash
    let waitingNames: WaitingNames
    private let stored = Mutex(KnownFacts())
    let damage: Damage
    let positionCache: PositionCache

    init(
        _ nameHash: NameHash, _ waitingNames: WaitingNames, _ damage: Damage,
        _ positionCache: PositionCache
    ) {
        self.nameHash = nameHash
        self.waitingNames = waitingNames
        self.damage = damage
        self.positionCache = positionCache
    }

    fileprivate func schema(_ revision: Int64) -> KnownFacts.KnownSchema? {
        stored.withLock { $0.schema.flatMap { $0.revision == revision ? $0 : nil } }
    }

    fileprivate func lives(_ count: Int64) -> KnownFacts.KnownLives? {
        stored.withLock { $0.lives.flatMap { $0.count == count ? $0 : nil } }
    }

    fileprivate func keep(_ schema: KnownFacts.KnownSchema) {
        stored.withLock { facts in
            if schema.revision >= facts.schema?.revision ?? 0 { facts.schema = schema }
        }
    }

    fileprivate func keep(_ lives: KnownFacts.KnownLives) {
        stored.withLock { facts in
            if lives.count >= facts.lives?.count ?? 0 { facts.lives = lives }
        }
    }
}

/// Reads a store's facts in the snapshots of one connection.
final class FactReader {
    private let connection: Connection
    private let shared: SharedFacts
    private let progress: Statement
    private var known = KnownFacts()
    /// The row as it stood in the snapshots of one state.
    private var kept: (state: Int64, moved: Moved)?

    private typealias Moved = (schema: Int64, lives: Int64, last: Position, names: NameState)

    init(_ connection: Connection, _ shared: SharedFacts) throws {
        self.connection = connection
        self.shared = shared
        progress = try connection.prepare(
            """
            SELECT schema_revision, life_count, last_position, \(NameState.columns)
            FROM progress WHERE id = 0
            """)
    }

    private func moved() throws -> Moved {
        let state = try connection.stateNumber()
        if let kept, kept.state == state { return kept.moved }
        defer { progress.reset() }
        guard try progress.step() else { throw InvalidRow(table: "progress") }
        let moved = (
            progress.int64(0), progress.int64(1), progress.int64(2), NameState(progress, at: 3)
        )
        kept = state.map { ($0, moved) }
        return moved
    }

    /// The schema as the snapshot has it.
    func schema() throws -> KnownFacts.KnownSchema {
        let revision = try moved().schema
        if let schema = known.schema, schema.revision == revision { return schema }
        let found = try shared.schema(revision) ?? readSchema(revision)
        known.schema = found
        return found
    }

    /// How the snapshot finds names.
    func names() throws -> NameState { try moved().names }

    private func readSchema(_ revision: Int64) throws -> KnownFacts.KnownSchema {
        var schema = try StoredSchema.read(connection)
        let (parts, until) = try HeldParts(connection).read()
        schema.leaving = parts
        let read = KnownFacts.KnownSchema(revision: revision, schema: schema, heldUntil: until)
        shared.keep(read)
        return read
    }

    /// The life that the snapshot has, and those before it.
    func identity() throws -> StoreIdentity {
        let (_, count, last, _) = try moved()
        if let lives = known.lives, lives.count == count {
            return lives.identity.reaching(last)
        }
        let found = try shared.lives(count) ?? readLives(count)
        known.lives = found
        return found.identity.reaching(last)
    }

    private func readLives(_ count: Int64) throws -> KnownFacts.KnownLives {
        let read = KnownFacts.KnownLives(
            count: count, identity: try StoreProperties(connection).identity())
        shared.keep(read)
        return read
    }
}

extension StoreIdentity {
    /// The same life, further on.
    func reaching(_ last: Position) -> StoreIdentity {
        StoreIdentity(
            incarnation: incarnation, previous: previous, earlier: earlier, last: last,
            tokenKey: tokenKey)
    }

    /// The life that follows this one.
    func followed(by life: NewLife, last: Position) -> StoreIdentity {
        var earlier = earlier
        earlier[life.previous] = life.previousLast
        return StoreIdentity(
            incarnation: life.incarnation, previous: life.previous, earlier: earlier, last: last,
            tokenKey: tokenKey)
    }
}
