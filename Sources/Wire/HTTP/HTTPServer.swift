import Dispatch
import Network
import Platform
import Synchronization

/// An HTTP/1.1 server: listeners, event loops, one responder.
package final class HTTPServer: Sendable {
    /// An address to listen on, with TLS or without.
    package struct Endpoint: Sendable {
        package var address: ListenAddress
        package var tls: TLSContext?

        package init(_ address: ListenAddress, tls: TLSContext? = nil) {
            self.address = address
            self.tls = tls
        }
    }

    /// What a server is made of.
    package struct Configuration: Sendable {
        package var endpoints: [Endpoint]
        package var limits = WireLimits()
        /// Event loops, each on a thread of its own.
        package var loopCount = HTTPServer.coreCount
        package var gzip = GzipPolicy.remote
        /// The permissions of the files of Unix sockets.
        package var unixMode: UInt32 = 0o660
        /// What deadlines are measured by.
        package var clock = MonotonicClock.system
        /// Whether an address is that of a proxy whose `X-Forwarded-For` is believed.
        package var isTrustedProxy: @Sendable (String) -> Bool = { _ in false }
        /// Seconds since 1970-01-01T00:00:00Z, for the `Date` field.
        package var wallSeconds: @Sendable () -> Int64 = { Int64(time(nil)) }

        package init(endpoints: [Endpoint]) { self.endpoints = endpoints }

        /// Without TLS on any of the addresses.
        package init(addresses: [ListenAddress]) {
            self.init(endpoints: addresses.map { Endpoint($0) })
        }
    }

    /// Addresses that are bound, at which nobody accepts yet; let go with the last copy.
    package struct Binding: Sendable {
        fileprivate let listeners: [Listener]

        /// - Throws: when an address cannot be bound; then nothing is left open.
        package init(_ configuration: Configuration) throws(StartFailure) {
            var listeners: [Listener] = []
            for address in configuration.endpoints.map(\.address) {
                do throws(SystemError) {
                    listeners.append(try Listener(address, unixMode: configuration.unixMode))
                } catch {
                    throw StartFailure(address: address, error: error)
                }
            }
            self.listeners = listeners
        }

        /// In the order configured, with the ports that were chosen where port 0 was asked for.
        package var addresses: [ListenAddress] { listeners.map(\.address) }
    }

    private struct State {
        var listeners: [Listener] = []
        var hasStarted = false
        var hasEnded = false
    }

    private let configuration: Configuration
    private let loops: [ConnectionLoop]
    private let state = Mutex(State())
    private let nextLoop = Atomic<Int>(0)
    private let budget: ConnectionBudget
    /// The memory of request bodies.
    package let bodies: BodyBudget

    /// - Parameter responder: called for each request on the event loops' threads.
    /// - Throws: when the system has no descriptors for the loops.
    package init(
        _ configuration: Configuration, responder: any Responder,
        observer: WireObserver = WireObserver()
    ) throws(SystemError) {
        self.configuration = configuration
        let budget = ConnectionBudget(
            limit: configuration.limits.connectionCountMax,
            limitPerAddress: configuration.limits.connectionsPerAddressMax)
        let limits = configuration.limits
        let bodies = BodyBudget(
            bytesMax: limits.bodyMemoryBytesMax,
            bodyBytesMax: max(limits.bodyBytesMax, limits.inflatedBodyBytesMax))
        let files = FileWorkers()
        var loops: [ConnectionLoop] = []
        for index in 0..<max(1, configuration.loopCount) {
            let events = try EventLoop(index: index, clock: configuration.clock)
            loops.append(
                ConnectionLoop(
                    events: events, configuration: configuration, budget: budget,
                    bodies: bodies, files: files, responder: responder, observer: observer))
        }
        self.loops = loops
        self.budget = budget
        self.bodies = bodies
    }

    /// Binds all addresses, starts the loops, and begins to accept.
    ///
    /// - Returns: the addresses in use, as `Binding` has them.
    /// - Throws: when an address cannot be bound; then nothing is left open.
    package func start() throws(StartFailure) -> [ListenAddress] {
        let binding = try Binding(configuration)
        try start(on: binding)
        return binding.addresses
    }

    /// Starts the loops, and begins to accept where its own configuration has been bound.
    ///
    /// - Throws: when the system has no threads.
    package func start(on binding: Binding) throws(StartFailure) {
        do throws(SystemError) {
            for loop in loops { try loop.events.start() }
        } catch {
            throw StartFailure(address: nil, error: error)
        }
        state.withLock {
            $0.listeners = binding.listeners
            $0.hasStarted = true
        }
        loops[0].events.post { self.startListeners() }
    }

    /// Why the server does not start.
    package struct StartFailure: Error, CustomStringConvertible {
        /// The one that cannot be listened at; nil when that is not the reason.
        package let address: ListenAddress?
        package let error: SystemError

        package var description: String {
            guard let address else { return "cannot start: \(error)" }
            let isTaken = error.code == EADDRINUSE
            return "cannot listen at \(address): "
                + (isTaken ? "another program listens there already" : "\(error)")
        }
    }

    /// Stops accepting, finishes what runs, ends the loops; returns when all of it is done.
    ///
    /// Closes idle connections at once, and others after their answer. Who has just connected has about a second for a
    /// request. After so many seconds by the server's clock, it closes all of them. Called from any thread but the
    /// loops', once.
    package func drain(withinSeconds seconds: Int) {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return state.hasStarted && !state.hasEnded
        }
        guard isFirst else { return }
        let deadline =
            configuration.clock.milliseconds() &+ UInt64(max(0, seconds)) &* 1000
        let loopsDone = DispatchGroup()
        loopsDone.enter()
        loops[0].events.post {
            self.stopListeners()
            loopsDone.leave()
        }
        // By now every loop has what was accepted.
        loopsDone.wait()
        for loop in loops {
            loopsDone.enter()
            loop.events.post {
                loop.drain(untilMilliseconds: deadline) { loopsDone.leave() }
            }
        }
        loopsDone.wait()
        for loop in loops { loop.events.stopAndJoin() }
    }

    /// Has every connection's deadline checked now instead of within a second.
    ///
    /// For those who moved the clock that was handed in; returns when it is done. Not to be called
    /// on a loop's thread.
    package func checkDeadlines() {
        let loopsDone = DispatchGroup()
        for loop in loops {
            loopsDone.enter()
            loop.events.post {
                loop.events.sweep()
                loopsDone.leave()
            }
        }
        loopsDone.wait()
    }

    /// What the wire has done since the start.
    package func counts() -> WireCounts {
        var counts = WireCounts()
        for loop in loops { loop.counters.add(to: &counts) }
        return counts
    }

    /// The processors of this machine.
    package static var coreCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}

