import CloudModel
import Storage

/// A transaction that counts what is asked of another one, and what it is told; without what an engine may tell with the
/// commit, since it gives no answer.
final class CountingTransaction: CountingSnapshot, StoreTransaction {
    private let transaction: any StoreTransaction

    init(_ transaction: any StoreTransaction, _ questions: Questions) {
        self.transaction = transaction
        super.init(transaction, questions)
    }

    // MARK: - ZoneWriting

    func makeZones(
        named names: [ZoneName], ofOwnerNamed owner: UserRecordName
    ) throws -> [StoredZone] {
        note("makeZones")
        return try transaction.makeZones(named: names, ofOwnerNamed: owner)
    }

    func deleteZones(_ zones: [StoredZone]) throws {
        note("deleteZones")
        try transaction.deleteZones(zones)
    }

    // MARK: - RecordWriting

    func takePositions(_ count: Int) throws -> Position {
        note("takePositions")
        return try transaction.takePositions(count)
    }

    func save(_ versions: [NewVersion]) throws -> [RecordNumber] {
        note("save")
        return try transaction.save(versions)
    }

    // MARK: - SchemaWriting

    func replaceSchema(by schema: Schema, who: String, difference: [String]) throws {
        note("replaceSchema")
        try transaction.replaceSchema(by: schema, who: who, difference: difference)
    }

    func hold(_ parts: Schema.Parts, until moment: Milliseconds) throws {
        note("hold")
        try transaction.hold(parts, until: moment)
    }

    func assign(_ roles: Set<Int64>, to user: UserRecordName) throws {
        note("assign")
        try transaction.assign(roles, to: user)
    }

    // MARK: - ShareWriting

    func keepsTrees(_ zone: ZoneNumber) throws -> Bool {
        note("keepsTrees")
        return try transaction.keepsTrees(zone)
    }

    func makeShare(
        in zone: ZoneNumber, record: RecordNumber, root: RecordNumber?,
        publicPermission: SharePermission
    ) throws -> StoredShare {
        note("makeShare")
        return try transaction.makeShare(
            in: zone, record: record, root: root, publicPermission: publicPermission)
    }

    func save(_ share: StoredShare) throws {
        try transaction.save(share)
    }

    func save(
        _ requests: [StoredAccessRequest], settling users: [UserRecordName],
        of share: ShareNumber?
    ) throws {
        try transaction.save(requests, settling: users, of: share)
    }

    func endShare(_ share: ShareNumber) throws {
        note("endShare")
        try transaction.endShare(share)
    }

    func save(
        _ participants: [StoredParticipant], removing ids: [String], of share: ShareNumber
    ) throws {
        try transaction.save(participants, removing: ids, of: share)
    }

    func set(_ changes: [GrantChange], of share: ShareNumber) throws {
        note("set")
        try transaction.set(changes, of: share)
    }

    func move(_ membership: MembershipMove) throws {
        try transaction.move(membership)
    }

    // MARK: - AssetWriting

    func addReceipt(
        _ id: [UInt8], _ receipt: StoredReceipt, of file: AssetPresence
    ) throws -> Bool {
        note("addReceipt")
        return try transaction.addReceipt(id, receipt, of: file)
    }

    func remove(_ removal: AssetRemoval) throws -> [AssetDigest] {
        note("remove")
        return try transaction.remove(removal)
    }

    // MARK: - ClientTokenWriting

    func setClientToken(_ data: [UInt8], _ key: ClientTokenKey, devicesMax: Int) throws {
        note("setClientToken")
        try transaction.setClientToken(data, key, devicesMax: devicesMax)
    }

    // MARK: - SubscriptionWriting

    func save(
        _ subscriptions: [NewSubscription], removing ids: [SubscriptionID],
        of owner: SubscriptionOwner
    ) throws {
        try transaction.save(subscriptions, removing: ids, of: owner)
    }

    // MARK: - WorkQueue

    func enqueue(_ task: WorkTask, concerning moved: MovedChildren?) throws {
        try transaction.enqueue(task, concerning: moved)
    }

    func takeWork(
        _ turn: inout WorkTurn, heldUntil moment: Milliseconds?
    ) throws -> StoredWork? {
        note("takeWork")
        return try transaction.takeWork(&turn, heldUntil: moment)
    }

    func leave(_ work: StoredWork, _ rest: WorkRemainder?) throws {
        note("leave")
        questions.noteLeft(work.task)
        try transaction.leave(work, rest)
    }

    func maintain(_ maintenance: Maintenance, step: Int) throws -> Bool {
        note("maintain")
        return try transaction.maintain(maintenance, step: step)
    }

    // MARK: - ChangeFollowing

    func follow(
        as follower: FollowerName, wanting wanted: Set<PreviousVersionNeed>, alone: Bool
    ) throws -> Position {
        note("follow")
        return try transaction.follow(as: follower, wanting: wanted, alone: alone)
    }

    func setPosition(_ position: Position?, of follower: FollowerName) throws {
        note("setPosition")
        try transaction.setPosition(position, of: follower)
    }

    // MARK: - DestinationWriting

    func register(_ destination: NewDestination) throws -> DestinationNumber {
        note("register")
        return try transaction.register(destination)
    }

    func change(_ destination: DestinationNumber, by change: DestinationChange) throws {
        note("change")
        try transaction.change(destination, by: change)
    }

    func removeDestinations(_ keys: DestinationKeys) throws -> Int {
        note("removeDestinations")
        return try transaction.removeDestinations(keys)
    }

    // MARK: - OutboxWriting

    func enqueue(_ notice: NewNotice, countedMax: Int) throws -> Int {
        note("enqueue")
        return try transaction.enqueue(notice, countedMax: countedMax)
    }

    func removeNotices(_ selection: NoticeSelection) throws {
        note("removeNotices")
        try transaction.removeNotices(selection)
    }

    func giveUp(_ number: NoticeNumber, reason: String, keptMax: Int) throws {
        note("giveUp")
        try transaction.giveUp(number, reason: reason, keptMax: keptMax)
    }

    func replayDeadLetters(of destination: DestinationNumber, limit: Int) throws -> Int {
        note("replayDeadLetters")
        return try transaction.replayDeadLetters(of: destination, limit: limit)
    }

    // MARK: - StoreTransaction

    var now: Milliseconds { transaction.now }

    func collect(_ garbage: Garbage, limit: Int) throws -> Bool {
        note("collect")
        return try transaction.collect(garbage, limit: limit)
    }
}
