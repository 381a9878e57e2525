import Foundation
import Testing

@Suite("One container's store that is missing")
struct MissingStoreTests {
    private let folder: TemporaryFolder
    private let data: String

    init() throws {
        folder = try TemporaryFolder()
        data = folder.path("data")
    }

    /// What a lookup in a container is answered with.
    private func ask(
        _ server: ServerProcess, _ container: String, _ token: String
    ) throws -> (status: Int, body: String) {
        let answer = try server.request(
            "/database/1/\(container)/development/public/records/lookup?ckAPIToken=\(token)",
            ["--data-raw", #"{"records":[{"recordName":"r"}]}"#])
        return (answer.status, answer.body)
    }

    @Test(
        "It is logged once, counted and named; its requests get a clear answer, and others are served"
    )
    func missing() throws {
        var server = try ServerProcess(data: data)
        var tokens: [String: String] = [:]
        for container in ["iCloud.a", "iCloud.b"] {
            #expect(try server.command("container", "create", container).status == 0)
            let made = try server.command(
                "api-token", "create", container, "development", "--name", container, "--json")
            tokens[container] = try #require(made.object["apiToken"] as? String)
            #expect(try ask(server, container, tokens[container] ?? "").status == 200)
        }
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let store = "\(data)/containers/icloud.a/development/store.sqlite"
        let away = folder.path("away")
        try FileManager.default.moveItem(atPath: store, toPath: away)

        server = try ServerProcess(
            data: data, environment: ["LENTICULAR_RETENTION_UPKEEP_SECONDS": "1"])
        #expect(try server.request("/readyz").status == 200)
        #expect(try server.metrics().contains("lenticular_stores_missing 1\n"))
        for _ in 0..<3 {
            let refused = try ask(server, "iCloud.a", tokens["iCloud.a"] ?? "")
            #expect(refused.status == 503)
            #expect(refused.body.contains("the container's data is not there"), "\(refused)")
            #expect(try ask(server, "iCloud.b", tokens["iCloud.b"] ?? "").status == 200)
        }
        let listed = try server.command("container", "list")
        #expect(
            listed.output == "iCloud.a  (development is missing: see check)\niCloud.b\n")
        let members = try #require(
            try server.command("container", "list", "--json").object["containers"]
                as? [[String: Any]])
        #expect(members.map { $0["missing"] as? [String] } == [["development"], []])
        let check = try server.command("check")
        #expect(check.status == 1 && check.output.contains("iCloud.a development: store.sqlite"))

        // Put back, it serves and counts no more.
        try FileManager.default.moveItem(atPath: away, toPath: store)
        #expect(try ask(server, "iCloud.a", tokens["iCloud.a"] ?? "").status == 200)
        #expect(try server.metrics().contains("lenticular_stores_missing 0\n"))
        #expect(try server.command("container", "list").output == "iCloud.a\niCloud.b\n")
        #expect(try server.command("check").status == 0)
        server.signal(SIGTERM)
        #expect(server.wait() == 0)
        let told = server.log().filter { $0.contains("a store is missing") }
        #expect(told.count == 1 && told[0].contains("\"level\":\"error\""), "\(told)")
        #expect(told.first?.contains("iCloud.a") == true)
    }
}
