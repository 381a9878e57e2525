import SQLite

/// What the snapshots of one connection have found lately, kept until somebody commits.
///
/// It keeps nothing where the connection writes. Confined, as its connection, to one thread at a time.
struct UnchangedValues<Key: Equatable, Value> {
    private let countMax: Int
    /// Of which all values are.
    private var state: Int64?
    private var values: [(key: Key, value: Value)] = []
    /// Whose place the next one takes when there are too many.
    private var next = 0

    /// - Parameter countMax: how many values are kept, which are searched one by one.
    init(countMax: Int) { self.countMax = countMax }

    /// The value as the connection's snapshot has it.
    ///
    /// - Parameter find: reads it where it is not known; nil when there is none, which is not kept.
    mutating func value(
        _ key: Key, on connection: Connection, find: () throws -> Value?
    ) throws -> Value? {
        guard let current = try connection.stateNumber() else { return try find() }
        if current != state {
            values.removeAll(keepingCapacity: true)
            state = current
        }
        if let index = values.firstIndex(where: { $0.key == key }) { return values[index].value }
        guard let found = try find() else { return nil }
        if values.count < countMax {
            values.append((key, found))
        } else {
            values[next] = (key, found)
            next = (next + 1) % countMax
        }
        return found
    }
}
