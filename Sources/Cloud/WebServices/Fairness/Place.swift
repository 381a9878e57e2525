import CloudModel
import Fairness
import Storage

/// Where a request is being answered.
enum Place: Sendable, Equatable {
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

/// An answer on an event loop turned out to be long, or has waited for a commit.
///
/// A worker makes it again.
struct NeedsWorker: Error {}

/// An answer must wait for a commit, in a place where that would hold up others.
///
/// It is made again where it may wait.
struct WaitsForCommit: Error {}

/// An answer has nothing to show yet, but soon may.
///
/// It waits, and is made again.
struct HeldAnswer: Error {
    /// The places that change when there may be something to show.
    let places: Set<StorePlace>
    /// What to send when it has waited enough.
    let outcome: Result<[UInt8], Fault>
    let millisecondsMax: Int

    init(places: Set<StorePlace>, outcome: Result<[UInt8], Fault>, millisecondsMax: Int) {
        self.places = places
        // It was made with room for far more, which nobody needs while it waits.
        self.outcome = outcome.map { body in body.withUnsafeBytes { Array($0) } }
        self.millisecondsMax = millisecondsMax
    }
}

extension Fault {
    /// The fault for a caller for whom more work waits than the workers accept.
    static func throttled(_ refusal: WorkRefusal) -> Fault {
        var fault = Fault(
            .throttled,
            refusal == .principalIsFull
                ? "too many of your requests are waiting; send fewer at once"
                : "too many requests are waiting (limits.waitingMax); try again")
        fault.retryAfterSeconds = 2
        return fault
    }
}
