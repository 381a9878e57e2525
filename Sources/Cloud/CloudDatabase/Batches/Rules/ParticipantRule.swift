import CloudModel
import Storage

/// What a participant may do in a zone that another user shares with them (rulings.md 38).
///
/// They may change and delete what they see, as far as their permission goes. They may make records below
/// records that they may write. What they do not see does not exist for them.
struct ParticipantRule {
    private let context: BatchContext
    private var access: ZoneAccess? { context.access }

    init(_ context: BatchContext) { self.context = context }

    /// Refuses an operation on a stored record that the participant may not see or change.
    func check(_ operation: RecordOperation, on previous: CurrentRecord) throws {
        guard let access, let record = previous.head?.record else { return }
        let isShare = previous.flags.contains(.share)
        // To leave a share is to delete its record, also when they have left before.
        if isShare, operation.kind.deletes, try ShareRule(context).hasTakenPart(record) { return }
        switch try access.permission(on: record) {
        case nil, .some(.none): throw Fault.recordNotFound
        // A permission on records does not decide whether somebody may change a share.
        case .readOnly where isShare: return
        case .readOnly: throw Self.noRight("WRITE operation not permitted")
        case .readWrite: break
        }
        if operation.kind.deletes, try !access.mayRemove(record) {
            throw Self.noRight("DELETE operation not permitted: only the owner deletes a root")
        }
    }

    /// Whether a record does not exist for the participant who saves or deletes it.
    func isOutOfSight(_ previous: CurrentRecord, _ operation: RecordOperation) throws -> Bool {
        guard let access, previous.isAlive, let record = previous.head?.record else { return false }
        let isShare = previous.flags.contains(.share)
        if isShare, operation.kind.deletes, try ShareRule(context).hasTakenPart(record) {
            return false
        }
        return try !access.sees(record)
    }

    /// The parent of a participant's save.
    ///
    /// A participant does not see a root's parent, so it stays as it is.
    func parent(
        _ parent: RecordName?, of operation: RecordOperation, over previous: CurrentRecord?,
        previousParent: RecordName?
    ) throws -> RecordName? {
        guard let access else { return parent }
        if let whole = access.wholeZone {
            guard previous != nil || whole.permission == .readWrite else {
                throw Self.noRight("CREATE operation not permitted")
            }
            return parent
        }
        if previous?.flags.contains(.share) == true { return nil }
        if let record = previous?.head?.record, try access.isRoot(record) {
            if case .set = operation.parent {
                throw Self.noRight("WRITE operation not permitted: only the owner moves a root")
            }
            if let previous, previous.isDamaged { return try context.parent(of: record) }
            return previousParent
        }
        guard let parent else {
            throw Self.noRight(
                "CREATE operation not permitted: a record of a shared tree needs a parent in it")
        }
        return parent
    }

    /// Why a save must fail: the participant may not put the record in this place.
    func faultOfLocation(
        of step: PlannedStep, _ operation: RecordOperation, _ view: BatchView
    ) throws -> Fault? {
        // A record that the batch deletes again is put nowhere.
        guard let access, access.wholeZone == nil, case .save(let save) = step,
            let parent = save.parent
        else { return nil }
        let tree = PlannedTree(context, view)
        guard try tree.isAlive(context.key(operation.name)) else { return nil }
        do {
            try check(placing: context.key(operation.name), below: context.key(parent), tree)
            return nil
        } catch let fault as Fault {
            return fault
        }
    }

    /// Refuses a place outside of what the participant may write.
    private func check(
        placing record: RecordKey, below parent: RecordKey, _ tree: PlannedTree
    ) throws {
        guard let access else { return }
        let previous = try context.previous(record)
        if let head = previous.head, previous.isAlive, try access.isRoot(head.record) { return }
        guard let share = try tree.share(over: parent), let grant = try access.grant(of: share)
        else { throw ReferenceRule.missing(parent.name) }
        guard grant.permission == .readWrite else {
            throw Self.noRight("CREATE operation not permitted")
        }
    }

    /// Whether a reference may act on records of a zone.
    ///
    /// A participant learns of no zone but this one. References that others have put into a record stay.
    func mayReach(
        _ name: RecordName, in number: ZoneNumber, _ kind: LinkKind, from previous: CurrentRecord?
    ) throws -> Bool {
        guard access != nil, number != context.zone.number else { return true }
        guard let record = previous?.head?.record else { return false }
        return try context.hasLink(
            Link(targetZone: number, target: name, kind: kind), from: record)
    }

    /// Whether a participant made a DELETE_SELF reference.
    ///
    /// By such a reference they must not learn what happens to a record that they cannot see, nor whether it
    /// exists. The reference stays a participant's when the owner saves the record again. Likewise, the
    /// owner's own reference stays the owner's.
    func actsInTree(
        _ name: RecordName, in number: ZoneNumber, from previous: CurrentRecord?
    ) throws -> Bool {
        let isParticipants = access != nil
        guard let previous, previous.flags.contains(.hasLinks), let record = previous.head?.record
        else {
            return isParticipants
        }
        let others = Link(
            targetZone: number, target: name,
            kind: isParticipants ? .deleteSelf : .deleteSelfInTree)
        return try context.hasLink(others, from: record) ? !isParticipants : isParticipants
    }

    /// Whether a participant may name a record as one that must exist.
    ///
    /// For them, only records that they see exist, and records that this record named before.
    func isInSight(_ key: RecordKey, of source: CurrentRecord, _ view: BatchView) throws -> Bool {
        guard let access else { return true }
        if let record = source.head?.record,
            try context.hasLink(
                Link(targetZone: key.zone, target: key.name, kind: .validate), from: record)
        {
            return true
        }
        guard key.zone == context.zone.number else { return false }
        if case .saved = view.record(key) { return true }
        guard let head = try context.previous(key).head else { return false }
        return try access.sees(head.record)
    }

    /// Whether a deletion takes a referring record along.
    ///
    /// If the participant may not remove that record, its reference stays and leads nowhere.
    func goesAlong(_ key: RecordKey) throws -> Bool {
        guard let access else { return true }
        guard key.zone == context.zone.number, !context.unseen.contains(key) else { return false }
        let previous = try context.previous(key)
        guard let head = previous.head, previous.isAlive else { return true }
        return try access.permission(on: head.record) == .readWrite
            && access.mayRemove(head.record)
    }

    private static func noRight(_ reason: String) -> Fault {
        Fault(.accessDenied, reason).because(.participantMayNotWrite)
    }
}
