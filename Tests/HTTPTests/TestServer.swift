import Awaiting
import Foundation
import HTTP
import Network
import Synchronization
import Testing

/// A clock that moves when told.
final class ManualClock: Sendable {
    private let milliseconds = Atomic<UInt64>(1_000_000)

    var clock: MonotonicClock {
        MonotonicClock { self.milliseconds.load(ordering: .acquiring) }
    }

    func advance(seconds: Int) {
        milliseconds.wrappingAdd(UInt64(seconds) * 1000, ordering: .acquiringAndReleasing)
    }
}

/// Answers by what the path says.
///
/// `/echo` gives the body back, `/size/N` so many bytes, `/burst` 4 MB, `/later` answers from another thread,
/// `/open` begins an answer that `tell` goes on with, `/held` keeps the request and the reply until `release` or `/release`, `/twice` answers twice, and anything else tells what was asked.
final class TestResponder: Responder {
    private let held = Mutex<[(reply: HTTPReply, request: HTTPRequest)]>([])
    /// How many bodies have been decided on.
    let decided = Atomic(0)
    private let queue = DispatchQueue(label: "later")
    /// What became of the bodies that streamed.
    let sinks = Sinks()

    func respond(to request: HTTPRequest, reply: HTTPReply) {
        let target = String(decoding: request.target, as: UTF8.self)
        switch target {
        case "/seen":
            let seen = (request.bodyWitness as? SeenBody)?.text ?? "whole \(request.body.count)"
            reply.send(HTTPResponse(status: 200, body: Array(seen.utf8)))
        case "/burst":
            reply.send(HTTPResponse(status: 200, body: Self.bytes(4_000_000)))
            afterBurst.withLock { $0 }?()
        case "/echo": reply.send(HTTPResponse(status: 200, body: request.body))
        case "/later": queue.async { reply.send(HTTPResponse(status: 200, body: request.body)) }
        case "/release":
            release("released")
            reply.send(HTTPResponse(status: 200, body: Array("did it".utf8)))
        case "/twice":
            reply.send(HTTPResponse(status: 200, body: Array("first".utf8)))
            reply.send(HTTPResponse(status: 200, body: Array("second".utf8)))
            queue.async { reply.send(HTTPResponse(status: 200, body: Array("third".utf8))) }
        case "/held":
            reply.whenAbandoned { self.abandoned.wrappingAdd(1, ordering: .relaxed) }
            held.withLock { $0.append((reply, request)) }
        case "/open":
            reply.whenAbandoned { self.abandoned.wrappingAdd(1, ordering: .relaxed) }
            var response = HTTPResponse(
                status: 200, headers: [("Content-Type", "text/plain")], body: Array("one".utf8))
            let open = OpenBody()
            response.open = open
            reply.send(response) { isSent in
                if isSent { self.opened.withLock { $0.append(open) } }
            }
        case "/split": reply.send(HTTPResponse(status: 200, headers: [("X", "a\r\nY: b")]))
        case "/204": reply.send(HTTPResponse(status: 204))
        case "/last": reply.send(HTTPResponse(status: 200, closesConnection: true))
        case "/peer": reply.send(HTTPResponse(status: 200, body: Array("\(request.peer)".utf8)))
        case "/client":
            let client = request.client.map { "\($0)" } ?? "nobody"
            reply.send(HTTPResponse(status: 200, body: Array(client.utf8)))
        case let path where path.hasPrefix("/stream/"):
            reply.send(StreamedAnswers.answer(to: path))
        case let path where path.hasPrefix("/later/"):
            let size = Int(path.dropFirst(7)) ?? 0
            queue.async { reply.send(HTTPResponse(status: 200, body: Self.bytes(size))) }
        case let path where path.hasPrefix("/size/"):
            let size = Int(path.dropFirst(6)) ?? 0
            reply.send(
                HTTPResponse(
                    status: 200, headers: [("Content-Type", "application/json")],
                    body: Self.bytes(size)))
        case let path where path.hasPrefix("/random/"):
            var generator = SystemRandomNumberGenerator()
            let words = (0..<(Int(path.dropFirst(8)) ?? 0) / 8).map { _ in generator.next() }
            reply.send(
                HTTPResponse(
                    status: 200, headers: [("Content-Type", "text/plain")],
                    body: words.withUnsafeBytes { Array($0) }))
        default:
            let text = "\(request.method) \(target) \(request.body.count) \(request.id)"
            reply.send(HTTPResponse(status: 200, body: Array(text.utf8)))
        }
    }

