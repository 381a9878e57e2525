import CNetwork

/// What a descriptor is watched for, or found to be.
package struct Readiness: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let readable = Readiness(rawValue: NETWORK_READABLE)
    package static let writable = Readiness(rawValue: NETWORK_WRITABLE)
    /// Both directions have ended, or the connection failed; reported without being asked for.
    package static let hangup = Readiness(rawValue: NETWORK_HANGUP)
}

/// The kernel's readiness queue, level-triggered: epoll on Linux, kqueue on Darwin.
struct Poller: ~Copyable {
    static let eventsPerWait = 256

    private let descriptor: Int32

    init() throws(SystemError) {
        descriptor = Int32(
            try SystemCall.require("epoll_create") { Int(network_poller_open()) })
    }

    deinit { _ = network_close(descriptor) }

    func set(_ socket: Int32, from: Readiness, to: Readiness) throws(SystemError) {
        let poller = descriptor
        _ = try SystemCall.require("epoll_ctl") {
            Int(network_poller_set(poller, socket, from.rawValue, to.rawValue))
        }
    }

    /// Stops reporting on a descriptor, also when another process has a copy of it.
    func forget(_ socket: Int32) { network_poller_forget(descriptor, socket) }

    /// Fills the events and gives their number; none when the time is up or a signal came.
    func wait(
        _ events: UnsafeMutableBufferPointer<network_event>, timeoutMilliseconds: Int32
    ) throws(SystemError) -> Int {
        let poller = descriptor
        return try SystemCall.require("epoll_wait") {
            Int(
                network_poller_wait(
                    poller, events.baseAddress, Int32(events.count), timeoutMilliseconds))
        }
    }
}
