import CNetwork
import Platform

/// A connection just accepted, and who is at its other end.
package struct AcceptedSocket: Sendable {
    package let socket: Socket
    /// The numeric address without the port; `unix` for a Unix socket.
    package let address: String
    package let isLoopback: Bool
    /// What the address counts as; nil for a Unix socket.
    package let block: AddressBlock?

    init(socket: Socket, address: String, isLoopback: Bool) {
        self.socket = socket
        self.address = address
        self.isLoopback = isLoopback
        block = AddressBlock(address)
    }
}

/// A listening socket on one event loop.
///
/// When the process runs out of descriptors, it accepts waiting connections on a spare one and
/// closes them. So neither they nor the loop hang.
package final class Listener: SocketHandler, @unchecked Sendable {
    // Unchecked: once started, all that changes is touched by the loop's thread alone.

    static let backlog: Int32 = 4096
    static let acceptsPerTurn = 64

    /// The address in use, with the port that the kernel chose.
    package let address: ListenAddress
    private let descriptor: Int32
    private var spare: Int32
    private var accepted: (AcceptedSocket) -> Void = { $0.socket.close() }
    private var loop: EventLoop?
    private var isPaused = false
    private var isClosed = false

    /// Binds and listens; nothing is accepted before `start`.
    ///
    /// A Unix socket file that nobody answers on is replaced; one that somebody answers on fails
    /// with EADDRINUSE.
    /// - Parameter unixMode: the permissions of a Unix socket's file.
    package init(_ address: ListenAddress, unixMode: UInt32) throws(SystemError) {
        switch address {
        case .tcp(let host, let port):
            descriptor = Int32(
                try SystemCall.require("bind") {
                    Int(network_listen_tcp(host, String(port), Self.backlog))
                })
            var bound = network_address()
            _ = network_bound_address(descriptor, &bound)
            self.address = .tcp(
                host: bound.numericText, port: UInt16(truncatingIfNeeded: bound.port))
        case .unix(let path):
            try Self.clearAway(path)
            descriptor = Int32(
                try SystemCall.require("bind") {
                    Int(
                        network_listen_unix(
                            path, Self.backlog, mode_t(truncatingIfNeeded: unixMode)))
                })
            self.address = address
        }
        spare = network_spare()
    }

    deinit { close() }

    /// Begins to accept, on the loop's thread.
    ///
    /// - Parameter accepted: called on the loop's thread; takes over the socket.
    package func start(
        on loop: EventLoop, accepted: @escaping (AcceptedSocket) -> Void
    ) throws(SystemError) {
        self.accepted = accepted
        try loop.register(descriptor, self, interest: .readable)
        self.loop = loop
    }

    /// Accepts those who have connected already, and nobody after them; removes a Unix socket's file.
    ///
    /// On the loop's thread once started.
    package func stop() {
        if loop != nil {
            for _ in 0..<Self.backlog where !acceptOne() { break }
        }
        loop?.deregister(descriptor)
        loop = nil
        close()
    }

    package func ready(_ readiness: Readiness) {
        for _ in 0..<Self.acceptsPerTurn where !acceptOne() { return }
    }

    package func sweep(now: UInt64) {
        if spare < 0 { spare = network_spare() }
        if isPaused { watch(true) }
    }

    private func acceptOne() -> Bool {
        var peer = network_address()
        switch SystemCall.run("accept", { Int(network_accept(descriptor, &peer)) }) {
        case .done(let socket):
            accepted(
                AcceptedSocket(
                    socket: Socket(descriptor: Int32(socket)), address: peer.numericText,
                    isLoopback: peer.is_loopback != 0))
            return true
        case .wouldBlock:
            return false
        case .failed(let error) where error.code == EMFILE || error.code == ENFILE:
            return shedOne()
        case .failed:
            // A connection that died while waiting, or a passing shortage: the next event tells.
            return false
        }
    }

    private func shedOne() -> Bool {
        if spare >= 0 { _ = network_close(spare) }
        var peer = network_address()
        let outcome = SystemCall.run("accept") { Int(network_accept(descriptor, &peer)) }
        if case .done(let socket) = outcome { _ = network_close(Int32(socket)) }
        spare = network_spare()
        if case .done = outcome { return true }
        // Not even the spare helped: without a pause the level-triggered loop would spin.
        if case .failed = outcome { watch(false) }
        return false
    }

    private func watch(_ isWatched: Bool) {
        // NB: a failure leaves things as they were; the next sweep tries again.
        try? loop?.change(
            descriptor, from: isPaused ? [] : .readable, to: isWatched ? .readable : [])
        isPaused = !isWatched
    }

    private func close() {
        if isClosed { return }
        isClosed = true
        _ = network_close_listener(descriptor)
        if spare >= 0 { _ = network_close(spare) }
        if case .unix(let path) = address { unlink(path) }
    }

    private static func clearAway(_ path: String) throws(SystemError) {
        switch SystemCall.run("connect", { Int(network_probe_unix(path)) }) {
        case .done, .wouldBlock: throw SystemError(call: "bind", code: EADDRINUSE)
        case .failed(let error) where error.code == ECONNREFUSED: unlink(path)
        case .failed: break
        }
    }
}

extension network_address {
    var numericText: String {
        withUnsafeBytes(of: text) { bytes in
            String(decoding: bytes.prefix(while: { $0 != 0 }), as: UTF8.self)
        }
    }
}
