import CloudModel
import Fairness

/// Where a request is being answered.
enum Executor: Sendable, Equatable {
    /// On the thread of an event loop, which must not be held up.
    case loop(Int)
    /// On a thread that may block for a while.
    case worker(Workers.Lane)

    /// The event loop whose thread this is; nil on a worker.
    var loop: Int? {
        if case .loop(let number) = self { number } else { nil }
    }

    /// Whether waiting here for another caller's commit holds up nobody.
    var mayWaitForCommits: Bool { self == .worker(.commits) }
}

/// The threads for what is too long for an event loop.
typealias Workers = WorkPool<Principal>

extension Fault {
    /// The fault for a caller with more waiting work than the workers accept.
    static func throttled(_ refusal: WorkRefusal) -> Fault {
        var fault = Fault(
            .throttled,
            refusal == .principalIsFull
                ? "too many of your requests are waiting; send fewer at once"
                : "too many requests are waiting (limits.waitingMax); try again")
        fault.retryAfterSeconds = 2
        fault.cause = .workWaiting
        return fault
    }
}
