import CloudModel
import Foundation
import HTTP

/// What a download came to.
struct Download {
    let status: Int
    let headers: [(name: String, value: String)]
    let bytes: [UInt8]

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// A download whose file is found damaged after the head has gone.
struct BrokenOff: Error {}

extension WireClient {
    /// The part of a URL that a request's target is.
    static func target(of url: String) -> String {
        guard let path = url.range(of: "/assets/") else { return url }
        return String(url[path.lowerBound...])
    }

    /// Asks for upload URLs.
    func tokens(
        _ tokens: String, zone: String? = nil, in database: String = "private"
    ) throws -> Answer {
        let location = zone.map { ",\"zoneID\":{\"zoneName\":\(quoted($0))}" } ?? ""
        return try send("\(database)/assets/upload", "{\"tokens\":\(tokens)\(location)}")
    }

    func uploadURL(in database: String = "private") throws -> String {
        let answer = try tokens("[{\"recordType\":\"Cup\",\"fieldName\":\"photo\"}]", in: database)
        guard let url = answer["tokens"][0]["url"].string else {
            throw WireFailure("no upload URL: \(answer.text)")
        }
        return url
    }

    /// Sends bytes to an upload URL, in pieces as a connection hands them on.
    ///
    /// - Parameters:
    ///   - ends: false leaves in the middle; then there is no answer to wait for.
    ///   - beforeEnd: called when all of the bytes have been taken.
    @discardableResult
    func upload(
        _ bytes: [UInt8], to url: String, by size: Int = 65_536, method: HTTPRequest.Method = .post,
        headers: [(name: String, value: String)] = [], hasLength: Bool = true, ends: Bool = true,
        beforeEnd: () throws -> Void = {}
    ) throws -> Answer? {
        let done = Waiting<HTTPResponse>()
        let id = UUID().uuidString.lowercased()
        var fields = headers
        if hasLength { fields.append(("Content-Length", "\(bytes.count)")) }
        let request = HTTPRequest(
            id: id, method: method, target: Array(Self.target(of: url).utf8),
            headers: HTTPHeaders(fields), body: [],
            peer: Peer(address: "127.0.0.1", isLoopback: true, isTLS: false), loop: loop)
        let reply = HTTPReply { done.arrive($0) }
        guard !bytes.isEmpty else {
            server.web.respond(to: request, reply: reply)
            return try Answer(done.wait(), requestID: id)
        }
        let consumed = DispatchSemaphore(value: 0)
        let stream = BodyStream { _ in consumed.signal() }
        if let sink = server.web.receive(request, stream: stream, reply: reply) {
            var start = 0
            while start < bytes.count {
                let end = min(start + size, bytes.count)
                sink.receive(Array(bytes[start..<end]))
                guard consumed.wait(timeout: .now() + 60) == .success else {
                    throw WireFailure("a piece was never dealt with")
                }
                start = end
            }
            if ends {
                try beforeEnd()
                sink.end()
            } else {
                sink.abort()
                return nil
            }
        }
        return try Answer(done.wait(), requestID: id)
    }

    /// Uploads to a fresh URL, and hands back the value for a field.
    func asset(_ bytes: [UInt8], in database: String = "private") throws -> AnswerPart {
        guard let answer = try upload(bytes, to: uploadURL(in: database)), answer.status == 200
        else {
            throw WireFailure("not uploaded")
        }
        return answer["singleFile"]
    }

    /// Reads a URL as it stands.
    func download(
        _ url: String, headers: [(name: String, value: String)] = [],
        method: HTTPRequest.Method = .get
    ) throws -> Download {
        let done = Waiting<HTTPResponse>()
        server.respond(from: loop) { loop in
            let request = HTTPRequest(
                id: UUID().uuidString.lowercased(), method: method,
                target: Array(Self.target(of: url).utf8), headers: HTTPHeaders(headers), body: [],
                peer: Peer(address: "127.0.0.1", isLoopback: true, isTLS: false), loop: loop)
            server.web.respond(to: request, reply: HTTPReply { done.arrive($0) })
        }
        let response = try done.wait()
        return Download(
            status: response.status, headers: response.headers,
            bytes: method == .head ? [] : try response.body + Self.bytes(of: response.stream))
    }

    private static func bytes(of stream: StreamedBody?) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for part in stream?.parts ?? [] {
            switch part {
            case .bytes(let more): bytes += more
            case .file(let slice):
                // As a connection does, but the whole at once.
                guard slice.check?.isSound(slice.offset..<slice.offset + slice.count) ?? true
                else { throw BrokenOff() }
                var piece = [UInt8](repeating: 0, count: slice.count)
                let got = pread(slice.descriptor, &piece, slice.count, off_t(slice.offset))
                guard got == slice.count else { throw WireFailure("a file is too short") }
                bytes += piece
            case .made(let maker, let offset, let count):
                var made = 0
                while made < count {
                    let piece = try maker.bytes(at: offset + made, count: count - made)
                    bytes += piece
                    made += piece.count
                }
            }
        }
        return bytes
    }
}

extension WireServer {
    /// The files of the assets of a store.
    func assetFiles() throws -> [AssetDigest] {
        try assetStore().storage.list(after: nil, limit: 10_000).map(\.digest)
    }
}
