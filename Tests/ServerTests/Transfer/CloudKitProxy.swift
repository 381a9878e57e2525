import Cryptography
import Foundation
import HTTP
import HTTPClient
import Seeding
import Synchronization

/// A server that plays CloudKit, behind what has the original's limits.
final class CloudKitProxy: Sendable {
    typealias Sign =
        @Sendable (_ target: String, _ body: [UInt8]) -> [(name: String, value: String)]

    let origin: HTTPOrigin
    let limits: CloudKitLimits
    private let server: Mutex<HTTPServer?>

    /// - Parameters:
    ///   - token: what the server behind knows a user by.
    ///   - sign: signs what the proxy has changed.
    init(
        to address: String, token: String = "", seededBy what: String,
        signing sign: @escaping Sign = { _, _ in [] }
    ) throws {
        let port = address.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
        limits = CloudKitLimits(
            HTTPOrigin(isSecure: false, host: "127.0.0.1", port: port), token, what, sign)
        var configuration = HTTPServer.Configuration(addresses: [.tcp(host: "127.0.0.1", port: 0)])
        configuration.loopCount = 1
        let made = try HTTPServer(configuration, responder: limits)
        guard case .tcp(let host, let listening) = try made.start()[0] else {
            throw CocoaError(.fileReadUnknown)
        }
        origin = HTTPOrigin(isSecure: false, host: host, port: listening)
        server = Mutex(made)
        limits.change { [origin] in $0.origin = origin.text }
    }

    deinit { server.withLock { $0.take() }?.drain(withinSeconds: 0) }
}

/// Takes 200 records at most, throttles, cuts answers short, gives a new token with each answer and knows only the last two,
/// answers queries with empty pages and with pages that came before, and has types without an index.
final class CloudKitLimits: Responder {
    struct State {
        var random: SeededRandom
        /// Of ten requests, how many are throttled or cut.
        var troubles = 4
        var tokens: [String] = ["first+token/=="]
        var made = 0
        var pages: [String: String] = [:]
        var unreadable: Set<String> = []
        /// How often a marker is said not to be known any more.
        var forgotten = 0
        /// Whether the first address of each asset leads nowhere.
        var assetsMove = false
        var movedAssets = 0
        var requests = 0
        var overLimit = 0
        var origin = ""
    }

    private let state: Mutex<State>
    private let target: HTTPOrigin
    private let client: BlockingHTTPClient
    private let realToken: String
    private let sign: CloudKitProxy.Sign

    init(
        _ target: HTTPOrigin, _ realToken: String, _ what: String,
        _ sign: @escaping CloudKitProxy.Sign
    ) {
        (self.target, self.realToken, self.sign) = (target, realToken, sign)
        client = BlockingHTTPClient(target, trust: nil)
        state = Mutex(State(random: SeededRandom(what)))
    }

    /// Looks at what has happened, or changes what will.
    @discardableResult
    func change<Value>(_ body: (inout sending State) -> sending Value) -> sending Value {
        state.withLock(body)
    }

    func respond(to request: HTTPRequest, reply: HTTPReply) { reply.send(answer(request)) }

