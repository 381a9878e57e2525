import Background
import Configuration
import Control
import Network

/// Tells the service manager that the server still answers, for as long as it does.
///
/// Each time it asks the server as a client would. What hangs is not told any more, and the manager starts the server
/// anew (`WatchdogSec` of the unit).
package final class Watchdog: Sendable {
    private let runner = Runner("lenticular.watchdog", qos: .userInitiated) { _ in }

    /// - Parameters:
    ///   - microseconds: the value of `WATCHDOG_USEC`: within which the manager wants to hear; nil where it does not.
    ///   - addresses: where the server listens.
    package init?(
        _ notifier: ServiceNotifier, microseconds: String?, asking addresses: [ListenAddress],
        of configuration: ServerConfiguration
    ) {
        guard let microseconds = microseconds.flatMap({ Int64($0) }), microseconds > 0 else {
            return nil
        }
        let hasTLS = configuration.hasTLS
        runner.use {
            for address in addresses {
                let probe = HealthProbe(address: address)
                if case .tcp = address, hasTLS {
                    try probe.requireListener()
                } else {
                    // A full disk or the end of the work is an answer, too.
                    _ = try probe.readiness()
                }
            }
            notifier.alive()
            return .later(milliseconds: max(1, microseconds / 3_000))
        }
        runner.wake()
    }

    /// Says nothing any more.
    package func stop() { runner.stop() }
}
