import Awaiting
import HTTP
import HTTPClient
import Network
import Testing

@Suite("Many requests from one event loop, over TLS")
struct OutgoingTLSTests {
    private func run(_ body: (TestCertificate, _ port: UInt16) throws -> Void) throws {
        let certificate = try TestCertificate(name: "localhost")
        let context = try TLSContext(
            certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
        try TestServer.run({
            $0.endpoints = [.init(.tcp(host: "127.0.0.1", port: 0), tls: context)]
        }) { test in
            guard case .tcp(_, let port) = test.address else { return }
            try body(certificate, port)
        }
    }

    private func requests(
        _ trust: ServerTrust, _ change: (inout OutgoingLimits) -> Void = { _ in }
    ) throws -> OutgoingRequests {
        var limits = OutgoingLimits()
        limits.answerBytesMax = 2_000_000
        limits.requestMillisecondsMax = Wait.seconds * 1_000
        change(&limits)
        return try OutgoingRequests(
            policy: TargetPolicy { _ in true }, trust: trust, limits: limits
        ) { host, port, then in
            do throws(SystemError) {
                then(.success(try ResolvedAddress.resolve(host: host, port: port)))
            } catch {
                then(.failure(error))
            }
        }
    }

    private func send(
        _ all: [OutgoingRequest], by requests: OutgoingRequests
    ) throws -> [Result<OutgoingAnswer, ClientFailure>] {
        let outcomes = all.map { request in
            let outcome = Awaited<Result<OutgoingAnswer, ClientFailure>>()
            requests.send(request) { outcome.tell($0) }
            return outcome
        }
        return try outcomes.map { try $0.value() }
    }

    @Test("Bodies of any size go both ways, many at a time, over a few connections")
    func exchange() throws {
        try run { certificate, port in
            let requests = try requests(
                ServerTrust(authoritiesFile: certificate.certificateFile)
            ) { $0.connectionsPerDestinationMax = 3 }
            defer { requests.stop() }
            let url = try #require(TargetURL("https://localhost:\(port)/echo"))
            let bodies = (0..<60).map {
                TestResponder.bytes([0, 1, 16_384, 16_385, 300_000][$0 % 5])
            }
            let outcomes = try send(
                bodies.map {
                    OutgoingRequest(method: "POST", url: url, namedBy: .operators, body: $0)
                }, by: requests)
            for (body, outcome) in zip(bodies, outcomes) {
                let answer = try outcome.get()
                #expect(answer.status == 200)
                #expect(answer.body == body)
            }
        }
    }

    @Test("A certificate of an unknown authority, or of another host, stops it")
    func untrusted() throws {
        let other = try TestCertificate(name: "localhost")
        try run { certificate, port in
            let cases = [
                (other.certificateFile, "localhost"), (certificate.certificateFile, "127.0.0.1"),
            ]
            for (file, host) in cases {
                let requests = try requests(ServerTrust(authoritiesFile: file))
                defer { requests.stop() }
                let url = try #require(TargetURL("https://\(host):\(port)/"))
                let outcome = try send(
                    [OutgoingRequest(method: "GET", url: url, namedBy: .operators)], by: requests)[
                        0]
                guard case .failure(.untrusted) = outcome else {
                    Issue.record("\(host): \(outcome)")
                    continue
                }
            }
        }
    }
}
