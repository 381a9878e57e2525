import CloudKitWire
import Foundation

/// What a test waited for has not come in time.
public struct NothingCame: Error, Equatable, CustomStringConvertible {
    /// What was waited for.
    public let awaited: String
    /// What came instead, where that is known.
    public let instead: [String]

    /// What was waited for, and what came instead.
    public var description: String { "waited for \(awaited); there was \(instead)" }
}

/// Tasks that wait until something holds, each up to a deadline.
final class Waiters: Sendable {
    private struct Waiter {
        let isOver: @Sendable () -> Bool
        let continuation: CheckedContinuation<Bool, Never>
        let deadline: Task<Void, any Error>
    }

    private struct Contents {
        var waiting: [Int: Waiter] = [:]
        var last = 0
    }

    private let contents = Locked(Contents())

    /// Waits until something holds, which is looked at now and whenever `look` is called.
    ///
    /// - Returns: whether it holds; false after so many seconds.
    func wait(within seconds: Double, until isOver: @escaping @Sendable () -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            contents.withLock { contents in
                if isOver() {
                    continuation.resume(returning: true)
                    return
                }
                contents.last += 1
                let number = contents.last
                let deadline = Task { [weak self] in
                    try await Task.sleep(nanoseconds: UInt64(seconds * 1e9))
                    self?.giveUp(number)
                }
                contents.waiting[number] = Waiter(
                    isOver: isOver, continuation: continuation, deadline: deadline)
            }
        }
    }

    private func giveUp(_ number: Int) {
        let late = contents.withLock { $0.waiting.removeValue(forKey: number) }
        late?.continuation.resume(returning: false)
    }

    /// Lets those go on whose time has come; to be called without the lock of what they wait for.
    func look() {
        contents.withLock { contents in
            for (number, waiter) in contents.waiting where waiter.isOver() {
                contents.waiting[number] = nil
                waiter.deadline.cancel()
                waiter.continuation.resume(returning: true)
            }
        }
    }
}
