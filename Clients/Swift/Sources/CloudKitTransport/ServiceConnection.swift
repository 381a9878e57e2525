import CloudKitWire
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests to one container environment of one server, as one caller.
public final class ServiceConnection: Sendable {
    private let service: ServerAccess?
    private let container: String
    let session: URLSession
    private let webToken: WebToken
    let requestSeconds: TimeInterval

    /// - Parameters:
    ///   - service: nil where nobody has said which; requests then fail with `badAddress`.
    ///   - session: what sends; tests hand in one of their own.
    ///   - requestSeconds: how long to wait for an answer that has not begun.
    public init(
        _ service: ServerAccess?, container: String, session: URLSession = .shared,
        requestSeconds: TimeInterval = 60
    ) {
        self.service = service
        self.container = container
        self.session = session
        self.requestSeconds = requestSeconds
        webToken = WebToken(service?.credentials ?? .none)
    }

    /// What links to shares on this server begin with.
    public var shareLinks: URL? { service?.url.appendingPathComponent("share") }

    /// Sends one request of the protocol.
    ///
    /// - Parameters:
    ///   - operation: the path below the environment, such as `private/records/modify`.
    ///   - body: a JSON text.
    /// - Returns: the answer's body.
    /// - Throws: `WireFault` when the whole request failed; `TransportFailure` when no answer came.
    public func call(_ operation: String, _ body: [UInt8]) async throws -> JSONView {
        let sent = await webToken.current
        do {
            return try await send(operation, body, webToken: sent)
        } catch let fault as WireFault where fault.status == 421 {
            let page = fault.redirectURL.flatMap { URL(string: $0) }
            let fresh: String?
            do {
                fresh = try await webToken.signInAgain(after: sent, at: page)
            } catch {
                throw TransportFailure.notSignedIn
            }
            guard let fresh else { throw fault }
            return try await send(operation, body, webToken: fresh)
        }
    }

    private func send(
        _ operation: String, _ body: [UInt8], webToken sent: String?
    ) async throws -> JSONView {
        let request = try request(operation, body, webToken: sent)
        let data: Data
        let response: URLResponse
        do {
            (data, response) = try await session.data(for: request)
        } catch {
            throw TransportFailure(error)
        }
        guard let answer = response as? HTTPURLResponse else {
            throw TransportFailure.unreadable(status: 0)
        }
        let name = "X-Apple-CloudKit-Web-Auth-Token"
        if let fresh = answer.value(forHTTPHeaderField: name) {
            await webToken.renew(sent, to: fresh)
        }
        return try Self.read(data, answer)
    }

    static func read(_ data: Data, _ answer: HTTPURLResponse) throws -> JSONView {
        let status = answer.statusCode
        guard let view = try? JSONTape([UInt8](data)).root, view.isObject else {
            if let fault = fault(withoutBody: answer) { throw fault }
            throw TransportFailure.unreadable(status: status)
        }
        if let fault = WireFault(view, status: status) { throw fault }
        guard status == 200 else { throw TransportFailure.unreadable(status: status) }
        return view
    }

    /// What a proxy in front of the server may answer on its own.
    private static func fault(withoutBody answer: HTTPURLResponse) -> WireFault? {
        let seconds = answer.value(forHTTPHeaderField: "Retry-After").flatMap(Double.init)
        switch answer.statusCode {
        case 429:
            return WireFault(
                code: "THROTTLED", reason: "too many requests", retryAfterSeconds: seconds,
                status: 429)
        case 502, 503, 504:
            return WireFault(
                code: "TRY_AGAIN_LATER", reason: "the server cannot be reached now",
                retryAfterSeconds: seconds, status: answer.statusCode)
        default: return nil
        }
    }

    private func request(
        _ operation: String, _ body: [UInt8], webToken: String?
    ) throws -> URLRequest {
        guard let service else { throw TransportFailure.badAddress }
        let path = "/database/1/\(container)/\(service.environment.rawValue)/\(operation)"
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
        }
        if !query.isEmpty { parts.queryItems = query }
        guard let url = parts.url else { throw TransportFailure.badAddress }
        var request = URLRequest(url: url, timeoutInterval: requestSeconds)
        request.httpMethod = "POST"
        request.httpBody = Data(body)
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if case .serverKey(let id, let sign) = service.credentials {
            try request.sign(as: id, target: parts.path, body: body, with: sign)
        }
        return request
    }
}

extension ServerAccess {
    fileprivate var isSigning: Bool {
        if case .serverKey = credentials { true } else { false }
    }
}
