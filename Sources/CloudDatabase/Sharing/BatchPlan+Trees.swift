import CloudModel
import Storage

// What the shares of a zone must be to each other, after all operations (rulings.md 34 and 38).
extension BatchPlan {
    /// The shares that this batch begins, by the operations that begin them.
    var beginnings: [(index: Int, record: RecordName, beginning: PlannedShare.Beginning)] {
        steps.indices.compactMap { index in
            guard case .save(let save) = steps[index], let beginning = save.share?.beginning,
                case .operation(let operation) = operations[index]
            else { return nil }
            return (index, operation.name, beginning)
        }
    }

    /// Which operations must fail because of shares that the batch begins, or trees that it moves.
    func brokenShares() throws -> [Int: Fault] {
        var found: [Int: Fault] = [:]
        let beginnings = beginnings
        var taken: [RecordKey: RecordName] = [:]
        var hasZoneShare = false
        for (index, record, beginning) in beginnings {
            do {
                switch beginning {
                case .zone:
                    try checkZoneShare(taken)
                    hasZoneShare = true
                case .tree(let root, let tag):
                    try checkRoot(root, tag: tag)
                    guard taken[root] == nil else { throw Self.sharedTwice }
                    guard !hasZoneShare else { throw Self.besideZoneShare }
                    try checkTree(at: root, taken)
                    taken[root] = record
                }
            } catch let fault as Fault {
                found[index] = fault
            }
        }
        guard found.isEmpty else { return found }
        for (index, step) in steps.enumerated() {
            guard case .save(let save) = step, case .operation(let operation) = operations[index]
            else { continue }
            do {
                try checkMove(of: key(operation.name), save, taken)
            } catch let fault as Fault {
                found[index] = fault
            }
        }
        return found
    }

    // MARK: - New shares

    private static let sharedTwice = Fault.badRequest(
        "forRecord: another operation of the batch shares the same record", detail: .alreadyShared)
    private static let besideZoneShare = Fault.badRequest(
        "Cannot share: the zone is shared as a whole", detail: .alreadyShared)

    private func checkZoneShare(_ taken: [RecordKey: RecordName]) throws {
        guard taken.isEmpty, try standingShares().isEmpty else {
            throw Fault.badRequest(
                "Cannot share the zone: records of it are shared already", detail: .alreadyShared)
        }
    }

    private func checkRoot(_ root: RecordKey, tag: String?) throws {
        let former = try former(root)
        let isThere: Bool
        switch states[root] {
        case .saved: isThere = true
        case .deleted: isThere = false
        case nil: isThere = former.isAlive
        }
        guard isThere else { throw Self.nothingToShare("'\(root.name.text)' is not there") }
        guard former.isAlive else {
            guard tag == nil else {
                throw Fault(.conflict, "forRecord: the record is new and has no tag yet")
            }
            return
        }
        guard !former.flags.contains(.share) else {
            throw Self.nothingToShare("'\(root.name.text)' is a share itself")
        }
        guard let tag else {
            throw Fault.badRequest("forRecord: missing required field 'recordChangeTag'")
        }
        guard tag == former.changeTag else {
            throw try conflict("client oplock error updating record", root)
        }
        if former.flags.contains(.root), let head = former.head,
            let share = try transaction.share(ofRoot: head.record), try !ends(share)
        {
            var fault = try conflict("the record is shared already", root)
            fault.detail = .alreadyShared
            throw fault
        }
    }

    /// Refuses a tree that would lie in another shared one, or hold one.
    private func checkTree(at root: RecordKey, _ taken: [RecordKey: RecordName]) throws {
        if try !transaction.shares(in: zone.number, limit: 1).isEmpty,
            states[key(.zoneShare)] == nil, try former(key(.zoneShare)).isAlive
        {
            throw Self.besideZoneShare
        }
        var other: RecordKey?
        try climb(from: root) { ancestor in
            if try ancestor != root && isRoot(ancestor, taken) { other = ancestor }
            return other == nil
        }
        if let other { throw Self.overlapping(other, "above") }
        if let other = try rootBelow(root, taken) { throw Self.overlapping(other, "below") }
    }

    /// Only the owner makes shares, so that nobody else learns of the other one.
    private static func overlapping(_ other: RecordKey, _ place: String) -> Fault {
        .badRequest(
            "Cannot share: record '\(other.name.text)' \(place) it is shared already",
            detail: .alreadyShared)
    }

    // MARK: - Moves

