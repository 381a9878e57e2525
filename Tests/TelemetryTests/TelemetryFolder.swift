import CloudModel
import Foundation
import SQLiteStorage
import Synchronization
import Telemetry

/// A database of a test's own, gone with it.
final class TelemetryFolder {
    let path = NSTemporaryDirectory() + "telemetry-\(UUID().uuidString)"
    var file: String { "\(path)/telemetry.sqlite" }

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func open() throws -> SQLiteTelemetry { try SQLiteTelemetry(path: file) }
}

/// A clock that a test moves.
final class TestClock: Sendable {
    private let time: Atomic<Int64>

    init(_ time: Milliseconds) { self.time = Atomic(time) }

    var clock: Clock { Clock { self.time.load(ordering: .relaxed) } }

    func go(to time: Milliseconds) { self.time.store(time, ordering: .relaxed) }
}

extension TelemetryTotals {
    /// Of so many requests that took as long each.
    static func of(_ requests: Int, milliseconds: UInt64 = 2) -> TelemetryTotals {
        var totals = TelemetryTotals()
        for _ in 0..<requests { totals.latency.record(nanoseconds: milliseconds * 1_000_000) }
        return totals
    }
}
