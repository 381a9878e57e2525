import ChildProcesses
import Foundation
import Testing

@testable import Server

@Suite("What lies in config/grafana")
struct GrafanaTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "config/grafana")
    private static let promtool = "/usr/bin/promtool"

    private func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: Self.folder.appending(path: name)), as: UTF8.self)
    }

    /// The metrics that a text names, without what a histogram adds.
    private func metrics(in text: String) -> Set<String> {
        Set(
            text.matches(of: /\b(?:lenticular|process)_[a-z_]+/).map { match in
                let name = String(match.output)
                let end = ["_bucket", "_sum", "_count"].first { name.hasSuffix($0) }
                return String(name.dropLast(end?.count ?? 0))
            })
    }

    @Test(
        "Dashboards and rules ask for metrics that a server has",
        arguments: ["lenticular.json", "lenticular.rules.yml"])
    func names(file: String) throws {
        let temporary = try TemporaryFolder()
        let server = try FolderServer(data: temporary.path("data")) {
            $0.backups.to = temporary.path("backups")
        }
        defer { server.stop() }
        let page = String(decoding: server.server.metrics.page(), as: UTF8.self)
        let known = Set(
            page.split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }
                .map { String($0.split(separator: " ")[2]) })
        let named = metrics(in: try text(file))
        #expect(named.count > 8)
        #expect(named.subtracting(known).isEmpty, "\(named.subtracting(known).sorted())")
    }

    @Test("The dashboard is JSON, and every panel has a title and a query")
    func dashboard() throws {
        let json = try JSONSerialization.jsonObject(with: Data(text("lenticular.json").utf8))
        let panels = try #require((json as? [String: Any])?["panels"] as? [[String: Any]])
        #expect(panels.count > 10)
        for panel in panels {
            let targets = panel["targets"] as? [[String: Any]] ?? []
            #expect((panel["title"] as? String)?.isEmpty == false)
            #expect(targets.allSatisfy { ($0["expr"] as? String)?.contains("$job") == true })
            #expect(!targets.isEmpty)
        }
    }

    @Test(
        "Prometheus accepts the rules",
        .enabled(if: FileManager.default.isExecutableFile(atPath: promtool)))
    func rules() throws {
        let process = ChildProcess()
        process.executableURL = URL(filePath: Self.promtool)
        process.arguments = [
            "check", "rules", Self.folder.appending(path: "lenticular.rules.yml").path,
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
