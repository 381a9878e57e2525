import CloudDatabase
import CloudModel
import HTTP
import Network
import WebServices

/// A server at work on a data folder: where everything is made and joined, by the program and by
/// tests alike.
package final class RunningServer: Sendable {
    package let folder: DataFolder
    package let log: Log
    package let metrics: Metrics
    package let readiness: Readiness
    /// Where it listens, with the ports that the system chose.
    package let addresses: [ListenAddress]
    private let http: HTTPServer
    private let control: ControlServer
    private let upkeep: Upkeep
    private let tls: TLSContext?

    /// Makes everything and begins to accept requests and commands.
    ///
    /// - Throws: `CommandFailure` when an address cannot be listened at, and when the bucket's prefix is
    ///   another server's.
    package init(folder: DataFolder, log: Log) throws {
        let configuration = folder.configuration
        try Self.prepare(folder, log)
        let stores = folder.stores
        let metrics = Metrics(version: ProgramVersion.text, startedAt: folder.clock.now())
        let readiness = Readiness { stores.diskTrouble }
        let recorder = RequestRecorder(metrics: metrics, log: log)
        let protocolResponder = try Self.protocolResponder(on: folder, observer: recorder, log: log)
        stores.observeRemoval { protocolResponder.forget($0) }
        let responder = ServerResponder(
            readiness: readiness, metrics: metrics,
            metricsAccess: MetricsAccess(token: configuration.metrics.bearerToken.revealed),
            protocolResponder: protocolResponder)
        tls = try configuration.makeTLS()
        var wire = configuration.wire(tls: tls)
        let clock = folder.clock
        wire.wallSeconds = { clock.now() / 1_000 }
        do throws(SystemError) {
            http = try HTTPServer(
                wire, responder: responder, observer: Self.observer(of: metrics, log))
            addresses = try http.start()
        } catch {
            throw CommandFailure("cannot listen: \(error)")
        }
        Self.observe(http, stores, log, in: metrics)
        let work = StoreWork(configuration, clock: clock, log: log)
        Self.observe(work.counts, in: metrics)
        folder.assetPlaces.reports.observe {
            log.warning("asset not sent to its end", [("failure", .text("\($0)"))])
        }
        Self.observeAssets(of: protocolResponder, in: metrics)
        do {
            control = try ControlServer(
                path: DataFolder.controlSocketPath(in: folder.path)
            ) { arguments, inputs, sender in
                if arguments.first == Command.healthcheck.name { return readiness.answer }
                return CommandLineProgram.run(arguments, inputs: inputs, on: folder, sender)
            }
        } catch {
            http.drain(withinSeconds: 0)
            throw error
        }
        upkeep = Upkeep(
            stores: stores, log: log, intervalSeconds: configuration.retention.upkeepSeconds,
            alsoDue: { protocolResponder.removeExpiredUploads() })
        stores.observeOpening { work.begin($0, $1) }
        self.folder = folder
        self.log = log
        self.metrics = metrics
        self.readiness = readiness
        readiness.become(.ready)
    }

    /// Makes sure that all of the data is this server's, and finishes what the last one began.
    private static func prepare(_ folder: DataFolder, _ log: Log) throws {
        try folder.assetPlaces.confirmOwnership {
            log.warning("the bucket of the assets does not answer", [("failure", .text("\($0)"))])
        }
        try folder.stores.requireKnown()
        try folder.stores.finishRemovals()
        try folder.finishDepartures()
    }

    /// Stops accepting, finishes what runs, closes the data folder.
    package func drain(withinSeconds seconds: Int) {
        readiness.become(.draining)
        http.drain(withinSeconds: seconds)
        control.close(withinSeconds: seconds)
        upkeep.stop()
        folder.close()
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
        WireObserver { rejection in
            log.info(
                "request refused by the wire",
                [
                    ("request", .text(rejection.requestID)),
                    ("status", .number(Int64(rejection.status))),
                    ("reason", .text(rejection.reason)),
                ])
        }
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
    }

    private static func observe(
        _ http: HTTPServer, _ stores: Stores, _ log: Log, in metrics: Metrics
    ) {
        metrics.observeRefusals { http.counts().faultsByStatus }
        metrics.observeWriters { stores.open.map(\.measurements) }
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
        metrics.gauge("lenticular_wal_bytes", "Bytes of the write-ahead logs.") {
            Double(stores.logBytes)
        }
        metrics.gauge("lenticular_stores_open", "Container environments that are open.") {
            Double(stores.open.count)
        }
        metrics.counter("lenticular_log_lines_dropped_total", "Log lines never written.") {
            Double(log.droppedCount)
        }
    }
}
