import Network

/// One connection to an origin, which the client keeps for its next request.
final class ClientConnection: @unchecked Sendable {
    // Unchecked: one thread takes it from the client and uses it alone until it gives it back.
    private let connection: BlockingConnection
    /// When it was last used, by the client's clock.
    var usedAt: UInt64 = 0

    init(
        to origin: HTTPOrigin, trust: ServerTrust?, options: BlockingHTTPClient.Options
    ) throws(ClientFailure) {
        let addresses = try options.policy.map { policy throws(ClientFailure) in
            try Self.addresses(of: origin, by: policy)
        }
        do throws(BlockingConnection.Failure) {
            connection = try BlockingConnection(
                to: origin.host, port: origin.port, at: addresses,
                BlockingConnection.TimeLimits(
                    connectMillisecondsMax: options.connectMillisecondsMax,
                    silenceMillisecondsMax: options.silenceMillisecondsMax))
        } catch {
            throw ClientFailure(error)
        }
        guard origin.isSecure else { return }
        guard let trust else { throw .unreachable("TLS cannot be set up") }
        do throws(BlockingConnection.Failure) { try connection.beginTLS(trust.tls) } catch {
            throw ClientFailure(error)
        }
    }

    /// The addresses of the host, once the policy has looked at all of them.
    private static func addresses(
        of origin: HTTPOrigin, by policy: TargetPolicy
    ) throws(ClientFailure) -> [ResolvedAddress] {
        let addresses: [ResolvedAddress]
        do throws(SystemError) {
            addresses = try ResolvedAddress.resolve(host: origin.host, port: origin.port)
        } catch {
            throw .unreachable("\(error)")
        }
        do throws(TargetRefusal) {
            try policy.require(origin, namedBy: .operators, at: addresses)
        } catch {
            throw .refused(error)
        }
        return addresses
    }

    /// Whether nothing has come since the last answer, not even the end.
    var isQuiet: Bool { connection.isQuiet }

    func send(_ bytes: UnsafeRawBufferPointer) throws(ClientFailure) {
        do throws(BlockingConnection.Failure) { try connection.send(bytes) } catch {
            throw ClientFailure(error)
        }
    }

    /// Some bytes, as soon as there are any; zero at the end.
    func receive(into bytes: UnsafeMutableRawBufferPointer) throws(ClientFailure) -> Int {
        do throws(BlockingConnection.Failure) { return try connection.receive(into: bytes) } catch {
            throw ClientFailure(error)
        }
    }

    /// As `receive`, but nil when there are none yet.
    func receiveAtOnce(
        into bytes: UnsafeMutableRawBufferPointer
    ) throws(ClientFailure) -> Int? {
        do throws(BlockingConnection.Failure) {
            return try connection.receiveAtOnce(into: bytes)
        } catch {
            throw ClientFailure(error)
        }
    }
}

extension ClientFailure {
    fileprivate init(_ failure: BlockingConnection.Failure) {
        switch failure {
        case .unreachable(let reason): self = .unreachable(reason)
        case .untrusted(let reason): self = .untrusted(reason)
        case .broken(let reason): self = .broken(reason)
        case .timedOut: self = .timedOut
        }
    }
}
