import AssetStorage
import CloudModel
import Cryptography
import Dispatch
import Storage

/// Removes what a container environment keeps of a person, in transactions of limited size.
///
/// Blocks. After a crash, run it again: it finds out what is done already, and each transaction leaves the
/// rest as it was.
package struct ErasePerson {
    /// What was removed.
    package struct Report: Sendable, Equatable {
        package var zones = 0
        package var records = 0
        /// Shares of other people that the person took part in or was invited to.
        package var shares = 0
        /// Public records that were deleted or made anonymous.
        package var publicRecords = 0
        /// Public records that are not what was written: they stay, and nobody can tell whose they are.
        package var damagedPublicRecords = 0
        package var assets = 0

        package init() {}

        package static func += (sum: inout Report, other: Report) {
            sum.zones += other.zones
            sum.records += other.records
            sum.shares += other.shares
            sum.publicRecords += other.publicRecords
            sum.damagedPublicRecords += other.damagedPublicRecords
            sum.assets += other.assets
        }
    }

    /// The caller wanted it to end before it was done; run it again.
    package struct Interrupted: Error {
        package init() {}
    }

    /// Stands as the creator of records whose creator nobody should know any more.
    static let nobody = "_anonymous"
    /// How many records one transaction changes at most.
    private static let stepRecordsMax = 100
    /// How many rows one transaction removes at most, or one read looks at.
    private static let stepRowsMax = 500
    /// How many the first one takes, when nobody knows yet how long they take.
    private static let firstRows = 8
    private static let filesMax = 100
    /// How long others are left alone before they are looked at again, and how often those who tell of changes are.
    private static let pause = DispatchTimeInterval.milliseconds(20)
    private static let followerWaitsMax = 250

    private let user: UserRecordName
    private let fate: PublicRecordsFate
    private let storage: any Store
    private let assetStore: AssetStore
    private let goesOn: @Sendable () -> Bool

    /// - Parameter goesOn: called before each transaction; false ends the work early.
    package init(
        _ user: UserRecordName, publicRecords fate: PublicRecordsFate, in storage: any Store,
        assetStore: AssetStore, while goesOn: @escaping @Sendable () -> Bool = { true }
    ) {
        self.user = user
        self.fate = fate
        self.storage = storage
        self.assetStore = assetStore
        self.goesOn = goesOn
    }

    /// Removes everything.
    ///
    /// - Throws: `Interrupted`; what the store and the assets' place report.
    package func run() throws -> Report {
        var report = Report()
        var files: Set<AssetDigest> = []
        try forgetUser()
        report.shares = try leaveShares()
        for zone in try ownZones() {
            report.records += try count(in: zone, &files)
            try requireTime()
            try storage.writeAndWait { transaction in
                guard let zone = try transaction.zone(zone.number), !zone.isDeleted else { return }
                try transaction.deleteZone(zone)
            }
            report.zones += 1
        }
        try giveRowsBack()
        if fate != .keep {
            try workOnPublicRecords(&files, &report)
            try finishMaintenance()
        }
        try forgetChanges()
        try forgetZones()
        try files.formUnion(endReceipts())
        report.assets = try removeFiles(files)
        return report
    }

    private func requireTime() throws {
        guard goesOn() else { throw Interrupted() }
    }

    private func forgetUser() throws {
        try requireTime()
        try storage.writeAndWait { [user] transaction in
            try UserRecord.remove(user, from: transaction)
            try transaction.forget(user)
            try ChangeWatch.renew(in: transaction)
        }
    }

    private func ownZones() throws -> [StoredZone] {
        try storage.read { snapshot in
            guard let owner = try snapshot.owner(named: user) else { return [] }
            return try snapshot.zones(of: owner.number)
        }
    }

    // MARK: - Shares of others

    private func leaveShares() throws -> Int {
        var count = 0
        for (number, participant) in try storage.read({ try $0.participations(of: user) }) {
            try requireTime()
            let isDone = try storage.writeAndWait { [user] transaction in
                try Self.remove(participant.id, user, from: number, transaction)
            }
            if isDone { count += 1 }
        }
        return count
    }

    /// Takes the person out of a share; its record shows the others that they are gone.
    private static func remove(
        _ participant: String, _ user: UserRecordName, from number: ShareNumber,
        _ transaction: any StoreTransaction
    ) throws -> Bool {
        guard let share = try transaction.share(number), share.ended == nil,
            let location = try transaction.location(of: share.record),
            let zone = try transaction.zone(location.zone),
            let owner = try transaction.ownerName(zone.owner), owner != user
        else { return false }
        try transaction.revoke(number, from: user)
        try transaction.removeParticipant(participant, of: number)
        _ = try RecordRewriter(transaction: transaction).rewrite(
            RecordKey(zone: location.zone, name: location.name), in: zone,
            ZoneJSON.identifier(zone.name, owner: owner))
        return true
    }

    // MARK: - Private records

    /// How many records a zone has, and which files they hold.
    private func count(in zone: StoredZone, _ files: inout Set<AssetDigest>) throws -> Int {
        var count = 0
        // NB: what nobody can read goes with its zone, and its files as any that nobody holds.
        _ = try forEachPage(of: zone) { version in
            guard !version.flags.contains(.tombstone) else { return }
            count += 1
            try files.formUnion(Self.files(of: version))
        }
        return count
    }

    /// Visits all versions of a zone, page by page, but for those that are not what was written.
    ///
    /// - Returns: how many of these there are.
    private func forEachPage(
        of zone: StoredZone, _ visit: (StoredVersion) throws -> Void
    ) throws -> Int {
        var last: Position = 0
        var damagedCount = 0
        while true {
            try requireTime()
            var count = 0
            do {
                try storage.read { snapshot in
                    try snapshot.versions(
                        in: zone.number, after: last, through: .max, newestFirst: false,
                        expected: Self.stepRowsMax
                    ) { version in
                        guard count < Self.stepRowsMax else { return false }
                        count += 1
                        last = version.position
                        try visit(version)
                        return true
                    }
                }
            } catch let damaged as DamagedVersion {
                last = damaged.position
                damagedCount += 1
                continue
            }
            if count < Self.stepRowsMax { return damagedCount }
        }
    }

    static func files(of version: StoredVersion) throws -> [AssetDigest] {
        guard version.flags.contains(.hasAssets) else { return [] }
        guard let fields = try RecordBody.fields(of: version) else { return [] }
        return fields.members.flatMap { StoredAsset.values(of: $0.value).map(\.content.digest) }
    }

    /// Removes the rows of deleted zones now; `collect` would do it some time later.
    private func giveRowsBack() throws {
        // This removes no other rows, because no tombstone is older than the first moment.
        try inSteps { try $0.collect(olderThan: 0, limit: $1) }
        try finishMaintenance()
    }

    // MARK: - What tells of changes

    /// Forgets what is kept of the person for those who tell of changes, and what they have told and not sent.
    private func forgetChanges() throws {
        let last = try storage.read { try $0.lastPosition() }
        // They hear of the deletions first, unless they do not come.
        for _ in 0..<Self.followerWaitsMax {
            if try storage.read({ try Self.isFollowed(through: last, $0) }) { break }
            try pause()
        }
        try inSteps { try $0.collect(.previousVersions(through: last), limit: $1) }
        var done = NoticeNumber(0)
        while true {
            try requireTime()
            let (user, after) = (user, done)
            let some = try storage.read {
                try $0.notices(.speakingOf(user), after: after, limit: Self.stepRowsMax)
            }.map(\.number)
            guard let end = some.last else { return }
            done = end
            try storage.writeAndWait { try $0.forget(some) }
        }
    }

    /// Whether who tells of changes has come to a position, follows no more, or fell behind.
    private static func isFollowed(
        through position: Position, _ snapshot: any StoreSnapshot
    ) throws -> Bool {
        do {
            return try snapshot.position(of: .notices).map { $0 >= position } ?? true
        } catch is FollowerFellBehind {
            return true
        }
    }

    /// Removes what is left of deleted zones, names too; `collect` would do it when nobody may ask any more.
    private func forgetZones() throws {
        try inSteps { [user] in try $0.collect(.zones(of: user), limit: $1) }
    }

    /// Runs a transaction again and again until nothing is left, each on as many rows as fit into its time.
    private func inSteps(
        _ step: @escaping @Sendable (any StoreTransaction, Int) throws -> Bool
    ) throws {
        var size = StepSize(1...Self.stepRowsMax, first: Self.firstRows)
        var hasMore = true
        while hasMore {
            let rows = size.records
            hasMore = try timed(&size) { try step($0, rows) }
        }
    }

    /// Has the engine finish now what it left for itself; queued work would do it some time later.
    private func finishMaintenance() throws {
        while try storage.maintain(while: goesOn) { try requireTime() }
        try requireTime()
    }

    /// Runs a transaction; while others write, they have the writer as long afterwards.
    private func timed<Value: Sendable>(
        _ size: inout StepSize, _ body: @escaping @Sendable (any StoreTransaction) throws -> Value
    ) throws -> Value {
        try requireTime()
        let before = storage.notices.writeCount
        let start = DispatchTime.now().uptimeNanoseconds
        let (value, took) = try storage.writeAndWait(
            cost: size.records, caller: .background
        ) { transaction in
            let start = DispatchTime.now().uptimeNanoseconds
            let value = try body(transaction)
            return (value, DispatchTime.now().uptimeNanoseconds &- start)
        }
        let isAlone = storage.notices.writeCount &- before <= 1
        size.took(nanoseconds: took, isAlone: isAlone)
        let whole = DispatchTime.now().uptimeNanoseconds &- start
        if !isAlone { rest(.nanoseconds(Int(clamping: whole))) }
        return value
    }

    private func rest(_ interval: DispatchTimeInterval) {
        _ = DispatchSemaphore(value: 0).wait(timeout: .now() + interval)
    }

    private func pause() throws {
        try requireTime()
        rest(Self.pause)
    }

    // MARK: - Public records

    private func workOnPublicRecords(
        _ files: inout Set<AssetDigest>, _ report: inout Report
    ) throws {
        let zone = try storage.read {
            try $0.zone(named: .defaultZone, ofOwnerNamed: .publicOwner)
        }
        guard let zone else { return }
        var names: [RecordName] = []
        report.damagedPublicRecords = try forEachPage(of: zone) { version in
            guard !version.flags.contains(.tombstone), try concerns(version),
                let name = try version.storedBody().member("recordName")?.string,
                let name = RecordName(name)
            else { return }
            names.append(name)
            if fate == .delete { try files.formUnion(Self.files(of: version)) }
        }
        var size = StepSize(1...Self.stepRecordsMax, first: Self.firstRows)
        while !names.isEmpty {
            let some = Array(names.prefix(size.records))
            names.removeFirst(some.count)
            let count = try timed(&size) { [user, fate] transaction in
                try some.reduce(0) {
                    try $0 + Self.change($1, of: user, in: zone, fate, transaction)
                }
            }
            report.publicRecords += count
        }
    }

    /// Whether the person made a public record, or is named as the one who saved it last.
    private func concerns(_ version: StoredVersion) throws -> Bool {
        if try RecordBody.creator(of: version) == user.text { return true }
        return try fate == .anonymous && RecordBody.modifier(of: version) == user.text
    }

    private static func change(
        _ name: RecordName, of user: UserRecordName, in zone: StoredZone,
        _ fate: PublicRecordsFate, _ transaction: any StoreTransaction
    ) throws -> Int {
        let key = RecordKey(zone: zone.number, name: name)
        let previous = try CurrentRecord(key, withBody: true, in: transaction)
        guard let body = previous.body, let head = previous.head else { return 0 }
        if fate == .delete {
            // Another person may have made it again in the meantime.
            guard try body.withUnsafeBytes({ try RecordBody.creator(of: $0) }) == user.text else {
                return 0
            }
            try RecordRemoval(transaction).remove(key, previous, head, from: zone)
            return 1
        }
        let position = try transaction.takePosition()
        let anonymous = try body.withUnsafeBytes {
            try RecordBody.renamed(user, to: nobody, at: position, $0)
        }
        _ = try transaction.save(
            NewVersion(
                zone: zone, name: name, position: position, previous: head,
                previousBytes: previous.bodyBytes, previousIsAlive: true, type: previous.type,
                flags: previous.flags, body: anonymous))
        return 1
    }

    // MARK: - Files

    /// Ends what the person may still make of uploads, and those that are not whole; the files that these were for.
    private func endReceipts() throws -> Set<AssetDigest> {
        let tokens = AssetTokens(key: try storage.identity.tokenKey, base: "")
        var files: Set<AssetDigest> = []
        for scope in DatabaseScope.allCases {
            let identity = tokens.identity(scope, user)
            try assetStore.storage.removeUnfinished(named: Hexadecimal.encode(identity))
            var count = Self.stepRecordsMax
            while count == Self.stepRecordsMax {
                try requireTime()
                let ended = try storage.writeAndWait {
                    try $0.remove(.receipts(of: identity, limit: Self.stepRecordsMax))
                }
                count = ended.count
                files.formUnion(ended)
            }
        }
        return files
    }

    /// Removes the files that no other record holds.
    private func removeFiles(_ files: Set<AssetDigest>) throws -> Int {
        var rest = Array(files)
        var count = 0
        while !rest.isEmpty {
            try requireTime()
            let some = Array(rest.prefix(Self.filesMax))
            rest.removeFirst(some.count)
            let outcome = try remove(some)
            count += outcome.gone.count
            rest += outcome.left
            // Somebody puts an equal one in place, or copies all of them: they are done before long.
            if outcome.left.count == some.count { try pause() }
        }
        return count
    }

    private func remove(_ files: [AssetDigest]) throws -> RemoveFiles.Outcome {
        let removal = RemoveFiles(storage: storage, assetStore: assetStore)
        do {
            return try removal.run(files, unusedSince: .max) { digest in
                try assetStore.storage.delete(digest)
                try assetStore.storage.trash?.remove(digest)
            }
        } catch StorageFailure.unavailable(.busy) {
            return RemoveFiles.Outcome(left: files)
        }
    }
}
