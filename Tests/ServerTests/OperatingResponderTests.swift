import HTTP
import Synchronization
import Testing

@testable import Server

@Suite("Addresses beside the protocol")
struct OperatingResponderTests {
    private struct Elsewhere: Responder {
        func respond(to request: HTTPRequest, reply: HTTPReply) {
            reply.send(HTTPResponse(status: 299))
        }
    }

    private final class Trouble: Sendable {
        let now = Mutex<String?>(nil)
    }

    private final class Sent: Sendable {
        let response = Mutex<HTTPResponse?>(nil)
    }

    private let trouble = Trouble()
    private let readiness: Readiness
    private let responder: ServerResponder

    init() {
        let trouble = trouble
        readiness = Readiness { trouble.now.withLock { $0 } }
        responder = ServerResponder(
            readiness: readiness, metrics: Metrics(version: "1", startedAt: 0),
            metricsAccess: MetricsAccess(token: nil), protocolResponder: Elsewhere())
    }

    private func answer(_ target: String, _ method: HTTPRequest.Method = .get) -> HTTPResponse? {
        let sent = Sent()
        let peer = Peer(address: "127.0.0.1", isLoopback: true, isTLS: false)
        responder.respond(
            to: HTTPRequest(
                id: "", method: method, target: Array(target.utf8), headers: HTTPHeaders([]),
                body: [], peer: peer, loop: 0),
            reply: HTTPReply { response in sent.response.withLock { $0 = response } })
        return sent.response.withLock { $0 }
    }

    private func ready() -> String {
        let answer = answer("/readyz")
        return "\(answer?.status ?? 0) \(String(decoding: answer?.body ?? [], as: UTF8.self))"
    }

    @Test("It is ready once it has started, as long as the disk is well and it does not drain")
    func readinessStates() {
        #expect(ready() == "503 starting\n")
        readiness.become(.ready)
        #expect(ready() == "200 ready\n")
        trouble.now.withLock { $0 = "disk full" }
        #expect(ready() == "503 disk full\n")
        trouble.now.withLock { $0 = nil }
        #expect(ready() == "200 ready\n")
        readiness.become(.draining)
        #expect(ready() == "503 draining\n")
        readiness.become(.ready)
        #expect(ready() == "503 draining\n")
        #expect(answer("/healthz")?.status == 200)
    }

    @Test("Only whole paths and only reads are meant")
    func routing() {
        #expect(answer("/healthz?x=y")?.status == 200)
        #expect(answer("/metrics", .head)?.status == 404)
        #expect(answer("/", .head)?.status == 200)
        for target in ["/healthz/", "/healthzz", "//", "/metric", "/%68ealthz", "/database/1/x"] {
            #expect(answer(target)?.status == 299, "\(target)")
        }
        let refused = answer("/metrics", .post)
        #expect(refused?.status == 405)
        #expect(refused?.headers.contains { $0.name == "Allow" && $0.value == "GET, HEAD" } == true)
    }

    @Test("The JavaScript client is handed out under its version, and nothing else beside it")
    func client() throws {
        let folder = "/client/\(ProgramVersion.text)"
        for name in ["cloudkit.js", "cloudkit.cjs", "cloudkit.d.ts", "cloudkit.d.cts"] {
            let file = try #require(answer("\(folder)/\(name)?x"), "\(name)")
            #expect(file.status == 200, "\(name)")
            #expect(file.body.count > 1_000, "\(name)")
            #expect(
                file.headers.contains { $0.value == "public, max-age=31536000, immutable" })
            #expect(
                file.headers.contains { $0 == ("Access-Control-Allow-Origin", "*") }, "\(name)")
        }
        let list = String(decoding: answer("/client")?.body ?? [], as: UTF8.self)
        #expect(list.contains("<script src=\"\(folder)/cloudkit.cjs\" integrity=\"sha256-"))
        for gone in ["/client/0/cloudkit.js", folder, "\(folder)/", "\(folder)/../cloudkit.js"] {
            #expect(answer(gone)?.status == 404, "\(gone)")
        }
        #expect(answer("\(folder)/cloudkit.js", .post)?.status == 405)
        #expect(answer("/clients/cloudkit.js")?.status == 299)
    }
}
