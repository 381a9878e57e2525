import CNetwork
import Platform

/// A connected, non-blocking socket: the bytes in and out of one descriptor.
///
/// Its owner closes it, once.
package struct Socket: Sendable {
    package let descriptor: Int32

    package init(descriptor: Int32) { self.descriptor = descriptor }

    /// What a socket can be waited for.
    package enum Readiness: UInt32, Sendable {
        case readable = 1
        case writable = 2
    }

    /// Connects to a host, by its name or address; blocks, for threads that may.
    ///
    /// - Parameter milliseconds: for each of its addresses, beside the time that the name takes.
    /// - Throws: when none of them answers.
    package static func connect(
        host: String, port: UInt16, milliseconds: Int
    ) throws(SystemError) -> Socket {
        let outcome = SystemCall.run("connect") {
            Int(network_connect_tcp(host, "\(port)", Int32(clamping: milliseconds)))
        }
        switch outcome {
        case .done(let descriptor): return Socket(descriptor: Int32(descriptor))
        case .wouldBlock: throw SystemError(call: "connect", code: EAGAIN)
        case .failed(let error): throw error
        }
    }

    /// As above, to one of a host's addresses, as they were looked up before.
    ///
    /// - Throws: why the last of them does not answer.
    package static func connect(
        to addresses: [ResolvedAddress], milliseconds: Int
    ) throws(SystemError) -> Socket {
        var last = SystemError(call: "connect", code: EHOSTUNREACH)
        for address in addresses {
            do throws(SystemError) {
                let socket = try begin(to: address)
                do throws(SystemError) {
                    guard try socket.wait(for: .writable, milliseconds: milliseconds) else {
                        throw SystemError(call: "connect", code: ETIMEDOUT)
                    }
                    if let failure = socket.connectFailure { throw failure }
                    return socket
                } catch {
                    socket.close()
                    throw error
                }
            } catch {
                last = error
            }
        }
        throw last
    }

    /// Begins to connect to an address; never blocks.
    ///
    /// The socket is writable, or hung up, once `connectFailure` tells what came of it.
    package static func begin(to address: ResolvedAddress) throws(SystemError) -> Socket {
        var endpoint = address.endpoint
        return Socket(
            descriptor: Int32(
                try SystemCall.require("connect") { Int(network_connect_begin(&endpoint)) }))
    }

    /// Why a connection that was begun did not come about; nil when it did.
    package var connectFailure: SystemError? {
        do throws(SystemError) {
            _ = try SystemCall.require("connect") { Int(network_connect_outcome(descriptor)) }
            return nil
        } catch {
            return error
        }
    }

    /// Waits until something can be done, or the peer has gone; blocks, for threads that may.
    ///
    /// - Returns: false when the time is up.
    package func wait(
        for readiness: Readiness, milliseconds: Int
    ) throws(SystemError) -> Bool {
        try SystemCall.require("poll") {
            Int(network_wait(descriptor, readiness.rawValue, Int32(clamping: milliseconds)))
        } > 0
    }

    /// Receives what is there; zero bytes mean that the peer has ended its direction.
    package func receive(into bytes: UnsafeMutableRawBufferPointer) -> CallOutcome {
        SystemCall.run("recv") { network_receive(descriptor, bytes.baseAddress, bytes.count) }
    }

    /// Looks whether there is a byte, or the end (zero), without taking it.
    package func peek() -> CallOutcome {
        SystemCall.run("recv") { network_peek(descriptor) }
    }

    /// Sends two pieces in one system call, without copying them first.
    package func send(
        _ first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) -> CallOutcome {
        SystemCall.run("send") {
            network_send(
                descriptor, first.baseAddress, first.count, second.baseAddress, second.count)
        }
    }

    /// As `send`, when more is sent right after: the system need not send a small packet first.
    package func sendBeforeMore(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer
    ) -> CallOutcome {
        SystemCall.run("send") {
            network_send_more(
                descriptor, first.baseAddress, first.count, second.baseAddress, second.count)
        }
    }

    /// Sends bytes of a file; zero when the file is shorter.
    package func send(file: Int32, offset: Int, count: Int) -> CallOutcome {
        SystemCall.run("sendfile") {
            network_send_file(descriptor, file, Int64(offset), count)
        }
    }

    /// Has TCP acknowledge what was received now, for a peer that waits for it before it goes on.
    package func acknowledge() { network_acknowledge(descriptor) }

    /// Tells the peer that nothing more comes; its own bytes still arrive.
    package func shutdownWrite() {
        // NB: the outcome does not matter: a peer that has gone needs no telling.
        _ = network_shutdown_write(descriptor)
    }

    package func close() {
        // NB: after EINTR the descriptor is gone on Linux; closing it again would hit another's.
        _ = network_close(descriptor)
    }
}