extension HTTPServer {
    private func startListeners() {
        state.withLock { state in
            for (listener, endpoint) in zip(state.listeners, configuration.endpoints) {
                // NB: a listener that cannot be watched is one that never accepts; the kernel
                // refuses this only without memory, where nothing else would work either.
                try? listener.start(on: loops[0].events) { [weak self] in
                    self?.place($0, endpoint.tls)
                }
            }
        }
    }

    private func stopListeners() {
        let listeners = state.withLock { state in
            defer { state.listeners = [] }
            return state.listeners
        }
        for listener in listeners { listener.stop() }
    }

    /// Hands an accepted socket to the next loop in turn; on the first loop's thread.
    private func place(_ accepted: AcceptedSocket, _ tls: TLSContext?) {
        let fault: WireFault?
        let isExempt = configuration.isTrustedProxy(accepted.address)
        switch budget.take(accepted.block, isExempt: isExempt) {
        case .served: fault = nil
        case .refused(let reason): fault = reason
        case .dropped:
            accepted.socket.close()
            return
        }
        let turn = nextLoop.wrappingAdd(1, ordering: .relaxed).oldValue
        let loop = loops[Int(UInt(bitPattern: turn) % UInt(loops.count))]
        if loop.events.isCurrent {
            loop.adopt(accepted, tls: tls, refusing: fault)
        } else {
            loop.events.post { loop.adopt(accepted, tls: tls, refusing: fault) }
        }
    }
}
