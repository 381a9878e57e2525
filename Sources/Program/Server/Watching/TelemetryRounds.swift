import Background
import CloudModel
import Storage
import Synchronization
import Telemetry

/// Puts away each minute what was counted, and each hour how much the container environments in use hold.
///
/// It has a thread of its own, and a database of its own: no request waits for it.
final class TelemetryRounds: Sendable {
    /// After the end of a minute, so that what ends with it is in.
    private static let delayMilliseconds: Milliseconds = 250
    /// Minutes that are kept in memory while they cannot be written.
    private static let unwrittenMax = 10
    private static let sampleMilliseconds: Milliseconds = 3_600_000

    private struct State {
        var unwritten: [TelemetryMinute] = []
        var sampledAt: [Stores.Key: Milliseconds] = [:]
    }

    let recorder: TelemetryRecorder
    let alerts: AlertRounds
    /// Nil where no collector is set.
    let traces: TraceSpans?
    private let exporter: OTLPSender?
    private let storage: any TelemetryStorage
    private let folder: DataFolder
    private let log: Log
    private let readings = ContainerReadings()
    private let runner: Runner
    private let state = Mutex(State())

    /// Nil where the settings turn it off, and where its database cannot be opened, which the log is told.
    ///
    /// - Throws: `CommandFailure` for a collector that cannot be sent to.
    init?(_ folder: DataFolder, log: Log, in metrics: Metrics) throws {
        let seriesMax = folder.configuration.telemetry.series
        guard seriesMax > 0 else { return nil }
        do { storage = try folder.telemetryFile.storage() } catch {
            log.error(
                "no telemetry: its database cannot be opened", [("failure", .text("\(error)"))])
            return nil
        }
        exporter = try OTLPSender(folder.configuration, log: log, in: metrics)
        traces = exporter.map { TraceSpans($0, clock: folder.clock) }
        alerts = AlertRounds(folder, log: log)
        recorder = TelemetryRecorder(
            TelemetryBudget(seriesMax: seriesMax), hash: storage.userHash, clock: folder.clock)
        self.folder = folder
        self.log = log
        runner = Runner("lenticular.telemetry") { error in
            log.warning(
                "telemetry not written; tried again", [("failure", .text("\(error)"))])
        }
        runner.use { [weak self] in try self?.look() ?? .never }
        readings.observe(in: metrics)
        metrics.gauge("lenticular_telemetry_bytes", "What telemetry.sqlite takes on the disk.") {
            [storage] in Double(storage.byteCount)
        }
    }

    /// Notes the start, and begins the rounds; the first writes the minute that goes on when that is over.
    func begin() {
        do { try storage.noteStart(at: folder.clock.now()) } catch {
            log.warning("the start was not noted", [("failure", .text("\(error)"))])
        }
        runner.wake()
        alerts.begin()
    }

    /// Ends the rounds, and puts away what was counted last.
    func stop() {
        alerts.stop()
        runner.stop()
        do { try state.withLock { try write(&$0) } } catch {
            log.warning("the last telemetry not written", [("failure", .text("\(error)"))])
        }
        exporter?.stop()
    }

    private func look() throws -> Runner.Next {
        try round()
        let into = folder.clock.now() % 60_000
        return .later(milliseconds: 60_000 - into + Self.delayMilliseconds)
    }

    /// Puts away what was counted since the last round.
    func round() throws {
        try state.withLock { state in
            try write(&state)
            sample(&state)
        }
    }

    private func write(_ state: inout State) throws {
        let minute = recorder.take()
        readings.add(minute)
        if !minute.series.isEmpty {
            exporter?.send(minute, until: folder.clock.now())
            state.unwritten.append(minute)
        }
        state.unwritten.removeFirst(max(0, state.unwritten.count - Self.unwrittenMax))
        while let next = state.unwritten.first {
            try storage.add(next)
            state.unwritten.removeFirst()
        }
    }

    /// Notes how much the open stores hold of which that was not noted in the last hour.
    ///
    /// Those that nobody opens have not changed.
    private func sample(_ state: inout State) {
        let now = folder.clock.now()
        var sampled: [Stores.Key: Milliseconds] = [:]
        folder.stores.forEachOpen { key, store in
            guard !runner.isStopped else { return }
            if let last = state.sampledAt[key], last <= now, now - last < Self.sampleMilliseconds {
                sampled[key] = last
                return
            }
            sampled[key] = now
            do { try sample(key, store, now) } catch {
                log.warning(
                    "how much a container holds was not noted",
                    [
                        ("container", .text(key.container.name)),
                        ("environment", .text(key.environment.rawValue)),
                        ("failure", .text("\(error)")),
                    ])
            }
        }
        state.sampledAt = sampled
    }

    private func sample(_ key: Stores.Key, _ store: LeasedStore, _ now: Milliseconds) throws {
        let size = try store.size(owners: 0, counting: .contents)
        guard let counts = size.counts else { return }
        let figures = ContainerFigures(
            container: key.container.folded, environment: key.environment.rawValue,
            day: ContainerFigures.day(of: now), records: size.amount.records,
            recordBytes: size.amount.recordBytes, assets: counts.assets,
            assetBytes: size.amount.assetBytes, tombstones: counts.tombstones, users: counts.users)
        try storage.note(figures)
        readings.note(figures)
    }
}
