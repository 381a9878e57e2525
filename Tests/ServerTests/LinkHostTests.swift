import Foundation
import Testing

@testable import Server

@Suite("Links and the host that requests name")
struct LinkHostTests {
    private let folder: TemporaryFolder
    private static let told = "links name another host than requests do"

    init() throws { folder = try TemporaryFolder() }

    private func warnings(
        _ environment: [String: String], hosts: [String]
    ) throws -> [String] {
        let server = try ServerProcess(
            data: folder.path(UUID().uuidString), environment: environment)
        for host in hosts {
            _ = try server.request(
                "/database/1/iCloud.a/development/public/users/caller",
                [
                    "-H", "Host: \(host)",
                ])
        }
        server.signal(SIGTERM)
        _ = server.wait()
        return server.log().filter { $0.contains(Self.told) }
    }

    @Test("A request for another host than links name is told of, once, with both")
    func once() throws {
        let found = try warnings([:], hosts: ["sync.example.org", "other.example.org"])
        #expect(found.count == 1)
        #expect(found.first?.contains("\"requests\":\"sync.example.org\"") == true, "\(found)")
        #expect(found.first?.contains("\"links\":\"127.0.0.1:") == true, "\(found)")
    }

    @Test("Nothing is told where they are the same, and of checks from this machine")
    func same() throws {
        let found = try warnings(
            ["LENTICULAR_PUBLIC_BASE_URL": "https://sync.example.org"],
            hosts: ["sync.example.org", "Sync.Example.org", "localhost:8080", "127.0.0.1"])
        #expect(found.isEmpty, "\(found)")
    }
}
