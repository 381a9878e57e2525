import Foundation
import Testing

@testable import Server

/// A server process with a container, and two people who call it, of whom one hears of what the other does.
final class DeliveryHome {
    static let container = "iCloud.a"
    private static let location = "1/\(container)/development"

    private let data: String
    private let environment: [String: String]
    private(set) var server: ServerProcess
    /// The credentials of requests.
    let ann: String
    let bob: String

    init(_ data: String, environment: [String: String] = [:]) throws {
        self.data = data
        self.environment = ["LENTICULAR_OUTGOING_ALLOWED_NETWORKS": "127.0.0.1"]
            .merging(environment) { $1 }
        server = try ServerProcess(data: data, environment: self.environment)
        _ = try server.command("container", "create", Self.container)
        let location = [Self.container, "development"]
        let token = try Program.run(
            ["api-token", "create"] + location + ["--json", "--data", data])
        let api = try #require(token.object["apiToken"] as? String)
        var callers: [String] = []
        for email in ["ann@a.example", "bob@a.example"] {
            _ = try server.command("user", "create", email)
            let made = try Program.run(
                ["web-token", "create"] + location + [email, "--json", "--data", data])
            let web = try #require(made.object["webAuthToken"] as? String)
            callers.append("ckAPIToken=\(api)&ckWebAuthToken=\(web)")
        }
        (ann, bob) = (callers[0], callers[1])
    }

    /// Kills the server and starts it anew.
    func killAndRestart() throws {
        server.signal(SIGKILL)
        _ = server.wait()
        server = try ServerProcess(data: data, environment: environment)
    }

    /// Adds a webhook, and gives its name.
    func addWebhook(at port: UInt16) throws {
        let made = try server.command(
            "webhook", "add", Self.container, "development", "http://127.0.0.1:\(port)/in")
        try #require(made.status == 0, "\(made.error)")
    }

    @discardableResult
    func call(
        _ path: String, by caller: String, _ body: String, trace: String? = nil
    ) throws -> [String: Any] {
        let module = path.hasPrefix("tokens/") ? "device" : "database"
        let answer = try server.request(
            "/\(module)/\(Self.location)/\(path)?\(caller)",
            ["-d", body, "-H", "Content-Type: text/plain"]
                + (trace.map { ["-H", "traceparent: \($0)"] } ?? []))
        try #require(answer.status == 200, "\(path): \(answer.body)")
        #expect(!answer.body.contains("serverErrorCode"), "\(answer.body)")
        let found = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
        return try #require(found as? [String: Any])
    }

    /// Registers a device, and gives where it waits for its notices.
    func courier(of caller: String) throws -> String {
        let made = try call("tokens/create", by: caller, #"{"apnsEnvironment":"development"}"#)
        let url = try #require(made["webcourierURL"] as? String)
        return String(url[try #require(url.range(of: "/courier/")).lowerBound...])
    }

    func register(_ registration: String, by caller: String) throws {
        try call(
            "tokens/register", by: caller,
            "{\"apnsEnvironment\":\"development\",\(registration)}")
    }

    func subscribe(_ id: String, _ members: String, in database: String, by caller: String) throws {
        try call(
            "\(database)/subscriptions/modify", by: caller,
            "{\"operations\":[{\"operationType\":\"create\",\"subscription\":{"
                + "\"subscriptionID\":\"\(id)\",\(members)}}]}")
    }

    /// Saves a cup.
    ///
    /// - Parameter zone: the members of a zone ID; nil for the default zone.
    func save(
        _ name: String, in database: String = "public", zone: String? = nil, by caller: String,
        trace: String? = nil
    ) throws {
        let location = zone.map { "\"zoneID\":{\($0)}," } ?? ""
        try call(
            "\(database)/records/modify", by: caller,
            "{\(location)\"operations\":[{\"operationType\":\"create\",\"record\":{"
                + "\"recordType\":\"Cup\",\"recordName\":\"\(name)\","
                + "\"fields\":{\"secret\":{\"value\":\"porcelain\"}}}}]}", trace: trace)
    }

    /// The next notice that waits at a courier; nil when there is none in time.
    func poll(_ courier: String) throws -> [String: Any]? {
        let answer = try server.request(courier)
        try #require(answer.status == 200, "\(answer.body)")
        guard !answer.body.isEmpty else { return nil }
        return try JSONSerialization.jsonObject(with: Data(answer.body.utf8)) as? [String: Any]
    }
}
