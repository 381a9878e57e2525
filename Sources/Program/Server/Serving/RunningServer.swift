import Administration
import CloudDatabase
import CloudModel
import Configuration
import Control
import Cryptography
import Delivery
import HTTP
import Network
import WebServices

/// Carries out a command that another process has read, on the data of a folder.
///
/// What it makes for the caller, and asks of them, goes to the calling process.
package typealias CommandAnswering =
    @Sendable (ControlRequest, Administrator, DataFolder, CallingProcess) -> CommandAnswer

/// A server that serves a data folder: where everything is made and joined, by the program and by tests alike.
package final class RunningServer: Sendable {
    package let folder: DataFolder
    package let log: Log
    package let metrics: Metrics
    package let readiness: Readiness
    /// Where it listens, with the ports that the system chose.
    package let addresses: [ListenAddress]
    /// Where the metrics have an address of their own; nil for none.
    package var metricsAddress: ListenAddress? { metricsListener?.address }
    private let metricsListener: MetricsListener?
    /// Where the operators' interface is; nil for nowhere.
    package var consoleAddress: ListenAddress? { consoleListener?.address }
    private let consoleListener: ConsoleListener?
    private let http: HTTPServer
    private let protocolResponder: ProtocolResponder
    private let control: ControlServer
    private let upkeep: Upkeep
    /// Nil where nothing is counted for charts.
    let telemetry: TelemetryRounds?
    private let accountDeletions: AccountDeletions
    private let removals: UnfinishedRemovals
    private let abandonedUploads: AbandonedUploads
    /// Nil where backups are off.
    private let backups: BackupRounds?
    private let providerRequests: ProviderRequests
    /// Carry notices of all stores.
    private let senders: NoticeSenders
    /// Nil where no letters are sent.
    private let carrier: LetterCarrier?
    private let tls: TLSContext?

    /// Makes everything and begins to accept requests and commands.
    ///
    /// - Parameters:
    ///   - commands: carries out what comes over the socket for commands.
    ///   - console: what the operators' interface is made of; nil for none.
    /// - Throws: `CommandFailure` when an address cannot be listened at, and when the bucket's prefix is
    ///   another server's.
    package init(
        folder: DataFolder, log: Log, console: ConsoleAccess? = nil,
        commands: @escaping CommandAnswering
    ) throws {
        let configuration = folder.configuration
        let ownKey = try Self.prepare(folder, log)
        let (books, mark) = (try configuration.phrasebooks(), try configuration.serviceMark())
        let letters = try LetterSenders(configuration, clock: folder.clock, random: folder.random)
        let stores = folder.stores
        let metrics = Metrics.ofThisProgram(startedAt: folder.clock.now())
        let readiness = Readiness { stores.diskTrouble }
        let keeper = try Self.requestKeeper(of: folder, in: metrics, log)
        telemetry = try TelemetryRounds(folder, log: log, in: metrics)
        let recorder = RequestRecorder(configuration, metrics, log, keeper: keeper, telemetry)
        tls = try configuration.makeTLS()
        let wire = try Self.wire(configuration, tls: tls, folder.clock, log)
        let binding = try Self.bound(wire)
        addresses = binding.addresses
        let reached = configuration.reached(at: binding.addresses)
        stores.link(by: reached.assetOptions)
        let protocolResponder = try Self.protocolResponder(
            on: folder, reached, observer: recorder, log: log)
        let responder = try Self.responder(
            on: folder, reached, readiness, metrics, protocolResponder, books, mark, console, log)
        http = try Self.started(wire, on: binding, responder, Self.observer(of: metrics, log))
        Self.observe(http, stores, log, in: metrics)
        senders = try NoticeSenders(folder, ownKey: ownKey)
        let work = StoreWork(
            configuration, limits: folder.limits, clock: folder.clock, log: log,
            senders: senders.byKind, telemetry: telemetry?.recorder,
            hasEnded: DestinationSessions(catalog: folder.catalog, clock: folder.clock).hasEnded)
        Self.observe(work, protocolResponder, in: metrics)
        Self.observeAssets(of: protocolResponder, in: metrics)
        Self.observeWork(of: protocolResponder, in: metrics)
        stores.reports.observe { log.tell($1, of: $0) }
        do {
            consoleListener = try ConsoleListener(console, on: folder, mark, reached, tls: tls, log)
            (control, metricsListener) = try Self.startedBeside(
                folder, readiness, metrics, log, commands)
        } catch {
            http.drain(withinSeconds: 0)
            throw error
        }
        upkeep = Self.upkeep(of: folder, protocolResponder, in: metrics, log)
        providerRequests = try ProviderRequests(configuration)
        folder.providerAccess.attach(providerRequests)
        accountDeletions = AccountDeletions(
            folder, log: log, intervalSeconds: configuration.retention.upkeepSeconds)
        removals = UnfinishedRemovals(stores, log: log)
        abandonedUploads = AbandonedUploads(folder, log: log)
        backups = try BackupRounds.begin(folder, metrics: metrics, log: log)
        stores.observeOpening { work.worker($0, $1, $2) }
        upkeep.begin()
        telemetry?.begin()
        carrier = letters.isEmpty ? nil : LetterCarrier(folder, letters, books, mark, log: log)
        (self.folder, self.log, self.metrics) = (folder, log, metrics)
        (self.protocolResponder, self.readiness) = (protocolResponder, readiness)
        readiness.become(.ready)
        folder.addressProbe.isServing = true
    }

    private static func wire(
        _ configuration: ServerConfiguration, tls: TLSContext?, _ clock: Clock, _ log: Log
    ) throws -> HTTPServer.Configuration {
        var wire = configuration.wire(tls: tls)
        wire.wallSeconds = { clock.now() / 1_000 }
        try limitConnections(of: &wire, configuration, log)
        return wire
    }

    private static func upkeep(
        of folder: DataFolder, _ protocolResponder: ProtocolResponder, in metrics: Metrics,
        _ log: Log
    ) -> Upkeep {
        let disk = DiskWatch(folder, log, in: metrics)
        return Upkeep(
            stores: folder.stores, log: log,
            intervalSeconds: folder.configuration.retention.upkeepSeconds
        ) {
            disk.check()
            protocolResponder.doWhatIsDue()
        }
    }

    /// Leaves descriptors to files, where the system lets the process have few.
    private static func limitConnections(
        of wire: inout HTTPServer.Configuration, _ configuration: ServerConfiguration, _ log: Log
    ) throws(CommandFailure) {
        // Each loop has two, each listener one and a spare one, as have the
        // sockets for commands and metrics.
        let beside = 2 * wire.loopCount + 2 * wire.endpoints.count + 8
        let wanted = wire.limits.connectionCountMax
        let room = DescriptorRoom.now(beside: beside)
        let count = try room.connections(wanted: wanted)
        guard count < wanted else { return }
        wire.limits.connectionCountMax = count
        wire.limits.connectionsPerAddressMax = configuration.connectionsPerAddressMax(of: count)
        log.warning(
            "fewer connections than http.connectionsMax: too few open files are allowed",
            [
                ("connections", .number(Int64(count))), ("openFiles", .number(Int64(room.limit))),
                (
                    "remedy",
                    .text(
                        "raise the hard limit (LimitNOFILE of the unit, --ulimit nofile of the "
                            + "container), or set http.connectionsMax to \(count)")
                ),
            ])
    }

    /// Begins to take commands, and to show metrics at their own address.
    private static func startedBeside(
        _ folder: DataFolder, _ readiness: Readiness, _ metrics: Metrics, _ log: Log,
        _ answer: @escaping CommandAnswering
    ) throws -> (ControlServer, MetricsListener?) {
        folder.failedSignIns.observe(by: log, in: metrics)
        let listener = try MetricsListener(folder.configuration.metrics, metrics, log)
        do {
            let path = DataFolder.controlSocketPath(in: folder.path)
            let control = try ControlServer(path: path) { request, user, caller in
                if request.isHealthcheck { return readiness.answer }
                let administrator = Administrator(.commandLine(userNumber: user), on: folder) {
                    try folder.note($0)
                    log.note($0)
                }
                return answer(request, administrator, folder, caller)
            }
            return (control, listener)
        } catch {
            listener?.close()
            throw error
        }
    }

    /// Binds the addresses, or says which one cannot be listened at.
    private static func bound(
        _ wire: HTTPServer.Configuration
    ) throws(CommandFailure) -> HTTPServer.Binding {
        do { return try HTTPServer.Binding(wire) } catch { throw CommandFailure("\(error)") }
    }

    private static func started(
        _ wire: HTTPServer.Configuration, on binding: HTTPServer.Binding,
        _ responder: any Responder, _ observer: WireObserver
    ) throws(CommandFailure) -> HTTPServer {
        do {
            let server = try HTTPServer(wire, responder: responder, observer: observer)
            try server.start(on: binding)
            return server
        } catch {
            throw CommandFailure("\(error)")
        }
    }

    /// Makes sure that all of the data is this server's, and finishes what the last one began.
    ///
    /// - Returns: the server's own key towards browsers: what cannot be read ends the start before anything is
    ///   opened.
    private static func prepare(_ folder: DataFolder, _ log: Log) throws -> P256PrivateKey {
        let ownKey: P256PrivateKey
        do { ownKey = try folder.pushKeys.ownKey() } catch let refusal as DeliveryRefusal {
            throw CommandFailure("\(folder.path)/\(folder.engineWords.catalog): \(refusal)")
        }
        try folder.assetLocations.confirmOwnership {
            log.warning("the bucket of the assets does not answer", [("failure", .text("\($0)"))])
        }
        try folder.stores.recover()
        for key in try folder.stores.search.begin() { log.tellMissing(key) }
        let again = try folder.deleteErasedAgain()
        if again > 0 {
            log.warning(
                "accounts that were erased before are erased again",
                [("accounts", .number(Int64(again)))])
        }
        // The rest is done while it serves.
        try UnfinishedDeletions(in: folder).removeRecords()
        return ownKey
    }

    /// Stops accepting, finishes what runs, closes the data folder.
    package func drain(withinSeconds seconds: Int) {
        readiness.become(.draining)
        folder.addressProbe.isServing = false
        protocolResponder.endWaits()
        http.drain(withinSeconds: seconds)
        control.close(withinSeconds: seconds)
        consoleListener?.close(withinSeconds: seconds)
        metricsListener?.close()
        upkeep.stop()
        protocolResponder.noteLastUses()
        accountDeletions.stop()
        removals.stop()
        abandonedUploads.stop()
        backups?.stop()
        telemetry?.stop()
        folder.providerAccess.attach(nil)
        providerRequests.stop()
        carrier?.stop()
        folder.requestLines.flush()
        folder.close()
        senders.stop()
        metrics.endObserving()
    }

    /// Reads certificate and key again; when they cannot be used, the old ones stay.
    package func reloadCertificates() {
        guard let tls else { return log.info("reload asked for, without certificates to reload") }
        do {
            try tls.reload()
            log.info("certificates reloaded")
        } catch {
            log.error("certificates not reloaded", [("failure", .text(error.description))])
        }
    }

    private static func observer(of metrics: Metrics, _ log: Log) -> WireObserver {
        WireObserver(
            rejected: { rejection in
                log.sampled(
                    "request refused by the wire",
                    [
                        ("request", .text(rejection.requestID)),
                        ("status", .number(Int64(rejection.status))),
                        ("reason", .text(rejection.reason)),
                    ])
            },
            broken: { log.error("the server is at fault", [("failure", .text($0))]) })
    }

    private static func observeWork(of protocolResponder: ProtocolResponder, in metrics: Metrics) {
        metrics.counter("lenticular_signatures_verified_total", "Signatures of requests verified.")
        {
            Double(protocolResponder.verificationCount)
        }
        metrics.gauge("lenticular_requests_waiting", "Requests that wait for a thread.") {
            Double(protocolResponder.poolCounts.waiting)
        }
        metrics.gauge(
            "lenticular_requests_held", "Requests that wait until there is something to tell."
        ) {
            Double(protocolResponder.heldCount)
        }
        metrics.counter(
            "lenticular_answers_shared_total",
            "Answers to who waited that were made for another request of the same caller."
        ) {
            Double(protocolResponder.sharedCount)
        }
        metrics.counter(
            "lenticular_requests_throttled_total", "Requests refused because too many waited."
        ) {
            Double(protocolResponder.poolCounts.refused)
        }
        metrics.counter(
            "lenticular_requests_abandoned_total",
            "Requests whose client had gone before they began."
        ) {
            Double(protocolResponder.poolCounts.dropped)
        }
        metrics.counter(
            "lenticular_requests_long_total", "Requests that others would have waited for too long."
        ) {
            Double(protocolResponder.poolCounts.moved)
        }
    }

    private static func observe(
        _ work: StoreWork, _ protocolResponder: ProtocolResponder, in metrics: Metrics
    ) {
        observe(work.counts, in: metrics)
        metrics.counter("lenticular_notices_queued_total", "Notices put into outboxes.") {
            Double(work.noticeCounts.queued)
        }
        metrics.counter("lenticular_notices_sent_total", "Notices delivered.") {
            Double(work.deliveryCounts.sent + protocolResponder.courierCounts.sent)
        }
        metrics.counter(
            "lenticular_notices_failed_total", "Attempts to deliver a notice that came to nothing."
        ) {
            Double(work.deliveryCounts.failed + protocolResponder.courierCounts.cut)
        }
        metrics.gauge(
            "lenticular_notice_lag_seconds", "From a commit until its notices were in the outbox."
        ) { work.noticeCounts.takeLagSeconds() }
    }

    private static func observe(_ work: WorkCounts, in metrics: Metrics) {
        metrics.counter("lenticular_work_steps_total", "Steps of queued work done.") {
            Double(work.done)
        }
        metrics.counter("lenticular_work_failures_total", "Steps of queued work that failed.") {
            Double(work.failed)
        }
    }

    private static func observeAssets(of protocolResponder: ProtocolResponder, in metrics: Metrics)
    {
        metrics.observeCallers { protocolResponder.rateCounts }
        metrics.gauge("lenticular_asset_uploads_active", "Uploads of assets under way.") {
            Double(protocolResponder.assetCounts.uploadsActive)
        }
        metrics.counter("lenticular_asset_uploads_total", "Assets received.") {
            Double(protocolResponder.assetCounts.uploadsFinished)
        }
        metrics.counter(
            "lenticular_asset_uploads_aborted_total", "Uploads that clients left in the middle."
        ) {
            Double(protocolResponder.assetCounts.uploadsAborted)
        }
        metrics.counter("lenticular_asset_received_bytes_total", "Bytes of uploads.") {
            Double(protocolResponder.assetCounts.bytesReceived)
        }
        metrics.counter("lenticular_asset_downloads_total", "Downloads begun.") {
            Double(protocolResponder.assetCounts.downloads)
        }
        metrics.counter(
            "lenticular_asset_damage_total", "Downloads refused or broken off: a file has decayed."
        ) {
            Double(protocolResponder.assetCounts.damaged)
        }
    }

    private static func observe(
        _ http: HTTPServer, _ stores: Stores, _ log: Log, in metrics: Metrics
    ) {
        metrics.observeRefusals { http.counts().faultsByStatus }
        metrics.observeEngine { stores.engine.figures }
        metrics.gauge("lenticular_connections_open", "Open connections.") {
            Double(http.counts().connectionsOpen)
        }
        metrics.counter("lenticular_connections_total", "Connections accepted.") {
            Double(http.counts().connectionsOpened)
        }
        metrics.counter("lenticular_wire_received_bytes_total", "Bytes from the network.") {
            Double(http.counts().bytesIn)
        }
        metrics.counter("lenticular_wire_sent_bytes_total", "Bytes to the network.") {
            Double(http.counts().bytesOut)
        }
        metrics.gauge(
            "lenticular_processes", "Processes that serve the same data, this one among them."
        ) { Double(stores.engine.processes.count) }
        metrics.gauge("lenticular_stores_open", "Container environments that are open.") {
            Double(stores.open.count)
        }
        metrics.gauge(
            "lenticular_stores_missing", "Container environments whose data is not in its place."
        ) {
            Double(stores.search.missingCount)
        }
        metrics.counter(
            "lenticular_stores_behind_total", "Stores found with less than they had acknowledged."
        ) {
            Double(stores.reports.behindCount)
        }
        metrics.counter("lenticular_log_lines_dropped_total", "Log lines never written.") {
            Double(log.droppedCount)
        }
        metrics.counter(
            "lenticular_log_lines_left_out_total",
            "Log lines of anonymous requests that were too many to write them all."
        ) {
            Double(log.leftOutCount)
        }
    }
}
