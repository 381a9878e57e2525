import CloudModel
import Dispatch
import Files
import Synchronization
import WebServices

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes events to a descriptor without ever making the one who reports them wait.
///
/// Lines wait in a bounded buffer that a queue of its own drains. When the reader of the log is
/// slower than the events, lines are dropped and counted, and an event says how many.
package final class Log: Sendable {
    private struct Buffer {
        var waiting: [UInt8] = []
        var droppedSinceReport = 0
        var isDrainDue = false
        var isDrainUrgent = false
    }

    /// Of lines that wait to be written.
    package static let bufferBytesMax = 1_048_576
    /// How long a line may wait for others, so that many cost one write.
    private static let delayMilliseconds = 20
    /// Lines of so many bytes are written without further delay.
    private static let urgentBytes = 65_536

    private let format: LogFormat
    private let leastWeight: Atomic<Int>
    private let descriptor: Int32
    private let clock: Clock
    private let bufferBytesMax: Int
    private let buffer = Mutex(Buffer())
    private let dropped = Atomic<Int>(0)
    private let leftOut = Atomic<Int>(0)
    private let sampler = Mutex(LineSampler())
    /// Whether lines of requests say where on the network they came from.
    package let showsClients: Bool
    private let queue = DispatchQueue(label: "lenticular.log", qos: .utility)

    /// - Parameters:
    ///   - level: events of less weight are not written.
    ///   - descriptor: stays open and the caller's own.
    package init(
        format: LogFormat, level: LogLevel = .info, descriptor: Int32 = STDOUT_FILENO, clock: Clock,
        bufferBytesMax: Int = Log.bufferBytesMax, showsClients: Bool = false
    ) {
        self.showsClients = showsClients
        self.format = format
        leastWeight = Atomic(level.weight)
        self.descriptor = descriptor
        self.clock = clock
        self.bufferBytesMax = bufferBytesMax
    }

    /// Lines that were never written, since the start.
    package var droppedCount: Int { dropped.load(ordering: .relaxed) }

    /// Lines of anonymous requests that were not written because there were too many, since the start.
    package var leftOutCount: Int { leftOut.load(ordering: .relaxed) }

    /// Whether events of this weight are written at all, to spare the making of others.
    package func isWritten(_ level: LogLevel) -> Bool {
        level.weight >= leastWeight.load(ordering: .relaxed)
    }

    /// Writes events of this weight and more from now on.
    package func write(from level: LogLevel) {
        leastWeight.store(level.weight, ordering: .relaxed)
    }

    /// Reports an event, from any thread; never blocks on the log's reader.
    package func report(_ event: LogEvent) {
        guard isWritten(event.level) else { return }
        write(event.line(at: clock.now(), as: format))
    }

    /// Reports a finished request, from any thread; never blocks on the log's reader.
    package func report(_ request: RequestObservation) {
        guard isWritten(.info), !request.isAnonymous || takesNext() else { return }
        switch format {
        case .json:
            write(
                RequestLine.bytes(for: request, at: clock.now(), showsClient: showsClients))
        case .text:
            write(
                LogEvent(request, showsClient: showsClients).line(at: clock.now(), as: format))
        }
    }

    /// Reports what anybody can cause; above a rate only some of it is written (`LineSampler`).
    package func sampled(
        _ message: StaticString, _ fields: @autoclosure () -> [(key: StaticString, value: LogValue)]
    ) {
        guard isWritten(.info), takesNext() else { return }
        info(message, fields())
    }

    private func takesNext() -> Bool {
        let now = clock.now()
        let (isWritten, before) = sampler.withLock { $0.takeNext(now: now) }
        if before > 0 {
            info("lines of anonymous requests left out", [("lines", .number(Int64(before)))])
        }
        if !isWritten { leftOut.add(1, ordering: .relaxed) }
        return isWritten
    }

    private func write(_ line: [UInt8]) {
        let drain: DrainDue = buffer.withLock { buffer in
            guard buffer.waiting.count + line.count <= bufferBytesMax else {
                buffer.droppedSinceReport += 1
                dropped.add(1, ordering: .relaxed)
                return .known
            }
            buffer.waiting.append(contentsOf: line)
            if buffer.waiting.count >= Self.urgentBytes, !buffer.isDrainUrgent {
                buffer.isDrainUrgent = true
                return .now
            }
            guard !buffer.isDrainDue else { return .known }
            buffer.isDrainDue = true
            return .soon
        }
        switch drain {
        case .known: break
        case .now: queue.async { self.drain() }
        case .soon:
            queue.asyncAfter(deadline: .now() + .milliseconds(Self.delayMilliseconds)) {
                self.drain()
            }
        }
    }

    private enum DrainDue { case known, soon, now }

    package func info(
        _ message: StaticString, _ fields: [(key: StaticString, value: LogValue)] = []
    ) {
        report(LogEvent(.info, message, fields))
    }

    package func warning(
        _ message: StaticString, _ fields: [(key: StaticString, value: LogValue)] = []
    ) {
        report(LogEvent(.warning, message, fields))
    }

    package func error(
        _ message: StaticString, _ fields: [(key: StaticString, value: LogValue)] = []
    ) {
        report(LogEvent(.error, message, fields))
    }

    /// Waits until what was reported before is written, or until the time is up.
    ///
    /// - Returns: whether all of it was written.
    @discardableResult
    package func flush(withinSeconds seconds: Double = 2) -> Bool {
        let done = DispatchSemaphore(value: 0)
        queue.async {
            self.drain()
            done.signal()
        }
        return done.wait(timeout: .now() + seconds) == .success
    }

    private func drain() {
        while true {
            let (bytes, droppedNow) = buffer.withLock { buffer in
                let taken = (buffer.waiting, buffer.droppedSinceReport)
                buffer.waiting = []
                buffer.droppedSinceReport = 0
                if taken.0.isEmpty, taken.1 == 0 {
                    buffer.isDrainDue = false
                    buffer.isDrainUrgent = false
                }
                return taken
            }
            if bytes.isEmpty, droppedNow == 0 { return }
            put(bytes)
            if droppedNow > 0 {
                let event = LogEvent(
                    .warning, "log lines dropped", [("count", .number(Int64(droppedNow)))])
                put(event.line(at: clock.now(), as: format))
            }
        }
    }

    private func put(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let slice = UnsafeRawBufferPointer(rebasing: rest)
                let count = systemWrite(descriptor, slice.baseAddress, slice.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if count < 0, errno == EAGAIN {
                    var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&poller, 1, 1_000)
                } else if count < 0, errno == EINTR {
                    continue
                } else {
                    // NB: a log without a reader must not stop the server; the loss is counted.
                    dropped.add(rest.count { $0 == UInt8(ascii: "\n") }, ordering: .relaxed)
                    return
                }
            }
        }
    }
}
