import Accounts
import CloudModel
import Cryptography
import Foundation
import HTTP
import JSON
import Storage

/// One caller of one container environment.
struct WireClient {
    enum Credential {
        case none
        case tokens(api: String, web: String?)
        case key(id: String, P256PrivateKey)
    }

    let server: WireServer
    var container = WireServer.tea
    var environment = CloudModel.Environment.development
    var credential: Credential
    /// Whom its connection is from.
    var peer = Peer(address: "127.0.0.1", isLoopback: true, isTLS: false)
    /// The address for which a trusted proxy passes its requests on.
    var client: String?
    /// The event loop that its requests seem to come from, as long as no other thread is at it.
    var loop = 0
    /// Of a user; empty for others.
    var name = ""
    var email = ""
    /// Whom a server key's requests name in `ckOnBehalfOf`.
    var onBehalfOf: String?
    /// The `clientId` of its requests.
    var device: String?
    /// Whether it reads its answers.
    var reads = true

    /// Sends a request to a path below the environment, such as `private/zones/list`.
    ///
    /// - Parameter body: nil makes it a GET.
    func send(
        _ path: String, _ body: String?, query: [String] = [],
        headers: [(name: String, value: String)] = [], method: HTTPRequest.Method? = nil,
        module: String = "database"
    ) throws -> Answer {
        try send(
            target: "/\(module)/1/\(container)/\(environment.rawValue)/\(path)",
            body: Array((body ?? "").utf8), query: query, headers: headers,
            method: method ?? (body == nil ? .get : .post))
    }

    func send(
        target path: String, body: [UInt8], query: [String] = [],
        headers: [(name: String, value: String)] = [], method: HTTPRequest.Method = .post
    ) throws -> Answer {
        var (query, headers) = (query, headers)
        if case .tokens(let api, let web) = credential {
            if let web { query.append("ckWebAuthToken=\(web)") }
            query.append("ckAPIToken=\(api)")
        }
        if let device { query.append("clientId=\(device)") }
        if let onBehalfOf { query.append("ckOnBehalfOf=\(onBehalfOf)") }
        let target = path + (query.isEmpty ? "" : "?\(query.joined(separator: "&"))")
        if case .key(let id, let key) = credential {
            headers += Self.signature(
                of: target, body: body, date: server.clock.now, id: id, key: key)
        }
        return try send(raw: Array(target.utf8), body: body, headers: headers, method: method)
    }

    func send(
        raw target: [UInt8], body: [UInt8], headers: [(name: String, value: String)] = [],
        method: HTTPRequest.Method = .post
    ) throws -> Answer {
        try start(raw: target, body: body, headers: headers, method: method).answer()
    }

    /// Sends a request and goes on; its answer is waited for later.
    func start(_ path: String, _ body: String) -> Pending {
        var query: [String] = []
        if case .tokens(let api, let web) = credential {
            query = (web.map { ["ckWebAuthToken=\($0)"] } ?? []) + ["ckAPIToken=\(api)"]
        }
        let target =
            "/database/1/\(container)/\(environment.rawValue)/\(path)?"
            + query.joined(separator: "&")
        // By no loop: the writer makes the answers of writes, while this thread goes on with the next request.
        var client = self
        client.loop = WireServer.noLoop
        return client.start(raw: Array(target.utf8), body: Array(body.utf8))
    }

    func start(
        raw target: [UInt8], body: [UInt8], headers: [(name: String, value: String)] = [],
        method: HTTPRequest.Method = .post
    ) -> Pending {
        let done = Waiting<HTTPResponse>()
        let id = UUID().uuidString.lowercased()
        server.respond(from: loop) { loop in
            let request = HTTPRequest(
                id: id, method: method, target: target, headers: HTTPHeaders(headers), body: body,
                peer: peer, client: client.flatMap { ClientBlock($0) } ?? peer.block, loop: loop)
            server.web.respond(to: request, reply: HTTPReply(isRead: reads) { done.arrive($0) })
        }
        return Pending(id: id, response: done)
    }

    /// A request on its way.
    struct Pending {
        let id: String
        let response: Waiting<HTTPResponse>

        func answer() throws -> Answer { try Answer(response.wait(), requestID: id) }
    }

