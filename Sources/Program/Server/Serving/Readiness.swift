import Control
import Synchronization

/// Whether the server accepts work, and if not, why.
package final class Readiness: Sendable {
    package enum State: Sendable, Equatable {
        case starting, ready, draining
    }

    private let state = Mutex(State.starting)
    private let diskTrouble: @Sendable () -> String?

    /// - Parameter diskTrouble: says in a word what is wrong with the disk; nil when nothing is.
    package init(diskTrouble: @escaping @Sendable () -> String?) {
        self.diskTrouble = diskTrouble
    }

    /// Moves on; a server that drains is never ready again.
    package func become(_ next: State) {
        state.withLock { if $0 != .draining { $0 = next } }
    }

    package var isDraining: Bool { state.withLock { $0 == .draining } }

    /// The answer to `healthcheck` over the control socket.
    var answer: CommandAnswer {
        guard let obstacle else { return CommandAnswer(status: 0) }
        return CommandAnswer(status: 1, error: obstacle)
    }

    /// Why no work is accepted; nil when it is.
    package var obstacle: String? {
        switch state.withLock({ $0 }) {
        case .starting: "starting"
        case .draining: "draining"
        case .ready: diskTrouble()
        }
    }
}
