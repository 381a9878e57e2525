import CloudModel
import Storage

// What a participant may do in a zone that another user shares with him (rulings.md 38): change and
// delete what he sees by his permission, make records below what he may write. What he does not see is
// not there for him.
extension BatchPlan {
    /// Refuses an operation on a stored record that the participant may not see or change.
    func checkRight(_ operation: RecordOperation, on record: RecordNumber) throws {
        guard let access else { return }
        switch try access.permission(on: record) {
        case nil, .some(.none): throw Fault.recordNotFound
        case .readOnly: throw Self.noRight("WRITE operation not permitted")
        case .readWrite: break
        }
        if operation.kind.deletes, try !access.mayRemove(record) {
            throw Self.noRight("DELETE operation not permitted: only the owner deletes a root")
        }
    }

    /// The parent of a participant's save: that of a root is none of his business and stays.
    func participantParent(
        _ parent: RecordName?, of operation: RecordOperation, over former: FormerRecord?,
        kept: RecordName?
    ) throws -> RecordName? {
        guard let access, access.wholeZone == nil else { return parent }
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

    /// Refuses a place outside of what the participant may write.
    func checkRight(toPut record: RecordKey, below parent: RecordKey) throws {
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

    /// Whether a record may be named as one that must exist: only what the participant sees is there.
    func isInSight(_ key: RecordKey) throws -> Bool {
        guard let access else { return true }
        guard key.zone == zone.number else { return false }
        if case .saved = states[key] { return true }
        guard let head = try transaction.head(of: key.name, in: key.zone) else { return false }
        return try access.sees(head.record)
    }

    /// Whether a deletion takes a source along: of what a participant may not remove, the reference
    /// stays and leads nowhere.
    func goesAlong(_ key: RecordKey) throws -> Bool {
        guard let access else { return true }
        guard key.zone == zone.number else { return false }
        guard let head = try transaction.head(of: key.name, in: key.zone),
            try former(key).isAlive
        else { return true }
        return try access.permission(on: head.record) == .readWrite
            && access.mayRemove(head.record)
    }

    /// A stored or new body as the caller is shown it.
    func shown(_ body: [UInt8], of record: RecordNumber) throws -> [UInt8] {
        guard let access, try access.hidesParent(of: record) else { return body }
        return try RecordBody.withoutParent(body)
    }

    private static func noRight(_ reason: String) -> Fault { Fault(.accessDenied, reason) }
}
