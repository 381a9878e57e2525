import Awaiting
import Configuration
import HTTPClient
import Network
import Server
import Testing

@Suite("What the server sends by itself")
struct OutgoingTrafficTests {
    private func configuration(_ settings: [String: String]) throws -> ServerConfiguration {
        var environment: [String: String] = [:]
        for (name, value) in settings { environment["LENTICULAR_OUTGOING_\(name)"] = value }
        return try LoadedConfiguration(file: nil, environment: environment, flags: []).values
    }

    private func status(
        of url: String, by configuration: ServerConfiguration,
        namedBy namer: TargetNamer = .operators
    ) throws -> Result<Int, ClientFailure> {
        let traffic = try OutgoingTraffic(configuration)
        defer { traffic.stop() }
        let request = OutgoingRequest(
            method: "GET", url: try #require(TargetURL(url)), namedBy: namer)
        let outcome = Awaited<Result<OutgoingAnswer, ClientFailure>>()
        traffic.requests.send(request) { outcome.tell($0) }
        return try outcome.value().map(\.status)
    }

    @Test("Each limit on requests has its setting")
    func limits() throws {
        let limits = try configuration([
            "CONNECTIONS_MAX": "11", "CONNECTIONS_PER_DESTINATION_MAX": "12",
            "WAITING_PER_DESTINATION_MAX": "13", "ANSWER_BYTES_MAX": "1400",
            "REQUEST_MILLISECONDS": "1500", "CONNECT_MILLISECONDS": "1600",
            "IDLE_MILLISECONDS": "1700", "ADDRESS_MILLISECONDS": "1800",
        ]).outgoingLimits
        #expect(limits.connectionsMax == 11 && limits.connectionsPerDestinationMax == 12)
        #expect(limits.waitingPerDestinationMax == 13 && limits.answerBytesMax == 1_400)
        #expect(limits.requestMillisecondsMax == 1_500 && limits.connectMillisecondsMax == 1_600)
        #expect(limits.idleMillisecondsMax == 1_700 && limits.addressMillisecondsMax == 1_800)
        let streams = try configuration([
            "STREAMS_PER_CONNECTION_MAX": "14", "STREAMS_WAITING_MAX": "15",
            "STREAMS_IDLE_MILLISECONDS": "16", "CONNECT_MILLISECONDS": "1600",
            "REQUEST_MILLISECONDS": "1500", "ANSWER_BYTES_MAX": "1400",
        ]).http2Limits
        #expect(streams.streamsPerConnectionMax == 14 && streams.waitingPerDestinationMax == 15)
        #expect(streams.idleMillisecondsMax == 16 && streams.connectMillisecondsMax == 1_600)
        #expect(streams.requestMillisecondsMax == 1_500 && streams.answerBytesMax == 1_400)
    }

    @Test("What is reached by a name on this machine has to be allowed, and never is to users")
    func allowed() throws {
        let folder = try TemporaryFolder()
        let server = try ServerProcess(data: folder.path("data"))
        let port = try #require(server.address.split(separator: ":").last)
        let url = "http://localhost:\(port)/healthz"
        let allowing = try configuration(["ALLOWED_NETWORKS": "127.0.0.0/8,::1"])
        #expect(try status(of: url, by: allowing) == .success(200))
        guard
            case .failure(.refused) = try status(of: url, by: configuration([:]))
        else {
            Issue.record("this machine was reached")
            return
        }
        guard
            case .failure(.refused) = try status(of: url, by: allowing, namedBy: .users)
        else {
            Issue.record("this machine was reached for a user")
            return
        }
    }

    @Test("Certificates that cannot be used stop it, by the setting's name")
    func authorities() throws {
        let broken = try configuration(["AUTHORITIES_FILE": "/nowhere/at-all.pem"])
        do {
            try OutgoingTraffic(broken).stop()
            Issue.record("a file that is not there was used")
        } catch let failure as CommandFailure {
            #expect(failure.description.hasPrefix("outgoing.authoritiesFile: "))
        }
    }

    @Test("A contact is an address of mail or of a page")
    func contact() throws {
        for contact in ["mailto:admin@example.com", "https://example.com/", ""] {
            #expect(try configuration(["CONTACT": contact]).outgoing.contact == contact)
        }
        for contact in ["admin@example.com", "mailto:", "http://example.com"] {
            #expect(throws: ConfigurationError.self) { try configuration(["CONTACT": contact]) }
        }
    }
}
