import Awaiting
import HTTPClient
import Network
import Synchronization
import Testing

@Suite("Many requests from one event loop")
struct OutgoingTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// A time that tests move; the loop looks at it about once a second of the real one.
    private final class Moment: Sendable {
        private let value = Atomic<UInt64>(1)
        var clock: MonotonicClock { MonotonicClock { self.value.load(ordering: .relaxed) } }
        func advance(_ count: UInt64) { value.wrappingAdd(count, ordering: .relaxed) }
    }

    private func requests(
        _ change: (inout OutgoingLimits) -> Void = { _ in }, allows: Bool = true,
        clock: MonotonicClock = .system, resolve: OutgoingRequests.Resolve? = nil
    ) throws -> OutgoingRequests {
        var limits = OutgoingLimits()
        change(&limits)
        return try OutgoingRequests(
            policy: TargetPolicy { _ in allows }, trust: ServerTrust(), limits: limits,
            clock: clock, resolve: resolve ?? { $2(Self.lookUp($0, $1)) })
    }

    private static func lookUp(_ host: String, _ port: UInt16) -> NameResolver.Outcome {
        do throws(SystemError) {
            return .success(try ResolvedAddress.resolve(host: host, port: port))
        } catch {
            return .failure(error)
        }
    }

    private func request(
        _ server: ScriptedServer, _ path: String = "/", body: String = "",
        milliseconds: Int = 60_000, namedBy namer: TargetNamer = .operators
    ) throws -> OutgoingRequest {
        OutgoingRequest(
            method: "POST", url: try #require(TargetURL("\(server.origin.text)\(path)")),
            namedBy: namer, body: Array(body.utf8), millisecondsMax: milliseconds)
    }

    private typealias Outcome = Result<OutgoingAnswer, ClientFailure>

    /// Begins a request; what comes of it.
    private func begin(
        _ request: OutgoingRequest, by requests: OutgoingRequests
    ) -> Awaited<Outcome> {
        let outcome = Awaited<Outcome>()
        requests.send(request) { outcome.tell($0) }
        return outcome
    }

    private func send(
        _ request: OutgoingRequest, by requests: OutgoingRequests
    ) throws -> Outcome {
        try begin(request, by: requests).value()
    }

    private func failure(_ outcome: Outcome) -> ClientFailure? {
        if case .failure(let failure) = outcome { return failure }
        return nil
    }

    private func body(_ outcome: Outcome) -> String? {
        guard case .success(let answer) = outcome else { return nil }
        return String(decoding: answer.body, as: UTF8.self)
    }

    @Test("Requests to one origin follow each other on a kept connection")
    func reuse() throws {
        let server = try ScriptedServer([
            [.readHead, .readBytes(3), .send(Self.ok), .readHead, .send(Self.ok), .readUntilEnd]
        ])
        let requests = try requests()
        #expect(body(try send(request(server, "/1", body: "abc"), by: requests)) == "ok")
        #expect(body(try send(request(server, "/2"), by: requests)) == "ok")
        requests.stop()
        #expect(server.finish() == 1)
        #expect(server.requests[0].hasPrefix("POST /1 HTTP/1.1\r\nHost: 127.0.0.1:"))
        #expect(server.requests[0].contains("\r\nContent-Length: 3\r\n"))
    }

    @Test("A kept connection that the server has closed is replaced, and the request sent again")
    func stale() throws {
        let server = try ScriptedServer([
            [.readHead, .send(Self.ok)], [.readHead, .send(Self.ok)],
        ])
        let requests = try requests()
        defer { requests.stop() }
        #expect(body(try send(request(server), by: requests)) == "ok")
        // Whether its end was seen before or not, the second request arrives.
        #expect(body(try send(request(server), by: requests)) == "ok")
        #expect(server.finish() == 2)
    }

    @Test("A redirect is the answer, and nothing is sent to where it leads")
    func redirect() throws {
        let elsewhere = try ScriptedServer([])
        let server = try ScriptedServer([
            [
                .readHead,
                .send(
                    "HTTP/1.1 302 Found\r\nLocation: \(elsewhere.origin.text)/\r\n"
                        + "Content-Length: 0\r\n\r\n"),
            ]
        ])
        let requests = try requests()
        defer { requests.stop() }
        guard case .success(let answer) = try send(request(server), by: requests) else {
            Issue.record("no answer")
            return
        }
        #expect(answer.status == 302)
        #expect(elsewhere.finish() == 0)
    }

    @Test("What may not be reached is refused before a connection is made")
    func refused() throws {
        let server = try ScriptedServer([])
        let requests = try requests(allows: false)
        defer { requests.stop() }
        let outcome = try send(request(server), by: requests)
        #expect(failure(outcome) == .refused(.notPublic(address: "127.0.0.1")))
    }

    @Test("Each look-up is looked at: a name that later leads elsewhere is refused then")
    func rebinding() throws {
        let script: [ScriptedServer.Step] = [
            .readHead,
            .send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"),
        ]
        let server = try ScriptedServer([script, script])
        let count = Atomic<Int>(0)
        var limits = OutgoingLimits()
        limits.addressMillisecondsMax = 0
        let moment = Moment()
        let requests = try OutgoingRequests(
            policy: TargetPolicy { $0 == "127.0.0.1" }, trust: ServerTrust(), limits: limits,
            clock: moment.clock
        ) { _, port, then in
            let isFirst = count.add(1, ordering: .relaxed).oldValue == 0
            then(Self.lookUp(isFirst ? "127.0.0.1" : "127.0.0.2", port))
        }
        defer { requests.stop() }
        let url = try #require(TargetURL("http://rebound.example:\(server.port)/"))
        let request = OutgoingRequest(method: "GET", url: url, namedBy: .operators)
        #expect(body(try send(request, by: requests)) == "ok")
        moment.advance(1)
        // The loop reads its clock once a round: this one may be of the round in which the first was answered.
        _ = try send(request, by: requests)
        #expect(
            failure(try send(request, by: requests))
                == .refused(.notPublic(address: "127.0.0.2")))
    }

    @Test("A connection that is open to operators is none for users, who are refused there")
    func namers() throws {
        let server = try ScriptedServer([[.readHead, .send(Self.ok), .readHead, .send(Self.ok)]])
        let requests = try requests()
        defer { requests.stop() }
        #expect(body(try send(request(server), by: requests)) == "ok")
        #expect(
            failure(try send(request(server, namedBy: .users), by: requests))
                == .refused(.notPublic(address: "127.0.0.1")))
        #expect(body(try send(request(server), by: requests)) == "ok")
    }

    @Test("Failures are told by their kind, and the next request goes on")
    func failures() throws {
        let server = try ScriptedServer([
            [.readHead], [.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")],
            [.readHead, .send("nonsense\r\n\r\n")],
            [.readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n")],
            [.readHead, .send("HTTP/1.1 200 OK\r\n\r\nuntil the end")],
        ])
        let requests = try requests { $0.answerBytesMax = 20 }
        defer { requests.stop() }
        func next() throws -> Outcome { try send(request(server), by: requests) }
        #expect(failure(try next()) == .broken("ended without an answer"))
        #expect(failure(try next()) == .broken("ended within the answer's body"))
        #expect(failure(try next()) == .malformed("no status line of HTTP/1.1"))
        #expect(failure(try next()) == .broken("ended within the answer's body"))
        #expect(body(try next()) == "until the end")
        let gone = try ScriptedServer([])
        let url = try #require(TargetURL("http://127.0.0.1:\(gone.port)/"))
        _ = gone.finish()
        let broken = OutgoingRequest(method: "GET\r\n", url: url, namedBy: .operators)
        #expect(failure(try send(broken, by: requests)) != nil)
        let nowhere = try #require(TargetURL("http://no-such-host.invalid/"))
        guard
            case .unreachable = failure(
                try send(
                    OutgoingRequest(method: "GET", url: nowhere, namedBy: .operators), by: requests)
            )
        else {
            Issue.record("a host that is none has answered")
            return
        }
    }

    @Test("An answer over the limit is refused as soon as it is")
    func large() throws {
        let server = try ScriptedServer([
            [
                .readHead, .send("HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n"),
                .send(String(repeating: "x", count: 30)), .readUntilEnd,
            ]
        ])
        let requests = try requests { $0.answerBytesMax = 29 }
        defer { requests.stop() }
        let outcome = try send(request(server), by: requests)
        #expect(failure(outcome) == .malformed("the body is over 29 bytes"))
    }

    @Test("A silent server, and one that is looked up for ever, are given up at the deadline")
    func deadlines() throws {
        let server = try ScriptedServer([[.readHead, .readUntilEnd]])
        let moment = Moment()
        let silent = try requests(clock: moment.clock)
        defer { silent.stop() }
        let first = begin(try request(server, milliseconds: 5_000), by: silent)
        try Wait.until { !server.requests.isEmpty }
        moment.advance(5_001)
        #expect(failure(try first.value()) == .timedOut)
        let isAsked = Atomic<Bool>(false)
        let unresolved = try requests(clock: moment.clock) { _, _, _ in
            isAsked.store(true, ordering: .relaxed)
        }
        defer { unresolved.stop() }
        let second = begin(try request(server, milliseconds: 5_000), by: unresolved)
        try Wait.until { isAsked.load(ordering: .relaxed) }
        moment.advance(5_001)
        #expect(failure(try second.value()) == .timedOut)
    }

    @Test("A server that only takes connections is given up after the time for connecting")
    func connecting() throws {
        let server = try ScriptedServer([[.readUntilEnd]])
        let moment = Moment()
        let requests = try requests({ $0.connectMillisecondsMax = 2_000 }, clock: moment.clock)
        defer { requests.stop() }
        // Nobody shakes hands there.
        let url = try #require(TargetURL("https://127.0.0.1:\(server.port)/"))
        let waiting = begin(
            OutgoingRequest(method: "GET", url: url, namedBy: .operators), by: requests)
        try Wait.until { server.connectionCount > 0 }
        moment.advance(2_001)
        #expect(failure(try waiting.value()) == .timedOut)
    }

    @Test("A connection with nothing to do is closed after a while")
    func idle() throws {
        let server = try ScriptedServer([[.readHead, .send(Self.ok), .readUntilEnd]])
        let moment = Moment()
        let requests = try requests({ $0.idleMillisecondsMax = 2_000 }, clock: moment.clock)
        defer { requests.stop() }
        #expect(body(try send(request(server), by: requests)) == "ok")
        moment.advance(2_001)
        #expect(server.finish() == 1)
        #expect(server.isFinished)
    }

    @Test("A destination that does not answer delays no other, and takes only its share")
    func slow() throws {
        let silent = try ScriptedServer([[.readHead, .readUntilEnd], [.readHead, .readUntilEnd]])
        let quick = try ScriptedServer([
            [.readHead, .send(Self.ok), .readHead, .send(Self.ok), .readUntilEnd]
        ])
        let requests = try requests {
            $0.connectionsPerDestinationMax = 2
            $0.waitingPerDestinationMax = 3
        }
        let outcomes = try (0..<5).map { _ in begin(try request(silent), by: requests) }
        try Wait.until { !silent.requests.isEmpty }
        #expect(body(try send(request(quick), by: requests)) == "ok")
        #expect(body(try send(request(quick), by: requests)) == "ok")
        requests.stop()
        // All are told, those that were over the share as well as those that waited.
        for outcome in outcomes { #expect(failure(try outcome.value()) == .overloaded) }
    }

    @Test("Where connections run out, destinations take turns")
    func turns() throws {
        // A connection is closed for another destination when it waits by then, and else goes on.
        let answers = (0..<4).flatMap { _ in [ScriptedServer.Step.readHead, .send(Self.ok)] }
        let servers = try (0..<3).map { _ in
            try ScriptedServer((0..<8).map { _ in answers + [.readUntilEnd] })
        }
        let requests = try requests { $0.connectionsMax = 1 }
        defer { requests.stop() }
        let outcomes = try servers.flatMap { server in
            try (0..<4).map { _ in begin(try request(server), by: requests) }
        }
        let bodies = try outcomes.map { body(try $0.value()) }
        #expect(bodies == [String?](repeating: "ok", count: 12))
    }
}
