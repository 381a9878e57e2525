import CloudModel
import Cryptography
import Storage

/// What a save or deletion of a share record means, and who may do it (rulings.md 34 to 38).
struct ShareRule {
    private let context: BatchContext
    private var database: Database { context.database }

    init(_ context: BatchContext) { self.context = context }

    /// Adds to a save what it does to shares, and what the record will say about sharing.
    func addSharing(
        to save: inout PlannedSave, _ operation: RecordOperation, over previous: CurrentRecord?,
        previousBody: RecordBody.Previous?
    ) throws {
        save.sharing = try sharing(operation, over: previous, previousBody: previousBody)
        if save.type == .share {
            let changesFields = previousBody.map { $0.fieldsText != save.fields[...] } ?? true
            save.share = try share(operation, over: previous, changesFields: changesFields)
        } else if operation.name == .zoneShare {
            throw Fault.badRequest(
                "recordName 'cloudkit.zoneshare': only the share of the whole zone has it")
        }
    }

    /// What the save of a share record does to the share.
    ///
    /// - Parameter changesFields: whether it changes any field of the record.
    private func share(
        _ operation: RecordOperation, over previous: CurrentRecord?, changesFields: Bool
    ) throws -> PlannedShare {
        if case .set = operation.parent {
            throw Fault.badRequest("parent: a share is in no tree itself")
        }
        guard let previous, let head = previous.head else { return try newShare(operation) }
        guard let entry = try context.shareEntry(of: head.record) else {
            throw Fault.recordNotFound
        }
        let existing = entry.share
        let list = ParticipantList(entry.participants)
        let isByAdministrator = try isByAdministrator(list)
        guard !isByAdministrator || !changesFields else {
            throw Fault(
                .accessDenied,
                "WRITE operation not permitted: administrators change participants and "
                    + "permissions only")
        }
        let request = operation.share ?? ShareRequest()
        let permission = request.publicPermission ?? existing.publicPermission
        var participants = list
        let known = AccessRequestList(entry.requests)
        var requests = known
        try edit(
            &participants, &requests, request, permission, isByAdministrator: isByAdministrator)
        if permission != existing.publicPermission { participants.follow(permission) }
        return PlannedShare(
            existing: existing, beginning: nil, publicPermission: permission,
            allowsRequests: request.allowsRequests ?? existing.allowsRequests, previous: list,
            participants: participants, previousRequests: known, requests: requests)
    }

    /// Refuses a new share in a place where no share can be.
    func checkLocationOfNewShare() throws {
        guard database.scope == .private else {
            throw Fault.badRequest(
                "Cannot share here: the owner makes shares, in their private database")
        }
        guard !context.zone.name.isDefault else {
            throw Fault.badRequest("Cannot share from the default zone; use a zone of your own")
        }
    }

    private func newShare(_ operation: RecordOperation) throws -> PlannedShare {
        guard context.isAtomic else {
            throw RefusedBatch(
                fault: .badRequest(
                    "atomic: a new share needs true, since its root changes with it"))
        }
        let request = operation.share ?? ShareRequest()
        let permission = request.publicPermission ?? .none
        var participants = ParticipantList(ownedBy: context.owner, id: makeID())
        var requests = AccessRequestList([])
        try edit(&participants, &requests, request, permission, isByAdministrator: false)
        return PlannedShare(
            existing: nil, beginning: try beginning(operation, request),
            publicPermission: permission, allowsRequests: request.allowsRequests ?? false,
            previous: ParticipantList([]), participants: participants,
            previousRequests: AccessRequestList([]), requests: requests)
    }

    private func beginning(
        _ operation: RecordOperation, _ request: ShareRequest
    ) throws -> PlannedShare.Beginning {
        guard operation.name != .zoneShare else {
            guard request.root == nil else {
                throw Fault.badRequest("forRecord: the share of a whole zone has no root")
            }
            return .zone
        }
        guard let root = request.root, root.name != operation.name else {
            throw Self.nothingToShare("expected forRecord with the root's recordName and tag")
        }
        return .tree(context.key(root.name), tag: root.changeTag)
    }

    static func nothingToShare(_ more: String) -> Fault {
        .badRequest("Cannot share - no such record exists to share; \(more)")
    }

    private func edit(
        _ participants: inout ParticipantList, _ requests: inout AccessRequestList,
        _ request: ShareRequest, _ permission: SharePermission, isByAdministrator: Bool
    ) throws {
        guard request.participants != nil || request.decisions != AccessDecisions() else { return }
        let owner = try participants.owner?.user.flatMap {
            try database.identities.person(named: $0)
        }
        let editing = ParticipantList.Editing(
            isByAdministrator: isByAdministrator, publicPermission: permission,
            ownerAddresses: owner?.addresses ?? [],
            most: database.limits.participantsPerShareMax, makeID: makeID)
        if let entries = request.participants { try participants.replace(with: entries, editing) }
        try requests.decide(
            request.decisions, &participants, editing,
            most: database.limits.accessRequestsPerShareMax)
    }

