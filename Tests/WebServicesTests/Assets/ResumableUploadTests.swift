import Foundation
import HTTP
import Seeding
import Testing
import WebServices

@Suite("Uploads in several requests, by tus")
struct ResumableUploadTests {
    private static let type = (
        name: "Content-Type", value: "application/offset+octet-stream"
    )
    private static let tus = (name: "Tus-Resumable", value: "1.0.0")

    private let server: WireServer
    private let ida: WireClient
    private let url: String

    init() throws {
        var options = AssetOptions(baseURL: "https://sync.example")
        options.bytesMax = 1_000_000
        options.resumableUploadsMax = 6
        server = try WireServer(assets: options)
        ida = try server.user()
        url = try ida.uploadURL()
    }

    /// A request of the protocol, with a body or without.
    @discardableResult
    private func send(
        _ method: HTTPRequest.Method, _ bytes: [UInt8] = [], to url: String? = nil,
        ends: Bool = true, with headers: (name: String, value: String)...
    ) throws -> Answer? {
        try ida.upload(
            bytes, to: url ?? self.url, by: 10_000, method: method, headers: [Self.tus] + headers,
            ends: ends)
    }

    private func create(_ length: Int, at url: String? = nil) throws -> Answer? {
        try send(.post, to: url, with: ("Upload-Length", "\(length)"))
    }

    @discardableResult
    private func patch(_ bytes: [UInt8], at offset: Int, ends: Bool = true) throws -> Answer? {
        try send(
            .other("PATCH"), bytes, ends: ends, with: Self.type, ("Upload-Offset", "\(offset)"))
    }

    private func offset() throws -> String? { try send(.head)?.header("upload-offset") }

    @Test("What came before a connection broke stays, and the whole is an asset like any other")
    func resuming() throws {
        let bytes = pattern(250_000)
        let made = try create(bytes.count)
        #expect(made?.status == 201)
        #expect(made?.header("location") == WireClient.target(of: url))
        #expect(made?.header("tus-resumable") == "1.0.0")
        #expect(made?.header("upload-expires")?.hasSuffix("GMT") == true)
        #expect(try offset() == "0")
        try patch(Array(bytes[..<70_000]), at: 0, ends: false)
        #expect(try offset() == "70000")
        // The URL may have expired meanwhile: it is for beginning.
        server.clock.advance(16 * 60_000)
        let next = try patch(Array(bytes[70_000..<100_001]), at: 70_000)
        #expect(next?.status == 204 && next?.header("upload-offset") == "100001")
        let early = try ida.download(url)
        #expect(early.status == 400 && early.text.contains("100001 of 250000"))
        let last = try patch(Array(bytes[100_001...]), at: 100_001)
        #expect(last?.status == 204 && last?.header("upload-offset") == "250000")
        #expect(try offset() == "250000")
        let value = try Answer(
            HTTPResponse(status: 200, body: ida.download(url).bytes), requestID: "")["singleFile"]
        #expect(value["size"].int == 250_000)
        let saved = try ida.save("a", "{\"p\":{\"value\":\(value.raw)}}", zone: nil)
        let link = saved["fields"]["p"]["value"]["downloadURL"].string ?? ""
        #expect(try ida.download(link).bytes == bytes)
        #expect(server.web.assetCounts.uploadsActive == 0)
        #expect(server.web.assetCounts.uploadsFinished == 1)
        #expect(try server.problems().isEmpty)
    }

    @Test("All bytes are the asset even when the connection breaks right behind the last")
    func brokenAtTheEnd() throws {
        _ = try create(20_000)
        try patch(pattern(20_000), at: 0, ends: false)
        #expect(try offset() == "20000")
        #expect(try ida.download(url).text.contains("\"singleFile\""))
    }

    @Test("The first bytes may come with the request that begins; an asset may have none")
    func creationWithUpload() throws {
        let made = try send(
            .post, pattern(500), with: Self.type, ("Upload-Length", "800"))
        #expect(made?.status == 201 && made?.header("upload-offset") == "500")
        #expect(try patch(pattern(300, seed: 2), at: 500)?.header("upload-offset") == "800")
        // Begun anew on the same URL, it is another upload.
        #expect(try create(0)?.status == 201)
        #expect(try ida.download(url).text.contains("\"size\":0"))
    }

