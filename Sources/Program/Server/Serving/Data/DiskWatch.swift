import CloudModel
import Configuration
import Storage
import Synchronization

/// Warns before the disk of the data is full: in the log when that changes and once a day, and in the metrics.
final class DiskWatch: Sendable {
    private static let hour: Milliseconds = 3_600_000
    private static let day = 24 * hour
    /// A disk that is full sooner than this is told of as if it were low.
    private static let hoursMin = 48

    private struct State {
        var room: DiskRoom?
        var forecast = DiskForecast()
        var told = DiskRoom.Level.enough
        var toldAt: Milliseconds = 0
    }

    private let look: @Sendable () throws -> DiskRoom
    private let clock: Clock
    private let log: Log
    private let state = Mutex(State())

    /// - Parameter look: finds how much room there is; does not block for long.
    init(clock: Clock, log: Log, look: @escaping @Sendable () throws -> DiskRoom) {
        (self.clock, self.log, self.look) = (clock, log, look)
    }

    convenience init(_ folder: DataFolder, _ log: Log, in metrics: Metrics) {
        let (path, configuration) = (folder.path, folder.configuration)
        self.init(clock: folder.clock, log: log) { try DiskRoom(of: path, configuration) }
        metrics.gauge("lenticular_disk_free_bytes", "Room left on the disk of the data folder.") {
            [weak self] in Double(self?.room?.freeBytes ?? 0)
        }
        metrics.gauge("lenticular_disk_bytes", "Size of the disk of the data folder.") {
            [weak self] in Double(self?.room?.diskBytes ?? 0)
        }
        metrics.gauge(
            "lenticular_disk_low",
            "Whether the disk has little room left (1), or uploads are refused for it (2)."
        ) { [weak self] in Double(self?.room?.level.rawValue ?? 0) }
        check()
    }

    /// How much room there is now; nil where nobody can tell.
    private var room: DiskRoom? {
        // NB: a disk that does not tell shows as 0, and what needs it fails by itself.
        try? look()
    }

    /// Looks, and writes to the log what somebody should do something about.
    func check() {
        guard let room else { return }
        let now = clock.now()
        let (level, hours): (DiskRoom.Level?, Int?) = state.withLock { state in
            state.forecast.note(freeBytes: room.freeBytes, at: now)
            let hours = state.forecast.hoursLeft(
                freeBytes: room.freeBytes, floorBytes: room.floorBytes, at: now)
            var level = room.level
            if level == .enough, let hours, hours < Self.hoursMin { level = .low }
            // A disk that goes back and forth is told of once an hour.
            if level < state.told, now - state.toldAt >= Self.hour { state.told = level }
            guard level > .enough, level > state.told || now - state.toldAt >= Self.day else {
                return (nil, hours)
            }
            (state.told, state.toldAt) = (level, now)
            return (level, hours)
        }
        guard let level else { return }
        var fields: [(key: StaticString, value: LogValue)] = [
            ("freeBytes", .number(Int64(room.freeBytes))),
            ("diskBytes", .number(Int64(room.diskBytes))),
        ]
        if let hours { fields.append(("hoursLeft", .number(Int64(hours)))) }
        switch level {
        case .enough: break
        case .low: log.warning("the disk of the data has little room left", fields)
        case .used: log.error("the disk of the data is used up: uploads are refused", fields)
        }
    }
}
