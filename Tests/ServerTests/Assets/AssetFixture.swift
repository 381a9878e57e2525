import ChildProcesses
import Foundation
import Testing

/// A server process, and one user of it who uploads and downloads by curl.
final class AssetFixture: @unchecked Sendable {
    // Unchecked: the server is exchanged only while nobody else uses it.
    let data: String
    let environment: [String: String]
    let query: String
    private(set) var server: ServerProcess
    private let base = "/database/1/iCloud.a/development/private"
    private let shell: [String]

    struct Refused: Error { let text: String }

    /// - Parameter shell: what runs the server's command.
    init(
        data: String, environment: [String: String] = [:], under shell: [String] = []
    ) throws {
        self.data = data
        self.environment = environment
        self.shell = shell
        server = try ServerProcess(data: data, environment: environment, under: shell)
        _ = try server.command("container", "create", "iCloud.a")
        _ = try server.command("user", "create", "ann@a.example")
        let api = try server.command("api-token", "create", "iCloud.a", "development", "--json")
        let web = try server.command(
            "web-token", "create", "iCloud.a", "development", "ann@a.example", "--json")
        query =
            "ckAPIToken=\(try #require(api.object["apiToken"] as? String))"
            + "&ckWebAuthToken=\(try #require(web.object["webAuthToken"] as? String))"
    }

    /// Goes on with another process on the same data.
    func restart() throws {
        server = try ServerProcess(data: data, environment: environment, under: shell)
    }

    func post(_ operation: String, _ body: String) throws -> [String: Any] {
        let answer = try server.request("\(base)/\(operation)?\(query)", ["-d", body])
        guard answer.status == 200,
            let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
                as? [String: Any]
        else { throw Refused(text: answer.text) }
        return object
    }

    /// The path of a fresh upload URL; the server does not know on which port it is reached.
    func uploadPath() throws -> String {
        let answer = try post("assets/upload", #"{"tokens":[{"fieldName":"f","recordType":"T"}]}"#)
        let token = (answer["tokens"] as? [[String: Any]])?.first
        return try Self.path(of: #require(token?["url"] as? String))
    }

    static func path(of url: String) -> String {
        url.range(of: "/assets/").map { String(url[$0.lowerBound...]) } ?? url
    }

    /// Uploads by curl with these options; the value for a field.
    func upload(_ options: [String]) throws -> [String: Any] {
        let answer = try server.request(uploadPath(), options)
        guard answer.status == 200, let start = answer.text.range(of: "{\"singleFile\"") else {
            throw Refused(text: answer.text)
        }
        let object = try JSONSerialization.jsonObject(
            with: Data(answer.text[start.lowerBound...].utf8))
        return try #require((object as? [String: Any])?["singleFile"] as? [String: Any])
    }

    func upload(file: String) throws -> [String: Any] { try upload(["--data-binary", "@\(file)"]) }

    /// Saves a record that holds an uploaded file; the path of its link.
    @discardableResult
    func save(_ name: String, _ value: [String: Any]) throws -> String {
        let text = String(
            decoding: try JSONSerialization.data(withJSONObject: value), as: UTF8.self)
        let answer = try post(
            "records/modify",
            #"{"operations":[{"operationType":"forceReplace","record":{"recordType":"T","#
                + #""recordName":"\#(name)","fields":{"f":{"value":\#(text)}}}}]}"#)
        return try link(in: answer)
    }

    /// The path of a fresh link to a record's file.
    func link(of name: String) throws -> String {
        try link(in: post("records/lookup", #"{"records":[{"recordName":"\#(name)"}]}"#))
    }

    private func link(in answer: [String: Any]) throws -> String {
        let record = (answer["records"] as? [[String: Any]])?.first
        let field = (record?["fields"] as? [String: Any])?["f"] as? [String: Any]
        guard let url = (field?["value"] as? [String: Any])?["downloadURL"] as? String else {
            throw Refused(text: "\(answer)")
        }
        return Self.path(of: url)
    }

    /// What curl makes of a link.
    func download(_ path: String, _ options: [String] = []) throws -> Data {
        let curl = ChildProcess()
        curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        curl.arguments =
            ["curl", "-s", "-g", "--max-time", "120", "http://\(server.address)\(path)"] + options
        let output = Pipe()
        curl.standardOutput = output
        try curl.run()
        let bytes = output.readToEnd()
        curl.waitUntilExit()
        return bytes
    }

    /// Problems that the `check` command names.
    func problems() throws -> [String] {
        let check = try server.command("check", "--json")
        return check.object["problems"] as? [String] ?? ["\(check)"]
    }

    /// The files below the assets' folder: in place, and under way.
    func files(_ data: String? = nil) -> (placed: [String], incoming: [String]) {
        let folder = "\(data ?? self.data)/containers/icloud.a/development/assets"
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        let files = names.filter { ($0 as NSString).lastPathComponent.count >= 32 }
        return (
            files.filter { !$0.hasPrefix("incoming/") }.map { "\(folder)/\($0)" },
            files.filter { $0.hasPrefix("incoming/") }
        )
    }
}

/// A file of bytes that no other number gives.
func makeFile(_ path: String, bytes count: Int, number: UInt64 = 1) throws -> Data {
    var state = number &* 0x9E37_79B9_7F4A_7C15 | 1
    var words: [UInt64] = []
    for _ in 0...(count / 8) {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        words.append(state ^ (state >> 29))
    }
    let bytes = words.withUnsafeBytes { Data($0.prefix(count)) }
    try bytes.write(to: URL(fileURLWithPath: path))
    return bytes
}