    /// Refuses to move a tree that holds a root into a shared one, and a record below itself.
    private func checkMove(
        of record: RecordKey, _ save: PlannedSave, _ taken: [RecordKey: RecordName]
    ) throws {
        guard let parent = save.parent else { return }
        let former = try former(record)
        let before = try former.head.flatMap { try transaction.parent(of: $0.record) }
        let isMoved = former.isAlive && before != parent
        // Nothing lies below a new record but what the batch puts there.
        guard isMoved || !former.isAlive && sourcesPlanned[record] != nil else { return }
        var entersTree = false
        let end = try climb(from: record) { ancestor in
            guard try ancestor != record && isRoot(ancestor, taken) else { return true }
            entersTree = true
            // What lies above a root is as much out of a participant's sight as such a record.
            return !unseen.contains(record)
        }
        guard end != record else {
            throw Fault.badRequest("parent: '\(parent.text)' lies below the record itself")
        }
        guard isMoved, entersTree else { return }
        if try isRoot(record, taken) || rootBelow(record, taken) != nil { throw Self.nested }
    }

    private static let nested = Fault.badRequest(
        "parent: shared trees cannot lie in each other")

    // MARK: - The hierarchy after all operations

    /// Goes from a record to its parent, and on, until the closure answers false.
    ///
    /// - Returns: the record that the way came to a second time; nil when it ended.
    /// - Throws: `Fault` BAD_REQUEST for a way that is longer than may be gone.
    @discardableResult
    private func climb(
        from record: RecordKey, _ visit: (RecordKey) throws -> Bool
    ) throws -> RecordKey? {
        var seen: Set<RecordKey> = []
        var next: RecordKey? = record
        while let current = next {
            guard seen.insert(current).inserted else { return current }
            guard seen.count <= database.limits.hierarchyDepthMax else {
                throw Fault.limitExceeded(
                    "parent: the record or a shared one would have more than "
                        + "\(database.limits.hierarchyDepthMax) parents above it "
                        + "(limits.hierarchyDepthMax)")
            }
            guard try visit(current) else { return nil }
            next = try parent(of: current)
        }
        return nil
    }

    /// The share that will cover a record of a zone with standing shares.
    func shareAfterAll(over record: RecordKey) throws -> ShareNumber? {
        var found: ShareNumber?
        try climb(from: record) { ancestor in
            guard !unseen.contains(ancestor),
                let head = try transaction.head(of: ancestor.name, in: ancestor.zone)
            else { return true }
            found =
                try transaction.share(ofRoot: head.record)?.number
                ?? transaction.share(ofRecord: head.record)?.number
            return found == nil
        }
        return found
    }

    /// Whether one shared tree holds both of two records, or none holds either.
    func inOneTree(_ one: RecordKey, _ other: RecordKey) throws -> Bool {
        guard try !transaction.shares(in: one.zone, limit: 1).isEmpty else { return true }
        return try sharedRoot(over: one) == sharedRoot(over: other)
    }

    /// The root of the shared tree that a record is in; nil too where that would take too long to find.
    private func sharedRoot(over record: RecordKey) throws -> RecordKey? {
        var found: RecordKey?
        do {
            try climb(from: record) { ancestor in
                if try isRoot(ancestor, [:]) { found = ancestor }
                return found == nil
            }
        } catch is Fault { return nil }
        return found
    }

    private func parent(of record: RecordKey) throws -> RecordKey? {
        switch states[record] {
        case .deleted: return nil
        case .saved(let links):
            guard let link = links.first(where: { $0.kind == .parent }) else { return nil }
            return RecordKey(zone: link.targetZone, name: link.target)
        case nil:
            guard let head = try former(record).head,
                let name = try transaction.parent(of: head.record)
            else { return nil }
            return RecordKey(zone: record.zone, name: name)
        }
    }

    /// Whether a record is the root of a shared tree once all is done.
    private func isRoot(_ record: RecordKey, _ taken: [RecordKey: RecordName]) throws -> Bool {
        if taken[record] != nil { return true }
        if case .deleted = states[record] { return false }
        let former = try former(record)
        guard former.isAlive, former.flags.contains(.root), let head = former.head,
            let share = try transaction.share(ofRoot: head.record)
        else { return false }
        return try !ends(share)
    }

    /// A root that lies below a record.
    private func rootBelow(
        _ record: RecordKey, _ taken: [RecordKey: RecordName]
    ) throws -> RecordKey? {
        var roots = Array(taken.keys)
        for share in try standingShares() {
            guard let root = share.root, let place = try transaction.place(of: root) else {
                continue
            }
            roots.append(RecordKey(zone: place.zone, name: place.name))
        }
        for root in roots where root != record {
            var found = false
            try climb(from: root) { ancestor in
                found = ancestor == record
                return !found
            }
            if found { return root }
        }
        return nil
    }

    private func standingShares() throws -> [StoredShare] {
        try transaction.shares(in: zone.number, limit: .max).filter { try !ends($0) }
    }

    /// Whether the batch ends a standing share.
    private func ends(_ share: StoredShare) throws -> Bool {
        guard let place = try transaction.place(of: share.record),
            case .deleted = states[RecordKey(zone: place.zone, name: place.name)]
        else { return false }
        return true
    }
}
