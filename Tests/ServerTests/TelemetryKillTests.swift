import ChildProcesses
import Foundation
import Testing

@Suite("Telemetry of a server that is killed")
struct TelemetryKillTests {
    /// Far more than a minute, on a machine that is busy with other tests.
    private static let secondsMax = 1_200.0

    private let folder: TemporaryFolder
    private var data: String { folder.path("data") }

    init() throws { folder = try TemporaryFolder() }

    /// How many lookups the charts show.
    private func shown(by server: ServerProcess) throws -> Int {
        let outcome = try server.command(
            "telemetry", "show", "iCloud.a", "development", "--operation", "records/lookup",
            "--hours", "24", "--json")
        let total = try #require(outcome.object["total"] as? [String: Any], "\(outcome)")
        return try #require(total["requests"] as? Int)
    }

    private func ask(_ count: Int, of server: ServerProcess, _ token: String) throws {
        for _ in 0..<count {
            let answer = try server.request(
                "/database/1/iCloud.a/development/public/records/lookup?ckAPIToken=\(token)",
                ["-d", #"{"records":[{"recordName":"r"}]}"#])
            #expect(answer.status == 200)
        }
    }

    @Test(
        "What was counted before the minute that goes on is there after a crash, and counting goes on"
    )
    func killed() throws {
        let first = try ServerProcess(data: data)
        try #require(try first.command("container", "create", "iCloud.a").status == 0)
        let made = try first.command("api-token", "create", "iCloud.a", "development", "--json")
        let token = try #require(made.object["apiToken"] as? String)
        try ask(5, of: first, token)
        // They are put away once their minute is over.
        let end = Date(timeIntervalSinceNow: Self.secondsMax)
        while try shown(by: first) != 5, Date() < end {}
        try #require(try shown(by: first) == 5)
        try ask(3, of: first, token)
        first.signal(SIGKILL)
        _ = first.wait()

        let second = try ServerProcess(data: data)
        let kept = try shown(by: second)
        #expect((5...8).contains(kept))
        try ask(2, of: second, token)
        second.signal(SIGTERM)
        #expect(second.wait() == 0)
        // An end in order puts away what is left.
        let third = try ServerProcess(data: data)
        #expect(try shown(by: third) == kept + 2)
    }
}
