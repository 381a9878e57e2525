import CloudModel
import Configuration
import Synchronization

/// What a data folder is told of the process that has it: where its settings were said, and what serves it.
package final class ServingNote: Sendable {
    private struct State {
        var origins: [String: ConfigurationError.Origin] = [:]
        var since: Milliseconds?
        weak var backups: BackupRounds?
    }

    private let state = Mutex(State())

    /// Where settings were said, by their paths; those that have their default are left out.
    var origins: [String: ConfigurationError.Origin] { state.withLock { $0.origins } }

    /// Since when a server has it; nil for a command.
    var since: Milliseconds? { state.withLock { $0.since } }

    /// Nil where no server has it, or it makes none.
    var backups: BackupRounds? { state.withLock { $0.backups } }

    /// Notes where settings were said, and since when a server has the folder.
    package func note(_ loaded: LoadedConfiguration, since: Milliseconds? = nil) {
        state.withLock { ($0.origins, $0.since) = (loaded.origins, since) }
    }

    func note(_ backups: BackupRounds) { state.withLock { $0.backups = backups } }
}