    // MARK: - Requests

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        let text = String(decoding: request.target, as: UTF8.self)
        guard text.hasPrefix("/database/") else { return asset(text) }
        let isTroubled = state.withLock { state in
            state.requests += 1
            return state.random.below(10) < state.troubles
        }
        let trouble = isTroubled ? state.withLock { $0.random.below(5) } : -1
        switch trouble {
        case 0: return Self.error(503, "TRY_AGAIN_LATER", "later", #","retryAfter":0.001"#)
        case 1: return Self.error(429, "THROTTLED", "slow down", #","retryAfter":0"#)
        case 2: return HTTPResponse(status: 502, body: Array("<html>".utf8))
        default: break
        }
        var target = text
        if text.contains("ckWebAuthToken=") {
            guard let real = exchanged(text) else {
                return Self.error(421, "AUTHENTICATION_REQUIRED", "request needs authorization")
            }
            target = real
        }
        guard var response = forward(target, request) else { return HTTPResponse(status: 502) }
        if text.contains("ckWebAuthToken=") { response.headers.append(nextToken()) }
        guard trouble >= 3, !response.body.isEmpty else { return response }
        let half = BrokenBody(bytes: Array(response.body.prefix(response.body.count / 2)))
        response.stream = StreamedBody([.made(half, offset: 0, count: response.body.count)])
        response.body = []
        return response
    }

    /// The same with the token that the server behind knows; nil for one that is too old.
    private func exchanged(_ target: String) -> String? {
        let parts = target.components(separatedBy: "ckWebAuthToken=")
        let token = parts[1].removingPercentEncoding ?? ""
        guard state.withLock({ $0.tokens.suffix(2).contains(token) }) else { return nil }
        return parts[0] + "ckWebAuthToken=" + realToken
    }

    private func nextToken() -> (name: String, value: String) {
        state.withLock { state in
            state.made += 1
            state.tokens = state.tokens.suffix(1) + ["token+\(state.made)/=="]
            return ("X-Apple-CloudKit-Web-Auth-Token", state.tokens.last ?? "")
        }
    }

    private func forward(_ target: String, _ request: HTTPRequest) -> HTTPResponse? {
        var body = Self.object(request.body)
        noteLimits(of: body)
        if let refusal = refusal(of: body) { return refusal }
        // Markers of pages that were late stand for markers of the server behind.
        var marker = body["continuationMarker"] as? String ?? ""
        var sent = request.body
        if let real = state.withLock({ $0.pages[marker] }) {
            marker = real
            body["continuationMarker"] = real.isEmpty ? nil : real
            sent = Self.bytes(body)
        }
        let isLate =
            target.contains("/records/query")
            && state.withLock { $0.troubles > 0 && $0.random.once(in: 4) }
        if isLate, state.withLock({ $0.random.once(in: 2) }) { return page([], after: marker) }
        guard let (status, answer) = ask(target, request, sent) else { return nil }
        let found = Self.object(answer)
        if isLate, status == 200, found["continuationMarker"] != nil {
            // The same page once more.
            return page(found["records"] as? [Any] ?? [], after: marker)
        }
        return HTTPResponse(status: status, body: answer)
    }

    private func page(_ records: [Any], after marker: String) -> HTTPResponse {
        let next = state.withLock { state in
            state.made += 1
            state.pages["late\(state.made)"] = marker
            return "late\(state.made)"
        }
        return HTTPResponse(
            status: 200, body: Self.bytes(["records": records, "continuationMarker": next]))
    }

    private func noteLimits(of body: [String: Any]) {
        let zones = body["zones"] as? [[String: Any]] ?? []
        let limits = ([body] + zones).compactMap { $0["resultsLimit"] as? Int }
        let names = (body["records"] as? [Any])?.count ?? 0
        if limits.contains(where: { $0 > 200 }) || names > 200 {
            state.withLock { $0.overLimit += 1 }
        }
    }

    private func refusal(of body: [String: Any]) -> HTTPResponse? {
        let type = (body["query"] as? [String: Any])?["recordType"] as? String ?? ""
        let zone = (body["zones"] as? [[String: Any]])?.first
        return state.withLock { state in
            if state.unreadable.contains(type) {
                return Self.error(400, "BAD_REQUEST", "Field 'recordName' is not marked queryable")
            }
            guard state.forgotten > 0 else { return nil }
            if body["continuationMarker"] != nil {
                state.forgotten -= 1
                return Self.error(400, "BAD_REQUEST", "unknown continuation")
            }
            guard let zone, zone["syncToken"] != nil, let id = zone["zoneID"] else { return nil }
            state.forgotten -= 1
            let item: [String: Any] = [
                "zoneID": id, "serverErrorCode": "BAD_REQUEST",
                "reason": "Unknown sync continuation type",
            ]
            return HTTPResponse(status: 200, body: Self.bytes(["zones": [item]]))
        }
    }

    // MARK: - The server behind

    private func ask(
        _ target: String, _ request: HTTPRequest, _ body: [UInt8]
    ) -> (status: Int, body: [UInt8])? {
        var headers: [(name: String, value: String)] = []
        for name in ["request-keyid", "request-iso8601date", "request-signaturev1"] {
            let field = "x-apple-cloudkit-\(name)"
            if let value = request.headers[field] { headers.append((field, value)) }
        }
        if body != request.body { headers = sign(target, body) }
        guard
            let response = try? client.send(
                ClientRequest(
                    method: request.method == .get ? "GET" : "POST", target: target,
                    headers: headers, body: .bytes(body))),
            let answer = try? response.readAll(bytesMax: 16_777_216)
        else { return nil }
        let origin = state.withLock { $0.origin }
        let text = String(decoding: answer, as: UTF8.self).replacing(self.target.text, with: origin)
        return (response.status, Array(text.utf8))
    }

    private func asset(_ target: String) -> HTTPResponse {
        let hasMoved = state.withLock { state in
            guard state.assetsMove, state.movedAssets % 2 == 0 else { return false }
            state.movedAssets += 1
            return true
        }
        if hasMoved { return HTTPResponse(status: 410) }
        state.withLock { $0.movedAssets += 1 }
        guard let response = try? client.send(ClientRequest(method: "GET", target: target)),
            let bytes = try? response.readAll(bytesMax: 16_777_216)
        else { return HTTPResponse(status: 502) }
        var answer = HTTPResponse(status: response.status, body: bytes)
        if response.status == 200, state.withLock({ $0.random.below(10) < $0.troubles }) {
            let half = BrokenBody(bytes: Array(bytes.prefix(bytes.count / 2)))
            answer.stream = StreamedBody([.made(half, offset: 0, count: bytes.count)])
            answer.body = []
        }
        return answer
    }

    private struct BrokenBody: ByteMaker {
        let bytes: [UInt8]
        func bytes(at offset: Int, count: Int) throws -> [UInt8] {
            Array(bytes.dropFirst(offset).prefix(count))
        }
    }

    private static func object(_ bytes: [UInt8]) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(bytes))) as? [String: Any] ?? [:]
    }

    private static func bytes(_ object: [String: Any]) -> [UInt8] {
        Array((try? JSONSerialization.data(withJSONObject: object)) ?? Data())
    }

    private static func error(
        _ status: Int, _ code: String, _ reason: String, _ more: String = ""
    ) -> HTTPResponse {
        HTTPResponse(
            status: status,
            body: Array(
                #"{"uuid":"u","serverErrorCode":"\#(code)","reason":"\#(reason)"\#(more)}"#.utf8))
    }
}
