import CloudModel
import Storage

// What a participant may do in a zone that another user shares with him (rulings.md 38): change and
// delete what he sees by his permission, make records below what he may write. What he does not see is
// not there for him.
extension BatchPlan {
    /// Refuses an operation on a stored record that the participant may not see or change.
    func checkRight(_ operation: RecordOperation, on former: FormerRecord) throws {
        guard let access, let record = former.head?.record else { return }
        let isShare = former.flags.contains(.share)
        // Who leaves a share deletes its record, also when he has left before.
        if isShare, operation.kind.deletes, try hasTakenPart(record) { return }
        switch try access.permission(on: record) {
        case nil, .some(.none): throw Fault.recordNotFound
        // Who changes a share is no question of what he may do with records.
        case .readOnly where isShare: return
        case .readOnly: throw Self.noRight("WRITE operation not permitted")
        case .readWrite: break
        }
        if operation.kind.deletes, try !access.mayRemove(record) {
            throw Self.noRight("DELETE operation not permitted: only the owner deletes a root")
        }
    }

    /// Whether a record is not there for the participant who would save or delete it.
    func isOutOfSight(_ former: FormerRecord, _ operation: RecordOperation) throws -> Bool {
        guard let access, former.isAlive, let record = former.head?.record else { return false }
        let isShare = former.flags.contains(.share)
        if isShare, operation.kind.deletes, try hasTakenPart(record) { return false }
        return try !access.sees(record)
    }

    /// The parent of a participant's save: that of a root is none of his business and stays.
    func participantParent(
        _ parent: RecordName?, of operation: RecordOperation, over former: FormerRecord?,
        kept: RecordName?
    ) throws -> RecordName? {
        guard let access else { return parent }
        if let whole = access.wholeZone {
            guard former != nil || whole.permission == .readWrite else {
                throw Self.noRight("CREATE operation not permitted")
            }
            return parent
        }
        if former?.flags.contains(.share) == true { return nil }
        if let record = former?.head?.record, try access.isRoot(record) {
            if case .set = operation.parent {
                throw Self.noRight("WRITE operation not permitted: only the owner moves a root")
            }
            return kept
        }
        guard let parent else {
            throw Self.noRight(
                "CREATE operation not permitted: a record of a shared tree needs a parent in it")
        }
        return parent
    }

    /// Which saves must fail because a participant may not put the record where it would be.
    func misplacedRecords() throws -> [Int: Fault] {
        guard let access, access.wholeZone == nil else { return [:] }
        var found: [Int: Fault] = [:]
        for (index, step) in steps.enumerated() {
            // A record that the batch takes away again is put nowhere.
            guard case .save(let save) = step, let parent = save.parent,
                case .operation(let operation) = operations[index],
                try isAliveAfterAll(key(operation.name))
            else { continue }
            do {
                try checkRight(toPut: key(operation.name), below: key(parent))
            } catch let fault as Fault {
                found[index] = fault
            }
        }
        return found
    }

    /// Refuses a place outside of what the participant may write.
    private func checkRight(toPut record: RecordKey, below parent: RecordKey) throws {
        guard let access, access.wholeZone == nil else { return }
        if let head = try former(record).head, try former(record).isAlive,
            try access.isRoot(head.record)
        {
            return
        }
        guard let share = try shareAfterAll(over: parent), let grant = try access.grant(of: share)
        else { throw Self.missing(parent.name) }
        guard grant.permission == .readWrite else {
            throw Self.noRight("CREATE operation not permitted")
        }
    }

    /// Whether a reference may act on a zone: a participant is told of no zone but this one, and keeps
    /// what others have put into a record.
    func mayReach(
        _ name: RecordName, in number: ZoneNumber, _ kind: LinkKind, from former: FormerRecord?
    ) throws -> Bool {
        guard access != nil, number != zone.number else { return true }
        guard let record = former?.head?.record else { return false }
        return try transaction.hasLink(
            Link(targetZone: number, target: name, kind: kind), from: record)
    }

    /// Whether a DELETE_SELF reference is a participant's: by it he must not find out what becomes of a
    /// record that he cannot see, nor whether there is one.
    ///
    /// It stays one when the owner saves the record again, as the owner's own stays his.
    func actsInTree(
        _ name: RecordName, in number: ZoneNumber, from former: FormerRecord?
    ) throws -> Bool {
        let isParticipants = access != nil
        guard let former, former.flags.contains(.hasLinks), let record = former.head?.record else {
            return isParticipants
        }
        let others = Link(
            targetZone: number, target: name,
            kind: isParticipants ? .deleteSelf : .deleteSelfInTree)
        return try transaction.hasLink(others, from: record) ? !isParticipants : isParticipants
    }

    /// Whether a record may be named as one that must exist: for a participant only what he sees is
    /// there, and what the record named before.
    func isInSight(_ key: RecordKey, of source: FormerRecord) throws -> Bool {
        guard let access else { return true }
        if let record = source.head?.record,
            try transaction.hasLink(
                Link(targetZone: key.zone, target: key.name, kind: .validate), from: record)
        {
            return true
        }
        guard key.zone == zone.number else { return false }
        if case .saved = states[key] { return true }
        guard let head = try transaction.head(of: key.name, in: key.zone) else { return false }
        return try access.sees(head.record)
    }

    /// Whether a deletion takes a source along: of what a participant may not remove, the reference
    /// stays and leads nowhere.
    func goesAlong(_ key: RecordKey) throws -> Bool {
        guard let access else { return true }
        guard key.zone == zone.number, !unseen.contains(key) else { return false }
        guard let head = try transaction.head(of: key.name, in: key.zone),
            try former(key).isAlive
        else { return true }
        return try access.permission(on: head.record) == .readWrite
            && access.mayRemove(head.record)
    }

    private static func noRight(_ reason: String) -> Fault { Fault(.accessDenied, reason) }
}
