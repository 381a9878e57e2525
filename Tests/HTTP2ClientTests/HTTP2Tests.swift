#if ApplePush
    import Awaiting
    import Foundation
    import HTTP2Client
    import HTTPClient
    import Network
    import PythonProgram
    import Synchronization
    import Testing

    @Suite("Requests over HTTP/2")
    struct HTTP2Tests {
        private typealias Outcome = Result<OutgoingAnswer, ClientFailure>

        /// A time that tests move; the loop looks at it about once a second of the real one.
        private final class Moment: Sendable {
            private let value = Atomic<UInt64>(1)
            var clock: MonotonicClock { MonotonicClock { self.value.load(ordering: .relaxed) } }
            func advance(_ count: UInt64) { value.wrappingAdd(count, ordering: .relaxed) }
        }

        private func requests(
            _ server: HTTP2Server, allows: Bool = true, clock: MonotonicClock = .system,
            trusts: Bool = true, resolve: OutgoingRequests.Resolve? = nil,
            change: (inout OutgoingLimits) -> Void = { _ in }
        ) throws -> OutgoingRequests {
            var limits = OutgoingLimits.http2
            change(&limits)
            return try OutgoingRequests.http2(
                policy: TargetPolicy { _ in allows },
                trust: TLSTrust(
                    authoritiesFile: trusts ? server.certificate : "", spoken: .http2),
                limits: limits, clock: clock,
                resolve: resolve ?? { $2(Self.lookUp("127.0.0.1", $1)) }
            )
        }

        private static func lookUp(_ host: String, _ port: UInt16) -> NameResolver.Outcome {
            do throws(SystemError) {
                return .success(try ResolvedAddress.resolve(host: host, port: port))
            } catch {
                return .failure(error)
            }
        }

        private func request(
            _ server: HTTP2Server, _ path: String, body: String = "", milliseconds: Int? = nil
        ) throws -> OutgoingRequest {
            OutgoingRequest(
                method: "POST",
                url: try #require(TargetURL("https://localhost:\(server.port)\(path)")),
                namedBy: .operators, headers: [("X-Name", "a value")], body: Array(body.utf8),
                millisecondsMax: milliseconds)
        }

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

        private func object(_ outcome: Outcome) throws -> [String: Any] {
            let answer = try outcome.get()
            #expect(answer.status == 200)
            return try #require(
                JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
        }

        @Test("A request arrives with its fields and body, and so does its answer")
        func exchange() throws {
            guard let server = try HTTP2Server() else { return }
            let requests = try requests(server, change: { $0.answerBytesMax = 1_000_000 })
            defer { requests.stop() }
            let body = String(repeating: "a body ", count: 20_000)
            let echo = try object(
                try send(request(server, "/echo?x=1", body: body), by: requests))
            #expect(echo["body"] as? String == body)
            let fields = try #require(echo["fields"] as? [String: String])
            #expect(fields[":method"] == "POST" && fields[":path"] == "/echo?x=1")
            #expect(fields[":scheme"] == "https" && fields["x-name"] == "a value")
            #expect(fields[":authority"] == "localhost:\(server.port)")
            #expect(fields["content-length"] == "\(body.utf8.count)")
            guard
                case .success(let gone) = try send(
                    try request(server, "/status/410/Unregistered"), by: requests)
            else {
                Issue.record("no answer")
                return
            }
            #expect(gone.status == 410)
            #expect(gone.head.headers["content-type"] == "application/json")
            #expect(String(decoding: gone.body, as: UTF8.self) == "{\"reason\": \"Unregistered\"}")
        }

        @Test("Many requests share a connection, no more at a time than the server takes")
        func many() throws {
            guard let server = try HTTP2Server(streamsMax: 3) else { return }
            let requests = try requests(server)
            defer { requests.stop() }
            let outcomes = try (0..<50).map {
                begin(try request(server, "/echo/\($0)", body: "\($0)"), by: requests)
            }
            var connections = Set<Int?>()
            for (index, outcome) in outcomes.enumerated() {
                let echo = try object(try outcome.value())
                #expect(echo["body"] as? String == "\(index)")
                connections.insert(echo["connection"] as? Int)
            }
            #expect(connections == [1])
        }

        @Test("What is above the last stream of a GOAWAY is sent again on a new connection, once")
        func goAway() throws {
            guard let server = try HTTP2Server() else { return }
            let requests = try requests(server)
            defer { requests.stop() }
            let outcomes = try (0..<10).map {
                begin(try request(server, "/leave/10/4", body: "\($0)"), by: requests)
            }
            let echoes = try outcomes.map { outcome in
                let echo = try object(try outcome.value())
                return (
                    try #require(echo["connection"] as? Int),
                    try #require(echo["body"] as? String)
                )
            }
            #expect(echoes.count { $0.0 == 1 } == 4)
            #expect(echoes.count { $0.0 == 2 } == 6)
            #expect(Set(echoes.map(\.1)) == Set((0..<10).map { "\($0)" }))
        }

        @Test("A request that the server has not looked at is sent again, a few times")
        func refused() throws {
            guard let server = try HTTP2Server() else { return }
            let requests = try requests(server)
            defer { requests.stop() }
            _ = try object(try send(request(server, "/refuse-once/a"), by: requests))
        }

        @Test("Failures are told by their kind, and what follows goes on")
        func failures() throws {
            guard let server = try HTTP2Server() else { return }
            let requests = try requests(server, change: { $0.answerBytesMax = 200_000 })
            defer { requests.stop() }
            for path in ["/reset", "/cut", "/garbage", "/large/200001"] {
                let outcome = try send(request(server, path), by: requests)
                #expect(![nil, .timedOut].contains(failure(outcome)), "\(path)")
                _ = try object(try send(request(server, "/echo"), by: requests))
            }
            #expect(
                failure(try send(request(server, "/large/200001"), by: requests))
                    == .broken("the body is over 200000 bytes"))
            let large = try send(request(server, "/large/200000"), by: requests).get()
            #expect(large.body.count == 200_000)
        }

        @Test("A server that hangs is given up at the deadline, and its connection with it")
        func hanging() throws {
            guard let server = try HTTP2Server() else { return }
            let moment = Moment()
            let requests = try requests(server, clock: moment.clock)
            defer { requests.stop() }
            let outcome = begin(
                try request(server, "/hang", milliseconds: 5_000), by: requests)
            _ = try server.nextRequest()
            // With this answer all has come that the server had to say of itself. From here on it is silent.
            let previous = try object(try send(request(server, "/echo"), by: requests))
            #expect(previous["connection"] as? Int == 1)
            moment.advance(5_001)
            #expect(failure(try outcome.value()) == .timedOut)
            let echo = try object(try send(request(server, "/echo"), by: requests))
            #expect(echo["connection"] as? Int == 2)
        }

        @Test("A connection that stays idle is closed, and opened again when it is needed")
        func idle() throws {
            guard let server = try HTTP2Server() else { return }
            let moment = Moment()
            let requests = try requests(
                server, clock: moment.clock, change: { $0.idleMillisecondsMax = 1_000 })
            defer { requests.stop() }
            _ = try object(try send(request(server, "/echo"), by: requests))
            _ = try server.nextRequest()
            moment.advance(1_001)
            #expect(try server.nextRequest() == "{\"closed\": 1}")
            let echo = try object(try send(request(server, "/echo"), by: requests))
            #expect(echo["connection"] as? Int == 2)
        }

        @Test("Loopback, and a name that leads to both kinds of address, are refused unseen")
        func targets() throws {
            guard let server = try HTTP2Server() else { return }
            let loopback = try requests(server, allows: false)
            defer { loopback.stop() }
            #expect(
                failure(try send(request(server, "/echo"), by: loopback))
                    == .refused(.notPublic(address: "127.0.0.1")))
            let both = try requests(
                server, allows: false,
                resolve: { _, port, then in
                    let found = ["8.8.8.8", "127.0.0.1"].map { Self.lookUp($0, port) }
                    then(.success(found.flatMap { (try? $0.get()) ?? [] }))
                })
            defer { both.stop() }
            #expect(
                failure(try send(request(server, "/echo"), by: both))
                    == .refused(.notPublic(address: "127.0.0.1")))
        }

        @Test("A certificate that is not believed, and a server that is not there, are told")
        func untrusted() throws {
            guard let server = try HTTP2Server() else { return }
            let requests = try requests(server, trusts: false)
            defer { requests.stop() }
            guard
                case .untrusted = failure(try send(request(server, "/echo"), by: requests))
            else {
                Issue.record("a certificate was believed")
                return
            }
            let nowhere = try #require(TargetURL("https://localhost:1/"))
            guard
                case .unreachable = failure(
                    try send(
                        OutgoingRequest(method: "GET", url: nowhere, namedBy: .operators),
                        by: requests))
            else {
                Issue.record("something answers at port 1")
                return
            }
        }
    }
#endif
