import CloudKitWire
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests to one container environment of one server, as one caller.
public final class ServiceConnection: Sendable {
    let service: ServerAccess?
    private let container: String
    let exchange: any HTTPExchange
    private let webToken: WebToken
    private let observer = AccountObserver()

    /// - Parameters:
    ///   - service: nil where nobody has said which; requests then fail with `badAddress`.
    ///   - exchange: what carries the requests.
    package init(
        _ service: ServerAccess?, container: String,
        exchange: any HTTPExchange = NetworkExchange.standard
    ) {
        self.service = service
        self.container = container
        self.exchange = exchange
        let observer = observer
        webToken = WebToken(
            service?.credentials ?? .none, onChange: { service?.onTokenChange?($0) },
            onAccountChange: { observer.tell() })
    }

    /// What links to shares on this server begin with.
    public var shareLinks: URL? { service?.url.appendingPathComponent("share") }

    /// Grows whenever somebody else may be signed in than before.
    package var accountGeneration: Int { get async { await webToken.generation } }

    /// The current token of the signed-in user; nil for nobody.
    package var currentWebToken: String? { get async { await webToken.current.token } }

    /// Lets somebody know whenever somebody else may be signed in than before; one observer at a time.
    package func observeAccount(_ body: @escaping @Sendable () -> Void) { observer.set(body) }

    /// Sends one request of the protocol.
    ///
    /// - Parameters:
    ///   - operation: the path below the environment, such as `private/records/modify`.
    ///   - body: a JSON text.
    ///   - write: names what the request changes: records that it saves carry the name, so that a caller that
    ///     lost the answer recognises them. Nil for requests that save no records.
    /// - Returns: the answer's body.
    /// - Throws: `WireFault` when the whole request failed; `TransportFailure` when no answer came.
    public func call(
        _ operation: String, _ body: [UInt8], _ timeLimits: TimeLimits = TimeLimits(),
        write: String? = nil
    ) async throws -> JSONView {
        try await call(
            .init(operation: operation, body: body, write: write, timeLimits: timeLimits))
    }

    /// One request, but for who sends it.
    struct Call {
        /// The first part of the path.
        var module = "database"
        let operation: String
        let body: [UInt8]
        var write: String?
        var timeLimits = TimeLimits()

        /// Whether it may change something that is not the same when it is asked for twice.
        var isWrite: Bool { ["/modify", "/accept"].contains { operation.hasSuffix($0) } }
    }

    func call(_ call: Call) async throws -> JSONView {
        let sent = await webToken.current
        do {
            return try await send(call, webToken: sent.token)
        } catch let fault as WireFault where fault.status == 421 {
            let page = fault.redirectURL.flatMap { URL(string: $0) }
            let fresh: String?
            do {
                fresh = try await webToken.signInAgain(after: sent, at: page)
            } catch {
                throw TransportFailure.notSignedIn
            }
            guard let fresh else { throw fault }
            return try await send(call, webToken: fresh)
        }
    }

    private func send(_ call: Call, webToken sent: String?) async throws -> JSONView {
        let request = try request(call, webToken: sent)
        let (data, answer): (Data, HTTPURLResponse)
        do {
            (data, answer) = try await exchange.answer(to: request, call.timeLimits)
        } catch {
            throw TransportFailure(error, isWrite: call.isWrite)
        }
        let name = "X-Apple-CloudKit-Web-Auth-Token"
        if let fresh = answer.value(forHTTPHeaderField: name) {
            await webToken.renew(sent, to: fresh)
        }
        return try Self.read(data, answer, isWrite: call.isWrite)
    }

    static func read(
        _ data: Data, _ answer: HTTPURLResponse, isWrite: Bool = false
    ) throws -> JSONView {
        let status = answer.statusCode
        let retryAfter = RetryAfter.seconds(answer)
        guard let view = try? JSONTape([UInt8](data)).root, view.isObject else {
            // A proxy that has waited in vain does not know what the server has done.
            if isWrite, [502, 504].contains(status) { throw TransportFailure.responseLost }
            if let fault = fault(withoutBody: status, retryAfter) { throw fault }
            throw TransportFailure.unreadable(status: status)
        }
        if let fault = WireFault(view, status: status, retryAfterSeconds: retryAfter) {
            throw fault
        }
        guard status == 200 else { throw TransportFailure.unreadable(status: status) }
        return view
    }

    /// What a proxy in front of the server may answer on its own.
    private static func fault(withoutBody status: Int, _ retryAfter: Double?) -> WireFault? {
        switch status {
        case 413:
            return WireFault(
                code: "BAD_REQUEST", reason: "the request is larger than the server takes",
                detail: "limitExceeded", status: 413)
        case 429:
            return WireFault(
                code: "THROTTLED", reason: "too many requests", retryAfterSeconds: retryAfter,
                status: 429)
        case 502, 503, 504:
            return WireFault(
                code: "TRY_AGAIN_LATER", reason: "the server cannot be reached now",
                retryAfterSeconds: retryAfter, status: status)
        default: return nil
        }
    }

    private func request(_ call: Call, webToken: String?) throws -> URLRequest {
        guard let service else { throw TransportFailure.badAddress }
        let environment = service.environment.rawValue
        let path = "/\(call.module)/1/\(container)/\(environment)/\(call.operation)"
        guard var parts = URLComponents(url: service.url, resolvingAgainstBaseURL: false) else {
            throw TransportFailure.badAddress
        }
        var prefix = parts.path
        while prefix.hasSuffix("/") { prefix.removeLast() }
        parts.path = prefix + path
        var query: [URLQueryItem] = []
        if !service.isSigning {
            if let token = service.apiToken {
                query.append(URLQueryItem(name: "ckAPIToken", value: token))
            }
            if let webToken {
                query.append(URLQueryItem(name: "ckWebAuthToken", value: webToken))
            }
            query.append(URLQueryItem(name: "clientId", value: DeviceName.standard))
        }
        if let write = call.write {
            query.append(URLQueryItem(name: "writeId", value: write))
        }
        if !query.isEmpty { parts.queryItems = query }
        guard let url = parts.url else { throw TransportFailure.badAddress }
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(call.body)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if case .serverKey(let id, let sign) = service.credentials {
            try request.sign(as: id, target: parts.path, body: call.body, with: sign)
        }
        return request
    }
}

extension ServerAccess {
    fileprivate var isSigning: Bool {
        if case .serverKey = credentials { true } else { false }
    }
}

/// Is told when the account becomes another one.
private final class AccountObserver: Sendable {
    private let body = Locked<@Sendable () -> Void>({})

    func set(_ body: @escaping @Sendable () -> Void) { self.body.withLock { $0 = body } }

    func tell() { body.withLock { $0 }() }
}
