import Foundation
import SharingModel

/// A server process as the sharing model's driver talks to it, which may be killed at any moment.
final class SharingProcessWire: SharingWire {
    private static let container = "iCloud.crash"

    private let data: String
    private var server: ServerProcess
    private var connections: [Int: WireConnection] = [:]
    private var webTokens: [Int: String] = [:]
    private let apiToken: String
    /// Waits for the kill that is on its way.
    private var kill: DispatchGroup?
    private(set) var kills = 0

    init(data: String) throws {
        self.data = data
        try ServerProcess.makeData(data)
        _ = try Self.command(data, "container", "create", Self.container)
        let token = try Self.command(data, "api-token", "create", Self.container, "development")
        apiToken = token["apiToken"] as? String ?? ""
        let schema = data + ".ckdb"
        try SharingRun.schema.write(toFile: schema, atomically: true, encoding: .utf8)
        _ = try Self.command(data, "schema", "import", Self.container, schema)
        server = try ServerProcess(data: data)
    }

    private static func command(_ data: String, _ arguments: String...) throws -> [String: Any] {
        let outcome = try Program.run(arguments + ["--data", data, "--json"])
        guard outcome.status == 0 else { throw CrashRun.Stopped(why: outcome.error) }
        return outcome.object
    }

    // MARK: - Requests

    func send(_ user: Int, _ path: String, _ body: String) throws -> SharingAnswer {
        let connection = connections[user] ?? WireConnection(address: server.address)
        connections[user] = connection
        let target =
            "/database/1/\(Self.container)/development/\(path)"
            + "?ckAPIToken=\(apiToken)&ckWebAuthToken=\(webTokens[user] ?? "")"
        switch connection.send("POST", target, body) {
        case .lost(let why): throw SharingLoss(why)
        case .answered(let status, let body):
            return try SharingAnswer(status: status, bytes: [UInt8](body))
        }
    }

    /// Asks for an address as it stands.
    func get(_ target: String) throws -> SharingAnswer {
        let connection = connections[-1] ?? WireConnection(address: server.address)
        connections[-1] = connection
        switch connection.send("GET", target, "") {
        case .lost(let why): throw SharingLoss(why)
        case .answered(let status, let body):
            return try SharingAnswer(status: status, bytes: [UInt8](body))
        }
    }

    func makeAccount(_ person: SharingPerson) throws -> String {
        try restartIfKilled()
        _ = try Self.command(
            data, "user", "create", person.email, "--given-name", person.givenName,
            "--family-name", "Roe")
        let made = try Self.command(
            data, "web-token", "create", Self.container, "development", person.email,
            "--expires", "86400")
        webTokens[person.index] = made["webAuthToken"] as? String ?? ""
        let caller = try send(person.index, "public/users/caller", "{}")
        return caller["userRecordName"].string ?? ""
    }

    func verify(_ handle: ModelledSharing.Handle, of person: SharingPerson) throws {
        try restartIfKilled()
        switch handle {
        case .email(let address), .phone(let address):
            _ = try Self.command(data, "user", "verify", person.email, address)
        case .name, .link, .first: break
        }
    }

    func doWork() throws -> Bool { true }

    func passTime() throws { throw CrashRun.Stopped(why: "the server's clock is its own") }

    func finishTelling() throws {}

    /// Waits for a line of the log; nil when it does not come.
    func waitForLine(_ part: String) -> String? {
        server.waitForLine { $0.contains(part) }
    }

    func metrics() throws -> String { try server.metrics() }

    // MARK: - Kills

    /// Has the server killed in a while.
    func killSoon(microseconds: Int) {
        guard kill == nil else { return }
        let group = DispatchGroup()
        let victim = server
        group.enter()
        Thread.detachNewThread {
            usleep(UInt32(microseconds))
            victim.signal(SIGKILL)
            _ = victim.wait()
            group.leave()
        }
        kill = group
    }

    /// Waits for a kill that is on its way, and starts the server anew.
    func restartIfKilled() throws {
        guard let kill else { return }
        kill.wait()
        self.kill = nil
        kills += 1
        connections = [:]
        server = try ServerProcess(data: data)
    }

    /// Has the store changed while no server runs.
    ///
    /// - Parameter environment: of the server from then on, until it is started anew.
    func restart(
        environment: [String: String] = [:], _ change: (_ store: String) throws -> Void = { _ in }
    ) throws {
        try restartIfKilled()
        server.signal(SIGTERM)
        _ = server.wait()
        try change("\(data)/containers/\(Self.container.lowercased())/development/store.sqlite")
        connections = [:]
        server = try ServerProcess(data: data, environment: environment)
    }

    /// Ends the server in order.
    func end() throws {
        try restartIfKilled()
        server.signal(SIGTERM)
        _ = server.wait()
        let outcome = try Program.run(["check", "--json", "--data", data])
        guard outcome.object["ok"] as? Bool == true else {
            throw CrashRun.Stopped(why: outcome.output)
        }
    }
}