    func decide(on request: HTTPRequest, reply: HTTPReply) -> BodyDecision {
        defer { decided.add(1, ordering: .releasing) }
        let target = String(decoding: request.target, as: UTF8.self)
        if target.hasPrefix("/no") {
            reply.send(HTTPResponse(status: 401, body: Array("no".utf8)))
            return .answered
        }
        if let caller = request.headers["x-caller"].flatMap({ Int($0) }) {
            return .receive(BodyOptions(owner: .caller(caller)))
        }
        guard target == "/seen" else {
            return .receive(BodyOptions(owner: .block(request.client)))
        }
        return .receive(BodyOptions(owner: .doubted, keeps: false, witness: SeenBody()))
    }

    private let longs = Atomic(0)
    /// How often a worker was asked for what is too long for an event loop.
    var longCount: Int { longs.load(ordering: .acquiring) }

    func runLong(for request: HTTPRequest, _ work: @escaping @Sendable () -> Void) {
        longs.add(1, ordering: .acquiringAndReleasing)
        queue.async(execute: work)
    }

    func streamsBody(of target: [UInt8]) -> Bool { target.starts(with: "/sink/".utf8) }

    func receive(
        _ request: HTTPRequest, stream: BodyStream, reply: HTTPReply
    ) -> (any BodySink)? {
        sinks.receive(request, stream, reply)
    }

    static func bytes(_ count: Int) -> [UInt8] {
        let pattern = (0..<251).map { UInt8($0) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + pattern.count)
        while bytes.count < count { bytes += pattern }
        return Array(bytes[..<count])
    }

    /// Called on the loop's thread, right after `/burst` was answered.
    let afterBurst = Mutex<(@Sendable () -> Void)?>(nil)
    private let opened = Mutex<[OpenBody]>([])
    /// How many answers have begun and go on.
    var openCount: Int { opened.withLock { $0.count } }

    /// Sends a piece of the last answer that has begun; says later whether the system has taken it.
    func tell(_ bytes: [UInt8], isLast: Bool = false) -> Told {
        let told = Told()
        opened.withLock { $0.last }?.send(bytes, isLast: isLast) { told.set($0) }
        return told
    }

    /// Breaks off the last answer that has begun.
    func cut() { opened.withLock { $0.last }?.cut() }

    /// What became of a piece.
    final class Told: Sendable {
        private let outcome = Mutex<Bool?>(nil)
        /// Nil while nothing is known.
        var isSent: Bool? { outcome.withLock { $0 } }
        func set(_ isSent: Bool) { outcome.withLock { $0 = isSent } }
    }

    var heldCount: Int { held.withLock { $0.count } }

    private let abandoned = Atomic(0)
    /// How many clients went before their held request was answered.
    var abandonedCount: Int { abandoned.load(ordering: .relaxed) }

    func release(_ text: String) {
        let replies = held.withLock { held in
            defer { held = [] }
            return held
        }
        for (reply, _) in replies { reply.send(HTTPResponse(status: 200, body: Array(text.utf8))) }
    }
}

/// A server on a port of its own, drained at the end of the test.
struct TestServer {
    let server: HTTPServer
    let addresses: [ListenAddress]
    let responder: TestResponder
    let clock: ManualClock
    let rejections: Rejections

    var address: ListenAddress { addresses[0] }

    final class Rejections: Sendable {
        private let list = Mutex<[WireRejection]>([])
        var all: [WireRejection] { list.withLock { $0 } }
        func add(_ rejection: WireRejection) { list.withLock { $0.append(rejection) } }

        private let sentences = Mutex<[String]>([])
        /// What did not hold, though it always does in a sound server.
        var broken: [String] { sentences.withLock { $0 } }
        func addBroken(_ sentence: String) { sentences.withLock { $0.append(sentence) } }
    }

    static func run(
        addresses: [ListenAddress] = [.tcp(host: "127.0.0.1", port: 0)],
        isSound: Bool = true,
        _ configure: (inout HTTPServer.Configuration) -> Void = { _ in },
        _ body: (TestServer) throws -> Void
    ) throws {
        let clock = ManualClock()
        var configuration = HTTPServer.Configuration(addresses: addresses)
        configuration.clock = clock.clock
        configuration.loopCount = 2
        configure(&configuration)
        let responder = TestResponder()
        let rejections = Rejections()
        let server = try HTTPServer(
            configuration, responder: responder,
            observer: WireObserver(
                rejected: { rejections.add($0) }, broken: { rejections.addBroken($0) }))
        let bound = try server.start()
        defer {
            server.drain(withinSeconds: 0)
            #expect(rejections.broken.isEmpty == isSound, "\(rejections.broken)")
        }
        try body(
            TestServer(
                server: server, addresses: bound, responder: responder, clock: clock,
                rejections: rejections))
    }

    func client() throws -> RawClient { try RawClient(address) }

    func until(_ isSo: () -> Bool) throws { try Wait.until(isSo) }
}