    /// Whether an administrator edits the share, not the owner.
    ///
    /// - Throws: NOT_FOUND for a caller who does not see the share, ACCESS_DENIED for one who does.
    private func isByAdministrator(_ list: ParticipantList) throws -> Bool {
        guard database.scope == .shared else { return false }
        guard let own = try participant(list) else { throw Fault.recordNotFound }
        guard own.role == .administrator else {
            throw Fault(
                .accessDenied,
                "WRITE operation not permitted: the owner and administrators change a share")
        }
        return true
    }

    /// The caller's entry in a share that they see.
    private func participant(_ list: ParticipantList) throws -> StoredParticipant? {
        guard let user = database.caller.userRecordName,
            let own = list.participant(user), own.access != .none
        else { return nil }
        return own
    }

    /// The caller's entry in the share of a record.
    private func part(in record: RecordNumber) throws -> (StoredShare, StoredParticipant)? {
        guard let user = database.caller.userRecordName,
            let entry = try context.shareEntry(of: record),
            let own = entry.participants.first(where: { $0.user == user })
        else { return nil }
        return (entry.share, own)
    }

    /// Whether the caller takes part in the share of a record, or has left it.
    ///
    /// It is false when a permission of NONE keeps them out: they do not see the share.
    func hasTakenPart(_ record: RecordNumber) throws -> Bool {
        try part(in: record).map { $0.1.status == .removed || $0.1.access != .none } ?? false
    }

    /// What it means when a participant deletes a share record: they leave, and the record stays.
    ///
    /// - Returns: nil when they have left before.
    /// - Throws: NOT_FOUND for a caller who has never taken part.
    func leaving(_ previous: CurrentRecord) throws -> StoredShare? {
        guard let record = previous.head?.record, let (share, own) = try part(in: record),
            own.status != .invited
        else { throw Fault.recordNotFound }
        return own.status == .removed ? nil : share
    }

    /// The step of deleting the record of a share that the caller took part in and no longer sees.
    ///
    /// Nil in every other case.
    func leavingUnseen(_ previous: CurrentRecord) throws -> PlannedStep? {
        guard let access = context.access, previous.isAlive, previous.flags.contains(.share),
            let record = previous.head?.record, try !access.sees(record)
        else { return nil }
        return try leaving(previous).map { .leave($0) } ?? .nothing
    }

    /// The share records that are deleted together with their roots.
    func ending(with gone: [RecordKey], _ view: BatchView) throws -> [RecordKey] {
        let roots = try gone.compactMap { key in
            let previous = try context.previous(key)
            return previous.flags.contains(.root) ? previous.head?.record : nil
        }
        guard !roots.isEmpty else { return [] }
        let shares = try context.stored.shares(.roots(roots)).compactMap { $0?.record }
        let others = Set(gone)
        return try context.stored.locations(of: shares).compactMap { location in
            guard let location else { return nil }
            let record = RecordKey(zone: location.zone, name: location.name)
            return view.isDeleted(record) || others.contains(record) ? nil : record
        }
    }

    /// What a record's body will say about sharing, as far as the record's own operation tells.
    private func sharing(
        _ operation: RecordOperation, over previous: CurrentRecord?,
        previousBody: RecordBody.Previous?
    ) throws -> RecordBody.Sharing {
        var sharing = try previousBody?.sharing ?? known(of: previous)
        let isWanted =
            operation.createsShortGUID && database.scope == .private
            || operation.name == .zoneShare
        if sharing.shortGUID == nil, isWanted {
            let head = try context.previous(context.key(operation.name)).head
            sharing.shortGUID = try shortGUID(of: head?.record)
        }
        return sharing
    }

    /// What a record that is damaged said about sharing, as the store knows it from elsewhere.
    private func known(of previous: CurrentRecord?) throws -> RecordBody.Sharing {
        var known = RecordBody.Sharing()
        guard let previous, previous.isDamaged, let record = previous.head?.record else {
            return known
        }
        if previous.flags.contains(.root), let share = try context.share(ofRoot: record) {
            known.share = try context.stored.location(of: share.record)?.name
        }
        // The identifier of a shared tree is that of its root.
        let root = try context.shareEntry(of: record)?.share.root
        known.shortGUID = try context.shortGUID(of: root ?? record).flatMap { ShortGUID($0) }
        return known
    }

    /// The record's short identifier; makes one when it has none.
    func shortGUID(of record: RecordNumber?) throws -> ShortGUID {
        guard let record, let text = try context.shortGUID(of: record),
            let known = ShortGUID(text)
        else { return ShortGUID(database.linkRoute, random: database.random.bytes(22)) }
        return known
    }

    private func makeID() -> String { UniqueID.random(database.random) }
}