    /// A PATCH from the beginning on, whose pieces the test hands over.
    private func beginPatch(
        _ consumed: DispatchSemaphore, _ answer: Waiting<HTTPResponse>
    ) throws -> any BodySink {
        let request = HTTPRequest(
            id: UUID().uuidString.lowercased(), method: .other("PATCH"),
            target: Array(WireClient.target(of: url).utf8),
            headers: HTTPHeaders([Self.tus, Self.type, ("Upload-Offset", "0")]), body: [],
            peer: Peer(address: "127.0.0.1", isLoopback: true, isTLS: false), loop: 0)
        return try #require(
            server.web.receive(
                request, stream: BodyStream { _ in consumed.signal() },
                reply: HTTPReply { answer.arrive($0) }))
    }

    @Test("An upload lasts as long as bytes come, however long the request takes")
    func slow() throws {
        _ = try create(40_000)
        let consumed = DispatchSemaphore(value: 0)
        let answer = Waiting<HTTPResponse>()
        let request = try beginPatch(consumed, answer)
        for seed in 1...4 {
            request.receive(pattern(10_000, seed: UInt64(seed)))
            try #require(consumed.wait(timeout: .now() + 60) == .success)
            server.clock.advance(3_000_000)
            server.web.doWhatIsDue()
        }
        request.end()
        #expect(try answer.wait().status == 204)
        #expect(try ida.download(url).text.contains("\"size\":40000"))
    }

    @Test("A newer request takes the upload over from one that seems to go on")
    func takingOver() throws {
        _ = try create(100_000)
        let started = DispatchSemaphore(value: 0)
        let failed = Waiting<HTTPResponse>()
        let older = try beginPatch(started, failed)
        older.receive(pattern(10_000))
        try #require(started.wait(timeout: .now() + 60) == .success)
        #expect(try offset() == "10000")
        #expect(try patch(pattern(90_000, seed: 2), at: 10_000)?.status == 204)
        older.receive(pattern(10_000, seed: 3))
        #expect(try failed.wait().status == 409)
        #expect(try ida.download(url).text.contains("\"size\":100000"))
    }

    @Test("Requests that do not fit are refused, and what has come stays")
    func refusals() throws {
        #expect(try offset() == nil)
        #expect(try send(.head)?.status == 404)
        #expect(try patch([1], at: 0)?.status == 404)
        #expect(try create(1_000_001)?.status == 413)
        #expect(try send(.post, with: ("Upload-Length", "-1"))?.status == 400)
        #expect(try send(.post, with: ("Upload-Defer-Length", "1"))?.status == 400)
        #expect(try create(100)?.status == 201)
        #expect(try patch(pattern(10), at: 0)?.status == 204)
        let elsewhere = try patch(pattern(10), at: 9)
        #expect(elsewhere?.status == 409 && elsewhere?.reason.contains("10 bytes") == true)
        #expect(try patch(pattern(91), at: 10)?.status == 413)
        let unannounced = try ida.upload(
            pattern(91), to: url, method: .other("PATCH"),
            headers: [Self.tus, Self.type, ("Upload-Offset", "10")], hasLength: false)
        #expect(unannounced?.status == 413)
        let untyped = try send(.other("PATCH"), [1], with: ("Upload-Offset", "10"))
        #expect(untyped?.status == 415)
        for offset in ["", "x", "-1", "+10", "10.0", "99999999999999999999"] {
            let answer = try send(
                .other("PATCH"), [1], with: Self.type, ("Upload-Offset", offset))
            #expect(answer?.status == 400, "\(offset)")
        }
        let older = try ida.upload(
            [1], to: url, method: .other("PATCH"),
            headers: [("Tus-Resumable", "0.2.2"), Self.type, ("Upload-Offset", "10")])
        #expect(older?.status == 412 && older?.header("tus-version") == "1.0.0")
        #expect(try offset() == "10")
        let forged = url.dropLast() + (url.hasSuffix("A") ? "B" : "A")
        #expect(try send(.head, to: String(forged))?.status == 404)
        #expect(try patch(pattern(90), at: 10)?.header("upload-offset") == "100")
    }

    @Test(
        "Uploads end by DELETE and in time, leave nothing, and are no more than allowed at a time")
    func endings() throws {
        _ = try create(100)
        try patch(pattern(50), at: 0)
        #expect(try server.assetStoreFiles().count == 2, "a file, and what tells of it")
        #expect(try send(.delete)?.status == 204)
        #expect(try server.assetStoreFiles().isEmpty)
        #expect(server.web.assetCounts.uploadsActive == 0)
        #expect(try send(.head)?.status == 404)
        #expect(try send(.delete)?.status == 404)
        let others = try (0..<3).map { _ in try ida.uploadURL() }
        for other in others { #expect(try create(10, at: other)?.status == 201) }
        try send(
            .other("PATCH"), pattern(5), to: others[0], with: Self.type, ("Upload-Offset", "0"))
        #expect(try server.assetStoreFiles().count == 6)
        let refused = try create(10)
        #expect(refused?.status == 503 && refused?.code == "TRY_AGAIN_LATER")
        // They are half of all that there may be: the others are somebody else's.
        let guest = try server.user("guest")
        for _ in 0..<3 { #expect(try create(10, at: guest.uploadURL())?.status == 201) }
        #expect(try create(10, at: guest.uploadURL())?.status == 503)
        server.clock.advance(3_600_000)
        server.web.doWhatIsDue()
        #expect(try send(.head, to: others[0])?.status == 404)
        // They are counted out last, when their files have gone and others have their room.
        try server.until { server.web.assetCounts.uploadsActive == 0 }
        #expect(try send(.head, to: others[0])?.status == 404)
        #expect(try server.assetStoreFiles().isEmpty)
        for _ in 0..<3 { #expect(try create(10, at: ida.uploadURL())?.status == 201) }
        #expect(server.web.assetCounts.uploadsActive == 3)
    }

    @Test("Pages of other origins are told what there is, and see the fields of the protocol")
    func crossOrigin() throws {
        let origin = (name: "Origin", value: "https://app.example")
        let preflight = try ida.download(
            url, headers: [origin, ("Access-Control-Request-Headers", "upload-offset")],
            method: .options)
        #expect(preflight.header("access-control-allow-methods")?.contains("PATCH") == true)
        #expect(preflight.header("tus-version") == "1.0.0")
        #expect(preflight.header("tus-max-size") == "1000000")
        #expect(preflight.header("tus-extension")?.contains("creation") == true)
        _ = try create(10)
        let head = try ida.download(url, headers: [origin, Self.tus], method: .head)
        #expect(head.header("access-control-allow-origin") == origin.value)
        #expect(head.header("access-control-expose-headers")?.contains("Upload-Offset") == true)
        #expect(head.header("cache-control") == "no-store")
    }

    @Test("Random cuts, breaks and repetitions come to the same bytes")
    func random() throws {
        var generator = SeededRandom("resumable uploads")
        for _ in 0..<20 {
            let url = try ida.uploadURL()
            let bytes = pattern(
                Int.random(in: 1...60_000, using: &generator), seed: generator.next())
            _ = try create(bytes.count, at: url)
            var reached = 0
            while reached < bytes.count {
                let wrong = Int.random(in: 0..<6, using: &generator) == 0
                let start = wrong ? reached + 1 : reached
                let end = Int.random(in: start...max(start, bytes.count), using: &generator)
                let piece = start < end ? Array(bytes[start..<min(end, bytes.count)]) : []
                try send(
                    .other("PATCH"), piece, to: url,
                    ends: piece.isEmpty || Bool.random(using: &generator), with: Self.type,
                    ("Upload-Offset", "\(start)"))
                if !wrong { reached += piece.count }
                let answer = try send(.head, to: url)
                #expect(answer?.header("upload-offset") == "\(reached)")
            }
            let value = try Answer(
                HTTPResponse(status: 200, body: ida.download(url).bytes), requestID: "")[
                    "singleFile"]
            let saved = try ida.save("a", "{\"p\":{\"value\":\(value.raw)}}", zone: nil)
            let link = saved["fields"]["p"]["value"]["downloadURL"].string ?? ""
            #expect(try ida.download(link).bytes == bytes)
        }
    }
}
