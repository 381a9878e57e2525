import CloudModel
import Storage

/// The tree of a zone's records as a view of the batch leaves it.
struct PlannedTree {
    private let context: BatchContext
    private let view: BatchView
    /// The records at which new shares of the batch begin.
    let taken: [RecordKey: RecordName]

    init(
        _ context: BatchContext, _ view: BatchView, taken: [RecordKey: RecordName] = [:]
    ) {
        self.context = context
        self.view = view
        self.taken = taken
    }

    func isAlive(_ key: RecordKey) throws -> Bool {
        switch view.record(key) {
        case .saved: true
        case .deleted: false
        case nil: try context.previous(key).isAlive
        }
    }

    /// Goes from a record to its parent, and on, until the closure returns false.
    ///
    /// - Returns: the record that the way reached a second time, if parents form a circle; nil when the way
    ///   ended.
    /// - Throws: `Fault` BAD_REQUEST when the way is longer than allowed.
    @discardableResult
    func climb(
        from record: RecordKey, _ visit: (RecordKey) throws -> Bool
    ) throws -> RecordKey? {
        let most = context.limits.hierarchyDepthMax
        var seen: Set<RecordKey> = []
        var next: RecordKey? = record
        while let current = next {
            guard seen.insert(current).inserted else { return current }
            guard seen.count <= most else { throw Self.tooDeep(most) }
            try context.takeStep()
            guard try visit(current) else { return nil }
            next = try parent(of: current)
        }
        return nil
    }

    static func tooDeep(_ most: Int) -> Fault {
        .limitExceeded(
            "parent: the record or a shared one would have more than \(most) parents above it")
    }

    private func parent(of record: RecordKey) throws -> RecordKey? {
        switch view.record(record) {
        case .deleted: return nil
        case .saved(let links): return links.first { $0.kind == .parent }?.targetKey
        case nil:
            guard let head = try context.previous(record).head,
                let name = try context.parent(of: head.record)
            else { return nil }
            return RecordKey(zone: record.zone, name: name)
        }
    }

    // MARK: - Shares

    /// The share that will cover a record of a zone that has standing shares.
    func share(over record: RecordKey) throws -> ShareNumber? {
        var found: ShareNumber?
        try climb(from: record) { ancestor in
            guard !context.unseen.contains(ancestor),
                let head = try context.previous(ancestor).head
            else { return true }
            found = try context.ownShare(of: head.record)
            return found == nil
        }
        return found
    }

    /// Whether one shared tree holds both records, or no shared tree holds either.
    func holdsOrLacksBoth(_ one: RecordKey, _ other: RecordKey) throws -> Bool {
        guard try context.hasShares(one.zone) else { return true }
        return try sharedRoot(over: one) == sharedRoot(over: other)
    }

    /// The root of the shared tree that holds a record; nil also when it would take too long to find.
    private func sharedRoot(over record: RecordKey) throws -> RecordKey? {
        var found: RecordKey?
        do {
            try climb(from: record) { ancestor in
                if try isRoot(ancestor) { found = ancestor }
                return found == nil
            }
        } catch is Fault { return nil }
        return found
    }

    /// Whether a record is the root of a shared tree once the batch is done.
    func isRoot(_ record: RecordKey) throws -> Bool {
        if taken[record] != nil { return true }
        if view.isDeleted(record) { return false }
        let previous = try context.previous(record)
        guard previous.isAlive, previous.flags.contains(.root), let head = previous.head,
            let share = try context.share(ofRoot: head.record)
        else { return false }
        return try !ends(share)
    }

    /// A root that lies below a record.
    func root(below record: RecordKey) throws -> RecordKey? {
        guard try !taken.isEmpty || context.hasShares(record.zone) else { return nil }
        return try RootsBelow(context: context, view: view, tree: self).first(below: record)
    }

    func activeShares() throws -> [StoredShare] {
        let shares = try context.shares
        _ = try context.locationsOfShares(shares.map(\.record))
        return try shares.filter { try !ends($0) }
    }

    /// Whether the batch ends a standing share.
    func ends(_ share: StoredShare) throws -> Bool {
        guard let location = try context.location(of: share) else { return false }
        return view.isDeleted(RecordKey(zone: location.zone, name: location.name))
    }
}
