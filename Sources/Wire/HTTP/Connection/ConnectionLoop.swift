import Network
import Synchronization

/// What the connections of one event loop share; on that loop's thread only.
final class ConnectionLoop: @unchecked Sendable {
    // Unchecked: all that changes is touched by the loop's thread alone.

    static let readBytes = 64 * 1024

    let events: EventLoop
    let limits: WireLimits
    let gzip: GzipPolicy
    let responder: any Responder
    let observer: WireObserver
    let isTrustedProxy: @Sendable (String) -> Bool
    let counters = WireCounters()
    let compressor = Compressor()
    let files: FileWorkers
    let bodies: BodyBudget
    let waiting: WaitingBytes
    private let budget: ConnectionBudget
    let output = OutputBuffer(capacity: 64 * 1024)
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: ConnectionLoop.readBytes, alignment: 16)
    /// What a full read buffer decrypts to, and the rest of a record from before.
    let plainBuffer = UnsafeMutableRawBufferPointer.allocate(
        byteCount: ConnectionLoop.readBytes + 32 * 1024, alignment: 16)
    /// Where the output of the current connection begins.
    ///
    /// What lies before belongs to another connection, whose responder caused this one to be
    /// answered.
    var outputStart = 0
    private(set) var isDraining = false

    private var identifiers = RequestIdentifiers()
    private var date = HTTPDate()
    private let wallSeconds: @Sendable () -> Int64
    private var openCount = 0
    private var drainDeadline = UInt64.max
    private var whenDrained: (@Sendable () -> Void)?

    init(
        events: EventLoop, configuration: HTTPServer.Configuration, budget: ConnectionBudget,
        bodies: BodyBudget, files: FileWorkers, responder: any Responder, observer: WireObserver
    ) {
        self.events = events
        self.budget = budget
        self.bodies = bodies
        self.files = files
        limits = configuration.limits
        waiting = WaitingBytes(
            bytesMax: configuration.limits.waitingBytesMax / max(1, configuration.loopCount))
        gzip = configuration.gzip
        wallSeconds = configuration.wallSeconds
        isTrustedProxy = configuration.isTrustedProxy
        self.responder = responder
        self.observer = observer
    }

    deinit {
        readBuffer.deallocate()
        plainBuffer.deallocate()
    }

    func nextID() -> String { identifiers.nextID() }

    /// The `Date` field as of now.
    func currentDate() -> HTTPDate {
        date.update(seconds: wallSeconds())
        return date
    }

    /// Takes over an accepted socket that the budget has counted.
    ///
    /// - Parameter fault: what to answer to any request, instead of serving it.
    func adopt(
        _ accepted: AcceptedSocket, tls context: TLSContext?, refusing fault: WireFault? = nil
    ) {
        let tls = context?.makeSession()
        // Before a handshake no refusal can be sent.
        if isDraining || (context != nil && (tls == nil || fault != nil)) {
            budget.give(accepted.block)
            accepted.socket.close()
            return
        }
        let connection = HTTPConnection(accepted, tls: tls, on: self)
        do {
            try events.register(
                accepted.socket.descriptor, connection, interest: .readable)
        } catch {
            budget.give(accepted.block)
            accepted.socket.close()
            return
        }
        openCount += 1
        WireCounters.add(1, to: counters.connectionsOpened)
        if let fault { connection.refuse(fault) }
    }

    func connectionClosed(from block: AddressBlock?) {
        openCount -= 1
        budget.give(block)
        if openCount == 0 && (waiting.total != 0 || compressor.streamCount != 0) {
            observer.broken("a loop without connections keeps nothing for connections")
        }
        WireCounters.add(1, to: counters.connectionsClosed)
        if isDraining { reportIfDrained() }
    }

    /// Serves what has begun and nothing more; calls back once no connection is left.
    func drain(untilMilliseconds deadline: UInt64, whenDrained: @escaping @Sendable () -> Void) {
        isDraining = true
        drainDeadline = deadline
        self.whenDrained = whenDrained
        events.sweep()
        reportIfDrained()
    }

    /// True once a drain has used up its time.
    var isDrainOver: Bool { events.now >= drainDeadline }

    private func reportIfDrained() {
        guard openCount == 0, let report = whenDrained else { return }
        whenDrained = nil
        report()
    }
}
