import Storage
import Synchronization

/// What the openings of stores have found, counted and passed on to the log.
package final class StoreReports: Sendable {
    private struct State {
        var behind = 0
        /// What was told before anybody listened.
        var untold: [(Stores.Key, StoreReport)] = []
        var receive: (@Sendable (Stores.Key, StoreReport) -> Void)?
    }

    private let state = Mutex(State())

    /// How many stores had less than they had acknowledged.
    package var behindCount: Int { state.withLock { $0.behind } }

    /// Sets the closure that hears what openings have found, and what they will find.
    func observe(_ receive: @escaping @Sendable (Stores.Key, StoreReport) -> Void) {
        let untold = state.withLock { state in
            state.receive = receive
            defer { state.untold = [] }
            return state.untold
        }
        for (key, report) in untold { receive(key, report) }
    }

    func tell(_ key: Stores.Key, _ report: StoreReport) {
        let receive = state.withLock { state in
            if case .behind = report { state.behind += 1 }
            if state.receive == nil { state.untold.append((key, report)) }
            return state.receive
        }
        receive?(key, report)
    }
}

extension Log {
    /// Writes that a store's file is not there, or another's: its requests are refused, and others are served.
    func tellMissing(_ key: Stores.Key) {
        error(
            "a store is missing; requests to it are refused, and `check` says more",
            [
                ("container", .text(key.container.name)),
                ("environment", .text(key.environment.rawValue)),
            ])
    }

    /// Writes what somebody should know of a store.
    func tell(_ report: StoreReport, of key: Stores.Key) {
        let location: [(key: StaticString, value: LogValue)] = [
            ("container", .text(key.container.name)),
            ("environment", .text(key.environment.rawValue)),
        ]
        switch report {
        case .behind(let last, let acknowledged):
            error(
                "a store has lost what it had acknowledged",
                location + [("last", .number(last)), ("acknowledged", .number(acknowledged))])
        case .movedAside(let path):
            warning("files that no store owns were put aside", location + [("path", .text(path))])
        case .damaged(let version):
            error(
                "a record is not what was written",
                location + [
                    ("zone", .number(version.zone.value)), ("position", .number(version.position)),
                ])
        }
    }
}
