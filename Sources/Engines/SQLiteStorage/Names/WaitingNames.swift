import SQLite
import Storage
import Synchronization

/// The names of a store that wait to be put in order: which records may be of a hash.
///
/// It only hints. What it gives is looked up in the asker's snapshot and compared with the name. So it may have more than
/// a snapshot, such as records that have gone, or that never came since their write was undone. It never has less
/// of the range that it names: the writer adds a record before it commits it.
///
/// Readers on any thread share it with the writer, which alone changes it.
final class WaitingNames: Sendable {
    /// What is known of a hash.
    struct Hint {
        let records: NameChains.Found
        /// Where the range begins of which all records are known: behind this one.
        let after: Int64
        /// The last record of that range.
        let last: Int64
    }

    private struct State {
        var after: Int64 = 0
        var last: Int64 = 0
        var chains = NameChains()
    }

    private let state = Mutex(State())

    /// Knows the names that wait in a connection's snapshot.
    init(of connection: Connection, _ hash: NameHash) throws {
        let names = try NameState.read(connection)
        try begin(names, connection, hash)
    }

    /// Knows the names that wait in a file of a version that had a table of them.
    init(ofFormer connection: Connection, _ names: NameState) throws {
        let rows = try connection.prepare("SELECT hash, record FROM new_names ORDER BY record")
        defer { rows.reset() }
        var chains = NameChains()
        while try rows.step() { chains.add(rows.int64(0), rows.int64(1)) }
        let made = State(after: names.through, last: names.last, chains: chains)
        state.withLock { $0 = made }
    }

    /// Begins anew with what waits in a connection's snapshot.
    ///
    /// While names are found by their text, nobody asks for it.
    func begin(_ names: NameState, _ connection: Connection, _ hash: NameHash) throws {
        let after = names.isByText ? names.last : names.through
        var chains = NameChains()
        try Self.add(to: &chains, behind: after, connection, hash)
        let made = State(after: after, last: max(after, names.last), chains: chains)
        state.withLock { state in
            let given = state.last
            state = made
            state.last = max(given, made.last)
        }
    }

    /// Adds what another program has written, as the writer's connection shows it.
    func catchUp(_ names: NameState, _ connection: Connection, _ hash: NameHash) throws {
        let last = max(names.through, names.last)
        let known = state.withLock { $0.last }
        guard known < last else { return }
        try change { try Self.add(to: &$0, behind: known, connection, hash) }
        state.withLock { $0.last = last }
    }

    private static func add(
        to chains: inout NameChains, behind record: Int64, _ connection: Connection,
        _ hash: NameHash
    ) throws {
        let heads = try connection.prepare(
            "SELECT id, zone, name FROM heads WHERE id > ?1 ORDER BY id")
        defer { heads.reset() }
        heads.bind(record, at: 1)
        while try heads.step() {
            chains.add(hash(heads.bytes(2), in: ZoneNumber(heads.int64(1))), heads.int64(0))
        }
    }

    /// What is known of a hash.
    ///
    /// To be asked within a snapshot, after its first read: then all that it has in the range is known.
    func hint(of hash: Int64) -> Hint {
        state.withLock {
            Hint(records: $0.chains.records(of: hash), after: $0.after, last: $0.last)
        }
    }

    /// Takes a record in.
    ///
    /// - Parameters:
    ///   - hash: of its name; nil where names are found by their text.
    ///   - record: the number that is free in the file.
    /// - Returns: the number that it is to have, which nobody has had since the store was opened.
    func take(_ hash: Int64?, _ record: Int64) -> Int64 {
        let (number, isFull) = state.withLock { state in
            let number = max(record, state.last + 1)
            state.last = number
            if let hash { state.chains.add(hash, number) }
            return (number, state.chains.isFull)
        }
        if isFull { change { $0.makeRoom() } }
        return number
    }

    /// Forgets the records up to one.
    func forget(through record: Int64) {
        // First: who reads between the two is told less than there is.
        state.withLock { $0.after = max($0.after, record) }
        change { $0 = $0.behind(record) }
    }

    /// Changes the chains while others go on reading; they wait for an exchange alone.
    private func change(_ body: (inout NameChains) throws -> Void) rethrows {
        var chains = state.withLock { $0.chains }
        try body(&chains)
        state.withLock { $0.chains = chains }
    }

    func count(behind record: Int64) -> Int {
        state.withLock { $0.chains.entries.count - $0.chains.place(behind: record) }
    }

    func entries(behind record: Int64) -> [NameChains.Entry] {
        let chains = state.withLock { $0.chains }
        return Array(chains.entries[chains.place(behind: record)...])
    }
}

/// How a snapshot finds names.
struct NameState {
    /// Whether all of them are found by an index of their text, as before hashes.
    let isByText: Bool
    /// The names of records up to this one are in `names`.
    let through: Int64
    /// The last record.
    let last: Int64

    /// What `progress` says of it.
    static let columns = "names_by_text, names_through, (SELECT max(id) FROM heads)"

    /// - Parameter first: the first of the columns.
    init(_ row: Statement, at first: Int32) {
        isByText = row.int64(first) != 0
        through = row.int64(first + 1)
        last = row.int64(first + 2)
    }

    static func read(_ connection: Connection) throws -> NameState {
        let row = try connection.prepare("SELECT \(columns) FROM progress WHERE id = 0")
        defer { row.reset() }
        guard try row.step() else { throw InvalidRow(table: "progress") }
        return NameState(row, at: 0)
    }

    /// As versions with a table of names that wait have put it: `names_through` is NULL once all names are found by hashes.
    static func readFormer(_ connection: Connection) throws -> NameState {
        let row = try connection.prepare(
            """
            SELECT names_through IS NOT NULL, coalesce(names_through, last), last
            FROM progress, (SELECT coalesce(max(id), 0) AS last FROM heads) WHERE progress.id = 0
            """)
        defer { row.reset() }
        guard try row.step() else { throw InvalidRow(table: "progress") }
        return NameState(row, at: 0)
    }
}
