import AssetStorage
import CloudDatabase
import CloudModel
import Configuration
import Delivery
import Storage
import Telemetry
import WebServices

/// Does the queued work of every open store.
final class StoreWork: Sendable {
    /// How many pages of files one step goes through to find some without a row.
    private static let searchStepsMax = 20

    let counts = WorkCounts()
    let noticeCounts = NoticeCounts()
    let deliveryCounts = DeliveryCounts()
    private let options: WorkRunner.Options
    private let notices: NoticeRunner.Options
    private let delivery: OutboxRunner.Options
    private let clock: Clock
    private let graceMilliseconds: Milliseconds
    private let abandonedMilliseconds: Milliseconds
    private let trashMilliseconds: Milliseconds

    /// - Parameters:
    ///   - senders: of the kinds of destinations that are set up.
    ///   - telemetry: counts what comes of notices; nil for nobody.
    ///   - hasEnded: whether a destination has ended with its session.
    init(
        _ configuration: ServerConfiguration, limits: ServiceLimits, clock: Clock, log: Log,
        senders: [DestinationKind: any NoticeSender] = [:], telemetry: TelemetryRecorder? = nil,
        hasEnded: @escaping @Sendable (StoredDestination) throws -> Bool = { _ in false }
    ) {
        var options = WorkRunner.Options()
        options.limits = limits
        options.retentionMilliseconds =
            Milliseconds(configuration.retention.tombstoneDays) * 86_400_000
        options.counts = counts
        options.report = { word, error in
            log.warning(
                "queued work failed; it is tried again",
                [("kind", .text(word)), ("failure", .text("\(error)"))])
        }
        self.options = options
        var notices = NoticeRunner.Options { subscription, owner in
            subscription.storedQuery(of: owner.user, in: owner.scope, limits: limits)
        }
        notices.limits = limits
        notices.counts = noticeCounts
        notices.hasEnded = hasEnded
        notices.report = { error in
            log.warning(
                "changes not told; tried again", [("failure", .text("\(error)"))])
        }
        self.notices = notices
        var delivery = OutboxRunner.Options(
            senders: senders, clock: clock, mayTell: NoticeRights.allow)
        delivery.hasEnded = hasEnded
        delivery.counts = deliveryCounts
        if let telemetry {
            delivery.observe = { container, environment, kind, outcome in
                let isSent = outcome == .delivered
                telemetry.recordNotices(
                    of: container.folded, in: environment, by: "\(kind)", sent: isSent ? 1 : 0,
                    failed: isSent ? 0 : 1)
            }
        }
        delivery.report = { error in
            log.warning(
                "what came of notices not noted; tried again", [("failure", .text("\(error)"))])
        }
        self.delivery = delivery
        self.clock = clock
        graceMilliseconds = Milliseconds(configuration.assets.graceSeconds) * 1_000
        trashMilliseconds = Milliseconds(configuration.retention.assetTrashHours) * 3_600_000
        abandonedMilliseconds = configuration.abandonedUploadMilliseconds
    }

    /// Who does a store's work.
    func worker(
        _ key: Stores.Key, _ store: any EngineStore, _ assetStore: AssetStore
    ) -> any StoreWorker {
        var options = options
        options.blocking[.collectAssets] = { [weak store, self] in
            guard let store else { return false }
            return try self.collectAssets(CollectAssets(store, assetStore: assetStore))
        }
        let telling = NoticeRunner(
            store, at: NoticeSource(container: key.container, environment: key.environment),
            notices)
        let delivery = OutboxRunner(store, of: key.container, in: key.environment, delivery)
        return StoreWorkers(WorkRunner(store, options), telling, delivery)
    }

    /// - Returns: whether there is more to do.
    private func collectAssets(_ collection: CollectAssets) throws -> Bool {
        let moment = clock.now() - graceMilliseconds
        if try collection.removeUnused(since: moment) { return true }
        let stepsMax = collection.isLocal ? Self.searchStepsMax : 1
        for _ in 0..<stepsMax {
            guard try collection.removeStray(placedBefore: moment, now: clock.now()) else { break }
        }
        if try collection.emptyTrash(putBefore: clock.now() - trashMilliseconds) { return true }
        try collection.removeAbandoned(begunBefore: clock.now() - abandonedMilliseconds)
        return false
    }
}

/// All that works for one store.
private final class StoreWorkers: StoreWorker {
    private let queued: WorkRunner
    private let telling: NoticeRunner
    private let delivery: OutboxRunner

    init(_ queued: WorkRunner, _ telling: NoticeRunner, _ delivery: OutboxRunner) {
        self.queued = queued
        self.telling = telling
        self.delivery = delivery
    }

    func begin() {
        queued.begin()
        telling.wake()
        delivery.wake()
    }

    var isBusy: Bool { queued.isBusy || telling.isBusy || delivery.isBusy }

    func stop() {
        telling.stop()
        delivery.stop()
        queued.stop()
    }
}
