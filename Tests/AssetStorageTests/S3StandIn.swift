import AssetStorage
import CloudModel
import Cryptography
import Foundation
import HTTP
import HTTPClient
import Network
import Synchronization

/// A small store that speaks as much S3 as the tests need, made of the server's own HTTP.
final class S3StandIn: Sendable {
    static let bucket = "assets-of-tests"
    static let region = "eu-test-1"
    static let accessKeyID = "AKTESTS"
    static let secret = Array("not a secret of anybody".utf8)

    let objects = S3StandInObjects()
    let origin: HTTPOrigin
    private let server: Mutex<HTTPServer?>
    /// How long was paused between attempts.
    let pauses = Mutex<[Milliseconds]>([])

    init() throws {
        var configuration = HTTPServer.Configuration(addresses: [.tcp(host: "127.0.0.1", port: 0)])
        configuration.loopCount = 1
        let made = try HTTPServer(configuration, responder: objects)
        guard case .tcp(let host, let port) = try made.start()[0] else {
            throw ClientFailure.unreachable("no port")
        }
        origin = HTTPOrigin(isSecure: false, host: host, port: port)
        server = Mutex(made)
    }

    deinit { stop() }

    /// Ends as if it had died.
    func stop() { server.withLock { $0.take() }?.drain(withinSeconds: 0) }

    /// The bucket, with pauses that last no time.
    func bucket(
        secret: [UInt8] = S3StandIn.secret, partBytes: Int = 100_000, windowBytes: Int = 90_000
    ) -> S3Bucket {
        var options = S3Bucket.Options(endpoint: origin, bucket: Self.bucket)
        options.region = Self.region
        options.partBytes = partBytes
        options.windowBytes = windowBytes
        options.attemptsMax = 3
        return S3Bucket(
            options, credentials: S3Credentials(accessKeyID: Self.accessKeyID, secretKey: secret),
            trust: nil,
            surroundings: S3Bucket.Surroundings(
                clock: Clock { Milliseconds(Date().timeIntervalSince1970 * 1_000) },
                random: .system
            ) { [pauses] pause in pauses.withLock { $0.append(pause) } })
    }
}

/// What the stand-in keeps and does; it believes nothing that is not signed.
final class S3StandInObjects: Responder {
    enum Fault: Sendable {
        /// Answers so instead of doing what is asked.
        case refuse(status: Int, code: String)
        /// Does what is asked, and then answers so.
        case loseAnswer(status: Int)
        /// Ends the connection in the middle of the answer's body.
        case halfBody
        /// Ends the connection instead of an answer's body.
        case noBody
    }

    struct Stored: Sendable {
        var bytes: [UInt8]
        var modified = Date()
        var tag: String { "\"\(Hexadecimal.encode(SHA256.digest(bytes)).prefix(32))\"" }
    }

    struct Parts: Sendable {
        var key: String
        var parts: [Int: [UInt8]] = [:]
        var begun = Date()
    }

    struct State: Sendable {
        var objects: [String: Stored] = [:]
        var uploads: [String: Parts] = [:]
        /// What happens to requests that begin so, once each.
        var faults: [(start: String, fault: Fault)] = []
        /// Every request, as method and target.
        var seen: [String] = []
        var nextUpload = 1
        /// Of one page of a listing, whatever is asked for.
        var pageMax = 5
    }

    let state = Mutex(State())

    /// Has the next request that begins so fail.
    func fail(_ start: String, _ fault: Fault, times: Int = 1) {
        state.withLock { state in
            for _ in 0..<times { state.faults.append((start, fault)) }
        }
    }

    var keys: [String] { state.withLock { $0.objects.keys.sorted() } }
    var uploadCount: Int { state.withLock { $0.uploads.count } }

    /// How many requests have begun so.
    func count(_ start: String) -> Int {
        state.withLock { $0.seen.count { $0.hasPrefix(start) } }
    }

    func respond(to request: HTTPRequest, reply: HTTPReply) {
        reply.send(answer(request))
    }

    private func answer(_ request: HTTPRequest) -> HTTPResponse {
        let call = S3StandInCall(request)
        let fault = state.withLock { state -> Fault? in
            state.seen.append("\(call.method) \(call.target)")
            guard
                let index = state.faults.firstIndex(where: {
                    "\(call.method) \(call.target)".hasPrefix($0.start)
                })
            else { return nil }
            return state.faults.remove(at: index).fault
        }
        guard call.isSigned(by: S3StandIn.secret) else {
            return Self.error(403, "SignatureDoesNotMatch")
        }
        switch fault {
        case .refuse(let status, let code): return Self.error(status, code)
        case .loseAnswer(let status):
            _ = state.withLock { Self.perform(call, &$0) }
            return Self.error(status, "InternalError")
        case .halfBody, .noBody:
            var response = state.withLock { Self.perform(call, &$0) }
            let given = if case .noBody = fault { 0 } else { response.body.count / 2 }
            let broken = BrokenBody(bytes: Array(response.body.prefix(given)))
            response.stream = StreamedBody([
                .made(broken, offset: 0, count: response.body.count)
            ])
            response.body = []
            return response
        case nil: return state.withLock { Self.perform(call, &$0) }
        }
    }

