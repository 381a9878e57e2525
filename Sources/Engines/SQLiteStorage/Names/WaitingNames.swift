import SQLite
import Storage
import StoredRows
import Synchronization

/// The names of a store that wait to be put in order: which records may be of a hash.
///
/// It only hints. What it gives is looked up in the asker's snapshot and compared with the name. So it may have more than
/// a snapshot, such as records that have gone, or that come with the current group. It never has less of the range that
/// it names: the writer adds a record before it commits it.
///
/// Readers on any thread share it with the writer, which alone changes it.
final class WaitingNames: Sendable {
    /// What is known of a hash.
    struct Hint {
        let records: NameChains.Candidates
        /// Where the range begins of which all records are known: behind this one.
        let after: Int64
        /// The last record of that range.
        let last: Int64
    }

    private struct State {
        var after: Int64
        var last: Int64
        var chains: NameChains
        /// How many entries there were before the writer's group, and before its job.
        var beforeGroup = 0
        var beforeJob = 0

        /// What is there now stays, whatever becomes of the group.
        mutating func settle() {
            beforeGroup = chains.entries.count
            beforeJob = beforeGroup
        }
    }

    private let state: Mutex<State>

    /// Knows the names that wait in a connection's snapshot.
    init(of connection: Connection, _ hash: NameHash) throws {
        let names = try NameState.read(connection)
        var chains = NameChains()
        try Self.add(to: &chains, behind: names.through, connection, hash)
        var made = State(
            after: names.through, last: max(names.through, names.last), chains: chains)
        made.settle()
        state = Mutex(made)
    }

    /// Adds what another program has written, as the writer's connection shows it.
    func catchUp(_ names: NameState, _ connection: Connection, _ hash: NameHash) throws {
        let last = max(names.through, names.last)
        let known = state.withLock { $0.last }
        guard known < last else { return }
        try change { try Self.add(to: &$0, behind: known, connection, hash) }
        state.withLock { state in
            state.last = last
            state.settle()
        }
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
    ///   - hash: of its name.
    ///   - record: the number that is free in the file.
    /// - Returns: the number that it is to have, which nobody has had since the store was opened.
    func take(_ hash: Int64, _ record: Int64) -> Int64 {
        let (number, isFull) = state.withLock { state in
            let number = max(record, state.last + 1)
            state.last = number
            state.chains.add(hash, number)
            return (number, state.chains.isFull)
        }
        if isFull { change { $0.makeRoom() } }
        return number
    }

    func groupBegins() { state.withLock { $0.settle() } }

    func jobBegins() { state.withLock { $0.beforeJob = $0.chains.entries.count } }

    /// Forgets what the job has taken in, but for its numbers.
    func undoJob() { state.withLock { $0.chains.keep($0.beforeJob) } }

    /// Forgets what the group has taken in, but for its numbers.
    func undoGroup() { state.withLock { $0.chains.keep($0.beforeGroup) } }

    /// Forgets the records up to one.
    func forget(through record: Int64) {
        // First: a reader between the two sees too little rather than too much.
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
        state.withLock { $0.chains.entries.count - $0.chains.index(behind: record) }
    }

    func entries(behind record: Int64) -> [NameChains.Entry] {
        let chains = state.withLock { $0.chains }
        return Array(chains.entries[chains.index(behind: record)...])
    }
}

/// How a snapshot finds names.
struct NameState {
    /// The names of records up to this one are in `names`.
    let through: Int64
    /// The last record.
    let last: Int64

    /// What `progress` says of it.
    static let columns = "names_through, (SELECT max(id) FROM heads)"

    /// - Parameter first: the first of the columns.
    init(_ row: Statement, at first: Int32) {
        through = row.int64(first)
        last = row.int64(first + 1)
    }

    static func read(_ connection: Connection) throws -> NameState {
        let row = try connection.prepare("SELECT \(columns) FROM progress WHERE id = 0")
        defer { row.reset() }
        guard try row.step() else { throw InvalidRow(table: "progress") }
        return NameState(row, at: 0)
    }
}
