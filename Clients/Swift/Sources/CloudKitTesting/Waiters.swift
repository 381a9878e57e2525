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
final class Waiters: @unchecked Sendable {
    // Unchecked: behind the lock.
    private struct Waiter {
        let isOver: @Sendable () -> Bool
        let continuation: CheckedContinuation<Bool, Never>
        let deadline: Task<Void, any Error>
    }

    private let lock = NSLock()
    private var waiting: [Int: Waiter] = [:]
    private var last = 0

    /// Waits until something holds, which is looked at now and whenever `look` is called.
    ///
    /// - Returns: whether it holds; false after so many seconds.
    func wait(within seconds: Double, until isOver: @escaping @Sendable () -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            lock.withLock {
                if isOver() {
                    continuation.resume(returning: true)
                    return
                }
                last += 1
                let number = last
                let deadline = Task { [weak self] in
                    try await Task.sleep(nanoseconds: UInt64(seconds * 1e9))
                    self?.giveUp(number)
                }
                waiting[number] = Waiter(
                    isOver: isOver, continuation: continuation, deadline: deadline)
            }
        }
    }

    private func giveUp(_ number: Int) {
        lock.withLock { waiting.removeValue(forKey: number) }?.continuation.resume(returning: false)
    }

    /// Lets those go on whose time has come; to be called without the lock of what they wait for.
    func look() {
        lock.withLock {
            for (number, waiter) in waiting where waiter.isOver() {
                waiting[number] = nil
                waiter.deadline.cancel()
                waiter.continuation.resume(returning: true)
            }
        }
    }
}
