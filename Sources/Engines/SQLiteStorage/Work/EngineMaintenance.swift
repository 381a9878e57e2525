import Storage

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

    static let all = [index, names, lateEntries, space]
}

extension WorkKind {
    /// All kinds of which there may be work in a store.
    static let stored: [WorkKind] =
        [.cover, .deleteSources, .collect, .collectAssets, .tellRequests]
        + Maintenance.all.map { .maintenance($0) }

    /// The kind in a row of the queue; nil for work that this engine does not know.
    var number: Int64? {
        switch self {
        case .cover: 1
        case .deleteSources: 2
        case .maintenance(.index): 3
        case .collect: 4
        case .collectAssets: 5
        case .tellRequests: 6
        case .maintenance(.names): 7
        case .maintenance(.lateEntries): 9
        case .maintenance(.space): 10
        case .maintenance: nil
        }
    }
}

extension Maintenance {
    static func ~= (pattern: Maintenance, value: Maintenance) -> Bool { pattern == value }
}

extension SQLiteStore {
    package var maintenance: [Maintenance] { Maintenance.all }

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