    static func signature(
        of target: String, body: [UInt8], date now: Milliseconds, id: String, key: P256PrivateKey
    ) -> [(name: String, value: String)] {
        let date = Date(timeIntervalSince1970: Double(now / 1_000)).formatted(.iso8601)
        let message = "\(date):\(Base64.encode(SHA256.digest(body))):\(target)"
        return [
            ("X-Apple-CloudKit-Request-KeyID", id),
            ("X-Apple-CloudKit-Request-ISO8601Date", date),
            (
                "X-Apple-CloudKit-Request-SignatureV1",
                Base64.encode(key.sign(Array(message.utf8)))
            ),
        ]
    }
}

extension WireServer {
    /// A caller with an API token alone.
    func visitor(
        _ container: String = tea, _ environment: CloudModel.Environment = .development
    ) -> WireClient {
        WireClient(
            server: self, container: container, environment: environment,
            credential: .tokens(
                api: apiTokens["\(container)/\(environment.rawValue)"] ?? "", web: nil))
    }

    /// A caller without credentials.
    var stranger: WireClient { WireClient(server: self, credential: .none) }

    /// A user who is signed in; the account is made when there is none of that name.
    func user(
        _ name: String = "ida", _ container: String = tea,
        _ environment: CloudModel.Environment = .development, seconds: Int? = nil
    ) throws -> WireClient {
        let email = "\(name)@example.org"
        let users = Users(catalog: catalog)
        if try users.list().items.allSatisfy({ $0.email != email }) {
            _ = try users.create(
                email: email, givenName: name.capitalized, familyName: "Roe", now: clock.now)
        }
        let made = try WebTokens(catalog: catalog, settings: accounts).create(
            container: Self.id(container), environment: environment, email: email,
            seconds: seconds ?? 1_209_600, now: clock.now)
        var client = visitor(container, environment)
        client.credential = .tokens(
            api: apiTokens["\(container)/\(environment.rawValue)"] ?? "", web: made.token)
        client.name = made.userRecordName.text
        client.email = email
        return client
    }

    /// A caller by a server key that has just been registered.
    func key(
        scope: ServerKeyRecord.Scope = .public, _ container: String = tea,
        _ environment: CloudModel.Environment = .development
    ) throws -> WireClient {
        let key = P256PrivateKey()
        let record = try ServerKeys(catalog: catalog).add(
            container: Self.id(container), environment: environment,
            publicKeyPEM: key.publicKeyPEM, scope: scope, now: clock.now)
        return WireClient(
            server: self, container: container, environment: environment,
            credential: .key(id: record.keyID, key))
    }
}

/// What came back.
struct Answer: Sendable {
    let status: Int
    let headers: [(name: String, value: String)]
    let text: String
    /// The id that the request had.
    let requestID: String
    let json: AnswerPart

    init(_ response: HTTPResponse, requestID: String) throws {
        status = response.status
        headers = response.headers
        text = String(decoding: response.body, as: UTF8.self)
        self.requestID = requestID
        let isEvents = response.headers.contains { $0.value == "text/event-stream" }
        json =
            response.body.isEmpty || isEvents
            ? AnswerPart(value: nil)
            : AnswerPart(value: try JSONDocument(parsing: response.body).root)
    }

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    subscript(key: String) -> AnswerPart { json[key] }

    var code: String? { json["serverErrorCode"].string }
    var reason: String { json["reason"].string ?? "" }
    /// The items of a records answer.
    var records: [AnswerPart] { json["records"].elements }
    /// The items of a zones answer.
    var zones: [AnswerPart] { json["zones"].elements }
}

/// A place in an answer, there or not.
struct AnswerPart: Sendable {
    let value: JSONValue?

    subscript(key: String) -> AnswerPart { AnswerPart(value: value?.member(key)) }

    subscript(index: Int) -> AnswerPart {
        let found = elements
        return index < found.count ? found[index] : AnswerPart(value: nil)
    }

    var exists: Bool { value != nil }
    var string: String? { value?.string }
    var int: Int64? { value?.int64 }
    var double: Double? { value?.double }
    var bool: Bool? { value?.bool }
    var elements: [AnswerPart] { value?.elements.map { AnswerPart(value: $0) } ?? [] }
    var keys: [String] { value?.members.map { $0.key.string ?? "" } ?? [] }
    /// The text exactly as answered.
    var raw: String { value?.withRawBytes { String(decoding: $0, as: UTF8.self) } ?? "" }

    var code: String? { self["serverErrorCode"].string }
    var reason: String { self["reason"].string ?? "" }
    var name: String? { self["recordName"].string }
    var tag: String { self["recordChangeTag"].string ?? "" }
}

/// Text as a JSON string.
func quoted(_ text: String) -> String {
    var writer = JSONWriter()
    writer.string(text)
    return String(decoding: writer.bytes, as: UTF8.self)
}
