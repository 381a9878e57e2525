import CloudModel
import Storage

// Parents: where the steps decided so far put records, and where none may be put.
extension BatchPlan {
    /// Which saves must fail because of the place that their parent gives them, after all operations.
    func misplacedRecords() throws -> [Int: Fault] {
        var found: [Int: Fault] = [:]
        for (index, step) in steps.enumerated() {
            guard case .save(let save) = step, let parent = save.parent,
                case .operation(let operation) = operations[index]
            else { continue }
            do {
                try checkPlace(of: key(operation.name), below: key(parent), save)
            } catch let fault as Fault {
                found[index] = fault
            }
        }
        return found
    }

    private func checkPlace(
        of record: RecordKey, below parent: RecordKey, _ save: PlannedSave
    ) throws {
        if access != nil { try checkRight(toPut: record, below: parent) }
        let isNew = save.created == nil
        if isNew {
            // Nothing that is stored can lie below a new record.
            guard case .saved = states[parent] else { return }
        } else {
            guard save.formerParent != parent.name else { return }
        }
        try checkCircle(from: record, to: parent)
        guard !isNew, try keepsTrees() else { return }
        try checkOverlap(moving: record, below: parent)
    }

    private func checkCircle(from record: RecordKey, to parent: RecordKey) throws {
        var next: RecordKey? = parent
        for _ in 0..<database.limits.hierarchyDepthMax {
            guard let ancestor = next else { return }
            guard ancestor != record else {
                throw Fault.badRequest("parent: a record cannot lie below itself")
            }
            next = try parentAfterAll(of: ancestor)
        }
        throw Fault.badRequest(
            "parent: more than \(database.limits.hierarchyDepthMax) parents above the record "
                + "(limits.hierarchyDepthMax)")
    }

    private func checkOverlap(moving record: RecordKey, below parent: RecordKey) throws {
        guard let target = try shareAfterAll(over: parent),
            let head = try former(record).head, try storedShare(over: head.record) != target
        else { return }
        guard try transaction.share(ofRoot: head.record) == nil,
            try !holdsRoot(below: record)
        else {
            throw Fault.badRequest("parent: it would put one share inside another")
        }
    }

    /// The share that will cover a record: that of the nearest root above it or itself.
    ///
    /// - Throws: `Fault` BAD_REQUEST for a chain of parents that is too long.
    func shareAfterAll(over key: RecordKey) throws -> ShareNumber? {
        var next: RecordKey? = key
        for _ in 0..<database.limits.hierarchyDepthMax {
            guard let record = next else { return nil }
            if let head = try transaction.head(of: record.name, in: record.zone) {
                if let share = try transaction.share(ofRoot: head.record) { return share.number }
                if let share = try transaction.share(ofRecord: head.record) { return share.number }
            }
            next = try parentAfterAll(of: record)
        }
        throw Fault.badRequest(
            "parent: more than \(database.limits.hierarchyDepthMax) parents above the record "
                + "(limits.hierarchyDepthMax)")
    }

    /// Whether the root of a standing share will lie below a record.
    func holdsRoot(below key: RecordKey) throws -> Bool {
        for share in try transaction.shares(in: key.zone, limit: .max) {
            guard let root = share.root, let place = try transaction.place(of: root) else {
                continue
            }
            var next = try parentAfterAll(of: RecordKey(zone: place.zone, name: place.name))
            for _ in 0..<database.limits.hierarchyDepthMax {
                guard let ancestor = next else { break }
                if ancestor == key { return true }
                next = try parentAfterAll(of: ancestor)
            }
        }
        return false
    }

    /// The parent that a record will have.
    func parentAfterAll(of key: RecordKey) throws -> RecordKey? {
        switch states[key] {
        case .saved(let links):
            return links.first { $0.kind == .parent }
                .map { RecordKey(zone: $0.targetZone, name: $0.target) }
        case .deleted: return nil
        case nil:
            guard let head = try transaction.head(of: key.name, in: key.zone) else { return nil }
            return try transaction.parent(of: head.record)
                .map { RecordKey(zone: key.zone, name: $0) }
        }
    }

    private func storedShare(over record: RecordNumber) throws -> ShareNumber? {
        guard try transaction.isWhole(zone.number) else {
            return try Hierarchy(
                snapshot: transaction, zone: zone.number,
                depthMax: database.limits.hierarchyDepthMax
            ).share(over: record)
        }
        return try transaction.cover(of: record)?.share
    }

    private func keepsTrees() throws -> Bool {
        try transaction.shares(in: zone.number, limit: 1).contains { $0.root != nil }
    }
}
