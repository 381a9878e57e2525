import CloudModel
import Dispatch
import Synchronization

/// Keeps those who put a file in place and note it apart from those who remove it.
///
/// Between a file's coming and its row in the store, and between the row's going and the file's,
/// nobody else may act on the same digest.
///
/// In memory, for the one process: between processes with the same files the store keeps them apart (`AssetRemoval`).
package final class AssetClaims: Sendable {
    private enum State {
        /// How many are putting it in place.
        case held(Int)
        /// It is being removed; who comes meanwhile waits here.
        case removed(waiting: [@Sendable () -> Void])
    }

    private let states = Mutex<[AssetDigest: State]>([:])
    private let suspensions = Mutex(0)
    /// Claims under way.
    private let removals = DispatchGroup()

    package init() {}

    /// Runs a closure once nobody is removing the digest, at once or on the remover's thread; until
    /// `release` nobody will.
    package func hold(_ digest: AssetDigest, _ body: @escaping @Sendable () -> Void) {
        let isFree = states.withLock { states in
            switch states[digest] {
            case nil:
                states[digest] = .held(1)
                return true
            case .held(let count):
                states[digest] = .held(count + 1)
                return true
            case .removed(let waiting):
                states[digest] = .removed(waiting: waiting + [body])
                return false
            }
        }
        if isFree { body() }
    }

    /// Ends what `hold` began.
    package func release(_ digest: AssetDigest) {
        states.withLock { states in
            guard case .held(let count) = states[digest] else { return }
            states[digest] = count > 1 ? .held(count - 1) : nil
        }
    }

    /// Claims for removal what nobody holds.
    ///
    /// - Returns: those that were free; each is to be given back by `unclaim`.
    ///   None while removal is suspended.
    package func claim(_ digests: [AssetDigest]) -> [AssetDigest] {
        suspensions.withLock { suspensions in
            guard suspensions == 0 else { return [] }
            let claimed = states.withLock { states in
                digests.filter { digest in
                    guard states[digest] == nil else { return false }
                    states[digest] = .removed(waiting: [])
                    return true
                }
            }
            for _ in claimed { removals.enter() }
            return claimed
        }
    }

    /// Runs a closure while nothing is removed, as a copy of rows and files needs it.
    ///
    /// Blocks until what is being removed is gone.
    package func withoutRemoval<Value>(_ body: () throws -> Value) rethrows -> Value {
        suspensions.withLock { $0 += 1 }
        defer { suspensions.withLock { $0 -= 1 } }
        removals.wait()
        return try body()
    }

    /// Ends what `claim` began, and lets those go on who waited.
    package func unclaim(_ digests: [AssetDigest]) {
        var next: [@Sendable () -> Void] = []
        states.withLock { states in
            for digest in digests {
                guard case .removed(let waiting) = states[digest] else { continue }
                states[digest] = waiting.isEmpty ? nil : .held(waiting.count)
                next += waiting
                removals.leave()
            }
        }
        for body in next { body() }
    }
}
