import Configuration
import Server
import Synchronization

/// Reads the settings anew: takes what can be taken while the server runs, and names what waits for a restart.
final class SettingsReload: Sendable {
    /// What is taken at once; certificates and keys are read again wherever their files are the same.
    private static let taken: Set = ["log.level"]

    private let read: @Sendable () throws -> LoadedConfiguration
    private let running: ServerConfiguration
    private let log: Log

    /// - Parameters:
    ///   - loaded: what the server was started with.
    ///   - read: reads file, environment and options again.
    init(
        _ loaded: LoadedConfiguration, _ log: Log,
        read: @escaping @Sendable () throws -> LoadedConfiguration
    ) {
        (running, self.log, self.read) = (loaded.values, log, read)
    }

    /// Settings that cannot be used change nothing.
    func run() {
        let fresh: LoadedConfiguration
        do { fresh = try read() } catch {
            return log.error("settings not reloaded", [("failure", .text("\(error)"))])
        }
        log.write(from: LogLevel(fresh.values.log.level))
        for warning in fresh.warnings {
            log.warning("odd setting", [("warning", .text(warning))])
        }
        let waiting = running.differences(from: fresh.values).filter { !Self.taken.contains($0) }
        guard waiting.isEmpty else {
            return log.warning(
                "settings reloaded; some wait for a restart",
                [("settings", .text(waiting.joined(separator: " ")))])
        }
        log.info("settings reloaded")
    }
}
