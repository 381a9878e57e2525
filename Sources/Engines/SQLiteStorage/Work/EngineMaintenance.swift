import Storage
import StoredRows

// What the engine leaves for itself.
extension Maintenance {
    /// Fills and empties indexes, and puts their entries in order.
    ///
    /// Somebody waits for an index that is made, and each step costs them a commit: so the first one is large.
    static let index = Maintenance("index", isBeside: false, step: 64...4_096, firstStep: 512)
    /// Puts in order by what records are found by their names.
    static let names = Maintenance("names", isBeside: false, step: 256...4_096, firstStep: 256)
    /// Writes entries of indexes that writes have left for later.
    static let lateEntries = Maintenance(
        "lateEntries", isBeside: true, step: 1...1, firstStep: 1)

    /// Gives pages that hold nothing back to the file system.
    ///
    /// What a step moves goes through the log, and a commit waits for it: so no step is large.
    static let space = Maintenance("space", isBeside: false, step: 4...128, firstStep: 16)
}

extension SQLiteSnapshot {
    static let workNumbers = WorkNumbers([
        (3, .index), (7, .names), (9, .lateEntries), (10, .space),
    ])
}

extension Maintenance {
    static func ~= (pattern: Maintenance, value: Maintenance) -> Bool { pattern == value }
}

extension SQLiteStore {
    /// One process has the file to itself.
    package func hold(_ duty: StoreDuty) throws -> StoreLease? { .sole }
}

extension SQLiteTransaction {
    func maintain(_ maintenance: Maintenance, step: Int) throws -> Bool {
        switch maintenance {
        case .index: try workOnIndexes(recordsMax: step)
        case .names: try nameWriter().step(namesMax: step)
        case .space: try giveBackPages(step)
        default: false
        }
    }
}
