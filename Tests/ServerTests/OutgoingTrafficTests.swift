import Awaiting
import Configuration
import HTTPClient
import Network
import Server
import Testing

@testable import Control

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
