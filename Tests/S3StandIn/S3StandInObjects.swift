import AssetStorage
import Cryptography
import Foundation
import HTTP
import Synchronization

/// What the stand-in keeps and does; it believes nothing that is not signed.
package final class S3StandInObjects: Responder {
    package enum Fault: Sendable {
        /// Answers so instead of doing what is asked.
        case refuse(status: Int, code: String)
        /// Does what is asked, and then answers so.
        case loseAnswer(status: Int)
        /// Ends the connection in the middle of the answer's body.
        case halfBody
        /// Ends the connection instead of an answer's body.
        case noBody
    }

    package struct Stored: Sendable {
        package var bytes: [UInt8]
        package var modified = Date()
        package init(bytes: [UInt8]) { self.bytes = bytes }

        package var tag: String { "\"\(Hexadecimal.encode(SHA256.digest(bytes)).prefix(32))\"" }
    }

    package struct Parts: Sendable {
        package var key: String
        package var parts: [Int: [UInt8]] = [:]
        package var begun = Date()

        package init(key: String, begun: Date = Date()) {
            self.key = key
            self.begun = begun
        }
    }

    package struct State: Sendable {
        package var objects: [String: Stored] = [:]
        package var uploads: [String: Parts] = [:]
        /// What happens to requests that begin so, once each.
        package var faults: [(start: String, fault: Fault)] = []
        /// Every request, as method and target.
        package var seen: [String] = []
        package var nextUpload = 1
        /// Of one page of a listing, whatever is asked for.
        package var pageMax = 5
    }

    package let state = Mutex(State())

    /// Has the next request that begins so fail.
    package func fail(_ start: String, _ fault: Fault, times: Int = 1) {
        state.withLock { state in
            for _ in 0..<times { state.faults.append((start, fault)) }
        }
    }

    package var keys: [String] { state.withLock { $0.objects.keys.sorted() } }
    package var uploadCount: Int { state.withLock { $0.uploads.count } }

    /// How many requests have begun so.
    package func count(_ start: String) -> Int {
        state.withLock { $0.seen.count { $0.hasPrefix(start) } }
    }

    package func respond(to request: HTTPRequest, reply: HTTPReply) {
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
        guard call.isSigned(by: S3StandInServer.secret) else {
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
        guard call.bucket == S3StandInServer.bucket else { return error(404, "NoSuchBucket") }
        let query = call.query
        switch call.method {
        case "GET" where call.key.isEmpty && query["uploads"] != nil: return uploads(call, state)
        case "GET" where call.key.isEmpty: return list(call, state)
        case "GET", "HEAD": return read(call, state)
        case "PUT":
            guard let id = query["uploadId"], let number = query["partNumber"].flatMap({ Int($0) })
            else {
                if call.header("if-none-match") == "*", state.objects[call.key] != nil {
                    return error(412, "PreconditionFailed")
                }
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
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}
