import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Turns the process's signals into calls on a queue.
package final class Signals: Sendable {
    private let queue = DispatchQueue(label: "lenticular.signals")
    // Dispatch's own objects may be used from any thread; only their Swift class does not say so.
    private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

    /// Takes over the signals from now on; SIGPIPE does nothing any more.
    ///
    /// - Parameters:
    ///   - onStop: called for each SIGTERM and SIGINT, with how many came before.
    ///   - onReload: called for each SIGHUP.
    package init(
        onStop: @escaping @Sendable (_ previous: Int) -> Void,
        onReload: @escaping @Sendable () -> Void
    ) {
        signal(SIGPIPE, SIG_IGN)
        let count = Count()
        let queue = queue
        sources = [SIGTERM, SIGINT, SIGHUP].map { number in
            // Dispatch sees only signals that the process ignores.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                if number == SIGHUP { return onReload() }
                onStop(count.previous.wrappingAdd(1, ordering: .relaxed).oldValue)
            }
            source.activate()
            return source
        }
    }

    /// Lets go of the signals; they then do nothing.
    package func close() {
        for source in sources { source.cancel() }
    }

    private final class Count: Sendable {
        let previous = Atomic(0)
    }
}
