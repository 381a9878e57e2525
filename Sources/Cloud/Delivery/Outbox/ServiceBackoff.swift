import Background
import Synchronization

/// Pauses before the next attempt at services that are busy or do not answer.
///
/// Many destinations lie behind one service. When an attempt for one of them shows that the service
/// itself is in trouble, the others need not try.
final class ServiceBackoff: Sendable {
    private static let secondsMax = 60
    private static let servicesMax = 1_024

    private struct Pause {
        var failures = 0
        var until: Int64 = 0
    }

    private let backoff: Backoff
    private let pauses = Mutex<[String: Pause]>([:])

    init(_ backoff: Backoff) { self.backoff = backoff }

    /// For how many seconds a service is still left alone; nil when it is not.
    func remaining(_ service: String, seconds: Int64) -> Int? {
        let left = pauses.withLock { $0[service]?.until ?? 0 } - seconds
        return left > 0 ? Int(clamping: left) : nil
    }

    /// Notes that a service is in trouble.
    ///
    /// It is left alone for as long as it asks, or for twice as long as before.
    func fail(_ service: String, asked: Int?, seconds: Int64) {
        pauses.withLock { all in
            if all.count >= Self.servicesMax { all = [:] }
            var pause = all[service] ?? Pause()
            // Attempts made at the same time report the same trouble.
            if pause.until > seconds { return }
            pause.failures = min(pause.failures + 1, 16)
            let own = (backoff.milliseconds(after: pause.failures) + 999) / 1_000
            pause.until =
                seconds + (asked.map { Int64(min(max($0, 1), Self.secondsMax)) } ?? own)
            all[service] = pause
        }
    }

    /// A service has answered.
    func succeed(_ service: String) {
        pauses.withLock { if $0[service] != nil { $0[service] = nil } }
    }
}
