import Network
import Synchronization

/// Sends requests to one server and gives its answers, over connections that it keeps for the next.
///
/// Every call blocks, for as long as the options allow: it belongs on worker threads.
package final class BlockingHTTPClient: Sendable {
    package struct Options: Sendable {
        /// For each address of the host.
        package var connectMillisecondsMax = 10_000
        /// In which not a byte moves, in either direction.
        package var silenceMillisecondsMax = 30_000
        /// Connections that are kept for later.
        package var idleConnectionsMax = 16
        /// A connection that was idle for longer is not used again: the server may be closing it.
        package var idleMillisecondsMax = 15_000
        package var limits = ResponseLimits()
        /// Looks at the addresses of the host before each connection; nil where the server's settings name it.
        package var policy: TargetPolicy?
        package var clock = MonotonicClock.system

        package init() {}
    }

    package let origin: HTTPOrigin
    private let trust: ServerTrust?
    let options: Options
    private let idle = Mutex<[ClientConnection]>([])

    /// - Parameter trust: which certificates TLS accepts; without it nothing is sent to an
    ///   `https` origin.
    package init(_ origin: HTTPOrigin, trust: ServerTrust?, options: Options = Options()) {
        self.origin = origin
        self.trust = trust
        self.options = options
    }

    /// Sends a request and waits for the head of its answer.
    ///
    /// An answer that comes before the body was sent is taken as it is; the rest of the body is not
    /// sent then.
    ///
    /// - Throws: each `ClientFailure`. What the server has done by then is not known.
    package func send(_ request: ClientRequest) throws(ClientFailure) -> ClientResponse {
        guard let head = request.head(to: origin) else {
            throw .malformed("the request has a control character")
        }
        let connection: ClientConnection
        if let kept = takeIdle() {
            connection = kept
        } else {
            connection = try ClientConnection(to: origin, trust: trust, options: options)
        }
        let response = ClientResponse(
            on: connection, of: self,
            parser: ResponseParser(method: request.method, limits: options.limits))
        do throws(ClientFailure) {
            try response.transmit(head, request.body)
        } catch {
            guard case .broken = error else { throw error }
            // The server may have said why before it closed.
            do throws(ClientFailure) { try response.receiveHead() } catch _ { throw error }
            return response
        }
        try response.receiveHead()
        return response
    }

    private func takeIdle() -> ClientConnection? {
        let now = options.clock.milliseconds()
        return idle.withLock { idle in
            while let last = idle.popLast() {
                if now &- last.usedAt <= UInt64(options.idleMillisecondsMax), last.isQuiet {
                    return last
                }
            }
            return nil
        }
    }

    func keep(_ connection: ClientConnection) {
        connection.usedAt = options.clock.milliseconds()
        idle.withLock { idle in
            if idle.count < options.idleConnectionsMax { idle.append(connection) }
        }
    }
}
