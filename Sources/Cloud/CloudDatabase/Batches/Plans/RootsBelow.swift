import CloudModel
import Storage

/// Finds roots of shared trees below a record, as a view of the batch leaves them.
///
/// Goes downwards from the record; where more lies there than a batch looks at, upwards from all roots of the zone. Each
/// level is read at once, and no record is looked at twice.
struct RootsBelow {
    let context: BatchContext
    let view: BatchView
    let tree: PlannedTree

    /// How far down it looks: each level is a question, and a long way is mostly shorter upwards.
    private static let levelsMax = 32

    /// Nil where there is none.
    ///
    /// - Throws: `Fault` BAD_REQUEST when the ways up are longer than allowed.
    func first(below record: RecordKey) throws -> RecordKey? {
        var level = [
            Descendant(key: record, record: nil, isStored: try context.previous(record).isAlive)
        ]
        var seen: Set<RecordKey> = [record]
        var levels = 0
        while !level.isEmpty {
            levels += 1
            let most = context.limits.descendantsReadMax - seen.count + 1
            guard levels <= Self.levelsMax, let children = try children(of: level, most: most)
            else { return try firstUpwards(to: record) }
            level = children.filter { seen.insert($0.key).inserted }
            if let root = try level.first(where: isRootOfBatch) { return root.key }
            if let root = try firstStored(of: level) { return root }
        }
        return nil
    }

    // MARK: - Downwards

    private struct Descendant {
        let key: RecordKey
        /// Nil where the batch saves it.
        let record: RecordNumber?
        /// Whether others may be stored below it: not so below what is not there, or not to be seen.
        let isStored: Bool
    }

    /// The children of a level; nil where those that are stored are more than `most`.
    private func children(of level: [Descendant], most: Int) throws -> [Descendant]? {
        let stored = try context.children(
            of: level.filter(\.isStored).map(\.key.name), most: max(0, most))
        guard let stored else { return nil }
        var found: [Descendant] = []
        for source in stored {
            let key = context.key(source.name)
            guard view.record(key) == nil else { continue }
            found.append(Descendant(key: key, record: source.record, isStored: true))
        }
        for parent in level {
            try context.takeStep()
            for (child, _) in view.sources(of: parent.key, kinds: .parent ... .parent) {
                let isStored = try context.previous(child).isAlive
                found.append(Descendant(key: child, record: nil, isStored: isStored))
            }
        }
        return found
    }

    /// Whether the batch has a share begin there, or saves the record of one that stands.
    private func isRootOfBatch(_ descendant: Descendant) throws -> Bool {
        try tree.taken[descendant.key] != nil
            || descendant.record == nil && tree.isRoot(descendant.key)
    }

    private func firstStored(of level: [Descendant]) throws -> RecordKey? {
        let stored = level.compactMap { descendant in
            descendant.record.map { (descendant.key, $0) }
        }
        guard !stored.isEmpty else { return nil }
        let shares = try context.stored.shares(.roots(stored.map(\.1)))
        _ = try context.locationsOfShares(shares.compactMap { $0?.record })
        for ((key, _), share) in zip(stored, shares) {
            if let share, try !tree.ends(share) { return key }
        }
        return nil
    }

    // MARK: - Upwards

    private struct Ancestor {
        let key: RecordKey
        /// Nil where it is not known yet.
        let record: RecordNumber?
        /// A root below it, or itself.
        let root: RecordKey
    }

    private func firstUpwards(to record: RecordKey) throws -> RecordKey? {
        var level = try roots().filter { $0.key != record }
        var seen = Set(level.map(\.key))
        var levels = 0
        while !level.isEmpty {
            levels += 1
            let most = context.limits.hierarchyDepthMax
            guard levels <= most else { throw PlannedTree.tooDeep(most) }
            context.lookedAtBelow.records.formUnion(level.map(\.key))
            var next: [Ancestor] = []
            for (ancestor, parent) in zip(level, try parents(of: level)) {
                try context.takeStep()
                guard let parent else { continue }
                if parent == record { return ancestor.root }
                guard seen.insert(parent).inserted else { continue }
                next.append(Ancestor(key: parent, record: nil, root: ancestor.root))
            }
            level = next
        }
        return nil
    }

    private func roots() throws -> [Ancestor] {
        let records = try tree.activeShares().compactMap(\.root)
        let stored = zip(records, try context.locationsOfShares(records)).compactMap {
            record, location in
            location.map { location in
                let key = RecordKey(zone: location.zone, name: location.name)
                return Ancestor(key: key, record: record, root: key)
            }
        }
        return tree.taken.keys.map { Ancestor(key: $0, record: nil, root: $0) } + stored
    }

    /// The parents of a level, in its order.
    private func parents(of level: [Ancestor]) throws -> [RecordKey?] {
        var found = [RecordKey?](repeating: nil, count: level.count)
        var stored: [Int] = []
        // What a participant does not see stays as it is, whatever they send.
        for (index, ancestor) in level.enumerated() where !context.unseen.contains(ancestor.key) {
            switch view.record(ancestor.key) {
            case .deleted: break
            case .saved(let links):
                found[index] = links.first { $0.kind == .parent }?.targetKey
            case nil: stored.append(index)
            }
        }
        let unknown = stored.filter { level[$0].record == nil }
        var records = level.map(\.record)
        if !unknown.isEmpty {
            let names = unknown.map { level[$0].key.name }
            let heads = try context.stored.heads(of: names, in: context.zone.number)
            for (index, head) in zip(unknown, heads) { records[index] = head?.record }
        }
        let there = stored.filter { records[$0] != nil }
        guard !there.isEmpty else { return found }
        let parents = try context.stored.parents(of: there.compactMap { records[$0] })
        for (index, parent) in zip(there, parents) { found[index] = parent.map(context.key) }
        return found
    }
}
