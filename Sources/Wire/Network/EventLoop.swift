import CNetwork
import Synchronization

/// What an event loop calls for one descriptor, always on the loop's thread.
package protocol SocketHandler: AnyObject {
    /// The descriptor may be ready; also called in vain, so "would block" is no error here.
    func ready(_ readiness: Readiness)
    /// A moment to look at deadlines, about once a second.
    func sweep(now: UInt64)
}

/// One thread that waits for sockets and runs what is posted to it.
///
/// It is level-triggered, and its time is coarse. About once a second, it asks handlers to check
/// their deadlines, so a connection needs no timer of its own.
package final class EventLoop: @unchecked Sendable {
    // Unchecked: everything but the inbox and the wake descriptors belongs to the loop's thread.

    /// From 0, among the loops of one server.
    package let index: Int
    /// The time of the last wake-up, in the clock's milliseconds; on the loop's thread only.
    package private(set) var now: UInt64

    static let sweepMilliseconds: UInt64 = 1000
    /// How much of what was posted is done before sockets are looked at again, at most.
    private static let workPerTurnMax = 64
    /// How long it is done for, in the clock's milliseconds; then sockets are looked at.
    private static let workMillisecondsMax: UInt64 = 2

    private struct Inbox {
        var work: [@Sendable () -> Void] = []
        var isWoken = false
    }

    private let name: String
    private let clock: MonotonicClock
    private let poller: Poller
    private let wakeDescriptors: (reading: Int32, writing: Int32)
    private let inbox = Mutex(Inbox())
    private let thread = Thread()
    /// What was posted and waits for its turn.
    private var backlog: [@Sendable () -> Void] = []
    /// How much of the backlog is done.
    private var doneCount = 0
    private var handlers: ContiguousArray<(any SocketHandler)?> = []
    private var handlerCount = 0
    private var watchers: [any SocketHandler] = []
    private var nextSweep: UInt64
    private var isStopping = false

    /// - Parameter name: of its thread, by which tools show it; `loop-INDEX` without one.
    package init(
        index: Int, name: String? = nil, clock: MonotonicClock = .system
    ) throws(SystemError) {
        self.index = index
        self.name = name ?? "loop-\(index)"
        self.clock = clock
        now = clock.milliseconds()
        nextSweep = now &+ Self.sweepMilliseconds
        poller = try Poller()
        var pair: [Int32] = [0, 0]
        _ = try SystemCall.require("eventfd") { Int(network_wake_open(&pair)) }
        wakeDescriptors = (pair[0], pair[1])
        try poller.set(pair[0], from: [], to: .readable)
    }

    deinit {
        _ = network_close(wakeDescriptors.reading)
        if wakeDescriptors.writing != wakeDescriptors.reading {
            _ = network_close(wakeDescriptors.writing)
        }
    }

    /// Starts the thread.
    package func start() throws(SystemError) {
        try thread.start(name: name) { self.run() }
    }

    /// Ends the thread after the work already posted; callable from any thread but the loop's.
    package func stopAndJoin() {
        post { self.isStopping = true }
        thread.join()
    }

    /// True on the loop's own thread.
    package var isCurrent: Bool { thread.isCurrent }

    /// Runs work on the loop's thread, soon; many posts cost one wake-up.
    package func post(_ work: @escaping @Sendable () -> Void) {
        let mustWake = inbox.withLock { inbox in
            inbox.work.append(work)
            if inbox.isWoken { return false }
            inbox.isWoken = true
            return true
        }
        // The loop empties the inbox before it waits, so its own thread needs no wake-up.
        if mustWake && !isCurrent {
            let descriptor = wakeDescriptors.writing
            // NB: "would block" means that the counter is full: then the loop is awake anyway.
            _ = SystemCall.run("write") { Int(network_wake_signal(descriptor)) }
        }
    }

    /// Begins to watch a descriptor; on the loop's thread only.
    package func register(
        _ descriptor: Int32, _ handler: any SocketHandler, interest: Readiness
    ) throws(SystemError) {
        try poller.set(descriptor, from: [], to: interest)
        let slot = Int(descriptor)
        while handlers.count <= slot { handlers.append(nil) }
        if handlers[slot] == nil { handlerCount += 1 }
        handlers[slot] = handler
    }

    /// Watches for something else; on the loop's thread only.
    package func change(
        _ descriptor: Int32, from: Readiness, to: Readiness
    ) throws(SystemError) {
        try poller.set(descriptor, from: from, to: to)
    }

    /// Forgets a descriptor that is about to be closed; on the loop's thread only.
    package func deregister(_ descriptor: Int32) {
        let slot = Int(descriptor)
        guard slot < handlers.count, handlers[slot] != nil else { return }
        handlers[slot] = nil
        handlerCount -= 1
        poller.forget(descriptor)
    }

    /// Asks also somebody who has no descriptor to check deadlines, as long as the loop runs; on the
    /// loop's thread only.
    package func attach(_ watcher: any SocketHandler) {
        watchers.append(watcher)
        handlerCount += 1
    }

    /// Asks every handler to check its deadlines now; on the loop's thread only.
    package func sweep() {
        now = clock.milliseconds()
        nextSweep = now &+ Self.sweepMilliseconds
        for slot in handlers.indices {
            if let handler = handlers[slot] { handler.sweep(now: now) }
        }
        for watcher in watchers { watcher.sweep(now: now) }
    }
}

extension EventLoop {
    private func run() {
        let events = UnsafeMutableBufferPointer<network_event>.allocate(
            capacity: Poller.eventsPerWait)
        events.initialize(repeating: network_event())
        defer { events.deallocate() }
        while !isStopping {
            let count: Int
            do {
                count = try poller.wait(events, timeoutMilliseconds: timeoutMilliseconds())
            } catch {
                preconditionFailure("an event loop cannot wait: \(error)")
            }
            now = clock.milliseconds()
            for event in events.prefix(count) { dispatch(event) }
            runInbox()
            if now >= nextSweep { sweep() }
        }
    }

    private func dispatch(_ event: network_event) {
        if event.descriptor == wakeDescriptors.reading {
            // NB: nothing to clear is as good as cleared.
            _ = SystemCall.run("read") { Int(network_wake_clear(event.descriptor)) }
            return
        }
        let slot = Int(event.descriptor)
        guard slot < handlers.count, let handler = handlers[slot] else { return }
        handler.ready(Readiness(rawValue: event.readiness))
    }

    private func runInbox() {
        if doneCount == backlog.count {
            doneCount = 0
            backlog = inbox.withLock { inbox in
                inbox.isWoken = false
                if inbox.work.isEmpty { return [] }
                let work = inbox.work
                inbox.work = []
                return work
            }
        }
        guard doneCount < backlog.count else { return }
        let end = min(doneCount + Self.workPerTurnMax, backlog.count)
        let began = clock.milliseconds()
        repeat {
            doneCount += 1
            backlog[doneCount - 1]()
        } while doneCount < end && clock.milliseconds() &- began < Self.workMillisecondsMax
        if doneCount == backlog.count { (backlog, doneCount) = ([], 0) }
    }

    private func timeoutMilliseconds() -> Int32 {
        if doneCount < backlog.count || inbox.withLock({ !$0.work.isEmpty }) { return 0 }
        if handlerCount == 0 { return -1 }
        return Int32(Self.sweepMilliseconds)
    }
}