    private struct BrokenBody: ByteMaker {
        let bytes: [UInt8]
        func bytes(at offset: Int, count: Int) throws -> [UInt8] {
            Array(bytes.dropFirst(offset).prefix(count))
        }
    }

    static func error(_ status: Int, _ code: String) -> HTTPResponse {
        HTTPResponse(
            status: status,
            body: Array(
                "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Key>a&amp;b</Key></Error>".utf8)
        )
    }

    private static func perform(_ call: S3StandInCall, _ state: inout State) -> HTTPResponse {
        guard call.bucket == S3StandIn.bucket else { return error(404, "NoSuchBucket") }
        let query = call.query
        switch call.method {
        case "GET" where call.key.isEmpty && query["uploads"] != nil: return uploads(call, state)
        case "GET" where call.key.isEmpty: return list(call, state)
        case "GET", "HEAD": return read(call, state)
        case "PUT":
            guard let id = query["uploadId"], let number = query["partNumber"].flatMap({ Int($0) })
            else {
                state.objects[call.key] = Stored(bytes: call.body)
                return HTTPResponse(status: 200)
            }
            guard state.uploads[id]?.key == call.key else { return error(404, "NoSuchUpload") }
            state.uploads[id]?.parts[number] = call.body
            return HTTPResponse(
                status: 200, headers: [("ETag", Stored(bytes: call.body).tag)])
        case "POST" where query["uploads"] != nil:
            let id = "upload&\(state.nextUpload)"
            state.nextUpload += 1
            state.uploads[id] = Parts(key: call.key)
            return xml(
                "<InitiateMultipartUploadResult><UploadId>\(escaped(id))</UploadId>"
                    + "</InitiateMultipartUploadResult>")
        case "POST": return complete(call, &state)
        case "DELETE":
            if let id = query["uploadId"] {
                guard state.uploads.removeValue(forKey: id) != nil else {
                    return error(404, "NoSuchUpload")
                }
            } else {
                state.objects[call.key] = nil
            }
            return HTTPResponse(status: 204)
        default: return error(405, "MethodNotAllowed")
        }
    }

    private static func read(_ call: S3StandInCall, _ state: State) -> HTTPResponse {
        guard let object = state.objects[call.key] else { return error(404, "NoSuchKey") }
        var headers = [("ETag", object.tag)]
        for (name, field) in [
            ("response-content-type", "Content-Type"),
            ("response-content-disposition", "Content-Disposition"),
        ] {
            if let value = call.query[name] { headers.append((field, value)) }
        }
        if let wanted = call.header("if-match"), wanted != object.tag {
            return error(412, "PreconditionFailed")
        }
        guard let range = call.header("range") else {
            return HTTPResponse(status: 200, headers: headers, body: object.bytes)
        }
        let ends = range.dropFirst(6).split(separator: "-").compactMap { Int($0) }
        guard ends.count == 2, ends[0] < object.bytes.count else {
            return error(416, "InvalidRange")
        }
        let last = min(ends[1], object.bytes.count - 1)
        headers.append(("Content-Range", "bytes \(ends[0])-\(last)/\(object.bytes.count)"))
        return HTTPResponse(
            status: 206, headers: headers, body: Array(object.bytes[ends[0]...last]))
    }

    private static func list(_ call: S3StandInCall, _ state: State) -> HTTPResponse {
        let (prefix, after) = (call.query["prefix"] ?? "", call.query["start-after"] ?? "")
        let keys = state.objects.keys.filter { $0.hasPrefix(prefix) && $0 > after }.sorted()
        let limit = min(state.pageMax, call.query["max-keys"].flatMap { Int($0) } ?? 1_000)
        let rows = keys.prefix(limit).compactMap { key in
            state.objects[key].map {
                "<Contents><Key>\(escaped(key))</Key><Size>\($0.bytes.count)</Size>"
                    + "<LastModified>\(time($0.modified))</LastModified></Contents>"
            }
        }
        return xml(
            "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                + "<IsTruncated>\(keys.count > limit)</IsTruncated>\(rows.joined())"
                + "</ListBucketResult>")
    }

    private static func uploads(_ call: S3StandInCall, _ state: State) -> HTTPResponse {
        let rows = state.uploads.filter { $0.value.key.hasPrefix(call.query["prefix"] ?? "") }.map {
            "<Upload><Key>\(escaped($0.value.key))</Key><UploadId>\(escaped($0.key))</UploadId>"
                + "<Initiated>\(time($0.value.begun))</Initiated></Upload>"
        }
        return xml(
            "<ListMultipartUploadsResult>\(rows.joined())</ListMultipartUploadsResult>")
    }

