import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What another thread tells once, and a test waits for on its own thread.
///
/// Tests of what runs on threads do not suspend. Who suspends goes on only after all the other tests that
/// are waiting for a thread, which may take minutes: by then connections have been idle for too long.
package final class Awaited<Value: Sendable>: Sendable {
    private let told = Mutex<Value?>(nil)
    private let isTold = DispatchSemaphore(value: 0)

    package init() {}

    /// From any thread.
    package func tell(_ value: Value) {
        told.withLock { $0 = value }
        isTold.signal()
    }

    /// Waits for it.
    ///
    /// - Throws: `WaitedInVain`.
    package func value() throws -> Value {
        guard isTold.wait(timeout: .now() + .seconds(Wait.seconds)) == .success,
            let value = told.withLock({ $0 })
        else { throw WaitedInVain() }
        isTold.signal()
        return value
    }
}

/// How long a test waits for what other threads and processes do, before it fails.
package enum Wait {
    /// Far more than it takes on a machine that is busy with other tests.
    package static let seconds = 120

    /// Waits until it holds.
    ///
    /// - Throws: `WaitedInVain`.
    package static func until(_ isSo: () throws -> Bool) throws {
        let end = DispatchTime.now() + .seconds(seconds)
        while try !isSo() {
            guard DispatchTime.now() < end else { throw WaitedInVain() }
            sched_yield()
        }
    }
}

/// What a test has waited for did not come.
package struct WaitedInVain: Error {}