    private static func complete(_ call: S3StandInCall, _ state: inout State) -> HTTPResponse {
        guard let id = call.query["uploadId"], let upload = state.uploads[id] else {
            return error(404, "NoSuchUpload")
        }
        let listed = S3Document(call.body)?.root.all("Part") ?? []
        var bytes: [UInt8] = []
        for part in listed {
            guard let number = part["PartNumber"].flatMap({ Int($0) }),
                let found = upload.parts[number], part["ETag"] == Stored(bytes: found).tag
            else { return error(400, "InvalidPart") }
            bytes += found
        }
        state.uploads[id] = nil
        state.objects[upload.key] = Stored(bytes: bytes)
        return xml("<CompleteMultipartUploadResult/>")
    }

    private static func xml(_ text: String) -> HTTPResponse {
        HTTPResponse(
            status: 200, headers: [("Content-Type", "application/xml")],
            body: Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(text)".utf8))
    }

    private static func escaped(_ text: String) -> String { text.replacing("&", with: "&amp;") }

    private static func time(_ date: Date) -> String {
        date.formatted(.iso8601.time(includingFractionalSeconds: true))
    }
}

/// One request, taken apart and checked the way the store's manual says, not the way we sign.
struct S3StandInCall {
    let method: String
    let target: String
    let bucket: String
    let key: String
    let query: [String: String]
    let body: [UInt8]
    private let path: String
    private let rawQuery: [String]
    private let headers: HTTPHeaders

    init(_ request: HTTPRequest) {
        method = "\(request.method)".uppercased()
        target = String(decoding: request.target, as: UTF8.self)
        body = request.body
        headers = request.headers
        let halves = target.split(separator: "?", maxSplits: 1)
        path = String(halves[0])
        let parts = path.dropFirst().split(separator: "/", maxSplits: 1)
        bucket = parts.first.map(String.init) ?? ""
        key = parts.count > 1 ? String(parts[1]).removingPercentEncoding ?? "" : ""
        rawQuery = halves.count > 1 ? halves[1].split(separator: "&").map(String.init) : []
        var query: [String: String] = [:]
        for pair in rawQuery {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            query[sides[0].removingPercentEncoding ?? ""] =
                sides.count > 1 ? String(sides[1]).removingPercentEncoding : ""
        }
        self.query = query
    }

    func header(_ name: String) -> String? { headers[name] }

    func isSigned(by secret: [UInt8]) -> Bool {
        if let signature = query["X-Amz-Signature"] {
            let rest = rawQuery.filter { !$0.hasPrefix("X-Amz-Signature=") }
            guard let credential = query["X-Amz-Credential"], let date = query["X-Amz-Date"],
                query["X-Amz-SignedHeaders"] == "host"
            else { return false }
            return signature
                == self.signature(
                    credential, date, ["host"], rest, payload: "UNSIGNED-PAYLOAD", secret)
        }
        guard let authorization = headers["authorization"],
            authorization.hasPrefix("AWS4-HMAC-SHA256 "), let date = headers["x-amz-date"],
            let payload = headers["x-amz-content-sha256"],
            payload == Hexadecimal.encode(SHA256.digest(body))
        else { return false }
        var fields: [String: String] = [:]
        for field in authorization.dropFirst(17).split(separator: ",") {
            let sides = field.split(separator: "=", maxSplits: 1)
            if sides.count == 2 { fields[String(sides[0])] = String(sides[1]) }
        }
        guard let credential = fields["Credential"], let names = fields["SignedHeaders"] else {
            return false
        }
        return fields["Signature"]
            == signature(
                credential, date, names.split(separator: ";").map(String.init), rawQuery,
                payload: payload, secret)
    }

    private func signature(
        _ credential: String, _ date: String, _ names: [String], _ query: [String],
        payload: String, _ secret: [UInt8]
    ) -> String {
        var lines = [method, path, query.sorted().joined(separator: "&")]
        for name in names { lines.append("\(name):\(headers[name] ?? "")") }
        lines += ["", names.joined(separator: ";"), payload]
        let scope = credential.split(separator: "/").dropFirst()
        guard credential.hasPrefix(S3StandIn.accessKeyID + "/"), scope.count == 4,
            scope.elementsEqual([
                date.prefix(8), Substring(S3StandIn.region), "s3", "aws4_request",
            ])
        else { return "a credential of another scope" }
        let digest = Hexadecimal.encode(
            SHA256.digest(Array(lines.joined(separator: "\n").utf8)))
        let text = "AWS4-HMAC-SHA256\n\(date)\n\(scope.joined(separator: "/"))\n\(digest)"
        let key = scope.reduce(Array("AWS4".utf8) + secret) {
            HMACSHA256(key: $0).code(for: Array($1.utf8))
        }
        return Hexadecimal.encode(HMACSHA256(key: key).code(for: Array(text.utf8)))
    }
}
