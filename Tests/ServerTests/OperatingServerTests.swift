import Foundation
import Testing

@testable import Server

@Suite("A serving process")
struct OperatingServerTests {
    private let folder: TemporaryFolder
    private var data: String { folder.path("data") }

    init() throws { folder = try TemporaryFolder() }

    @Test("It says that it is alive and ready, and stops with 0 when it is told to")
    func lifeAndEnd() throws {
        for number in [SIGTERM, SIGINT] {
            let server = try ServerProcess(data: data)
            #expect(try server.request("/healthz").status == 200)
            #expect(try server.request("/readyz").body == "ready\n")
            #expect(try server.request("/readyz?x", ["-X", "POST"]).status == 405)
            #expect(try server.request("/nothing/here").status == 404)
            server.signal(number)
            #expect(server.wait() == 0)
            let log = server.log()
            #expect(log.last?.contains("\"message\":\"stopped\"") == true)
            // Nothing is left to be written back, and the socket is gone.
            let names = try FileManager.default.contentsOfDirectory(atPath: data)
            #expect(!names.contains("control.sock"))
            for name in names where name.hasSuffix("-wal") {
                let size = try FileManager.default.attributesOfItem(atPath: "\(data)/\(name)")[
                    .size]
                #expect((size as? NSNumber)?.intValue == 0)
            }
        }
    }

    @Test("A second server on the folder is refused, and the first goes on")
    func secondServer() throws {
        let server = try ServerProcess(data: data)
        let second = try Program.run(["serve", "--data", data, "--listen", "127.0.0.1:0"])
        #expect(second.status == 1)
        #expect(second.error == "lenticular: another server runs on \(data)\n")
        #expect(try server.request("/readyz").status == 200)
    }

    @Test("An address that is taken ends the start with one line, and the folder is free again")
    func takenAddress() throws {
        let first = try ServerProcess(data: data)
        let other = folder.path("other")
        let second = try Program.run(["serve", "--data", other, "--listen", first.address])
        #expect(second.status == 1)
        #expect(second.error.hasPrefix("lenticular: cannot listen"))
        #expect(second.error.split(separator: "\n").count == 1)
        #expect(try Program.run(["container", "create", "iCloud.a", "--data", other]).status == 0)
        #expect(try first.request("/readyz").status == 200)
    }

    @Test("Commands while it runs hold at once, and after kill -9 and a new start")
    func commandsWhileServing() throws {
        let server = try ServerProcess(data: data)
        #expect(try server.command("container", "create", "iCloud.a").status == 0)
        let user = try server.command(
            "user", "create", "a@b.example", "--password-stdin", "--json", input: "correct horse\n")
        #expect(user.object["email"] as? String == "a@b.example")
        #expect((user.object["accountID"] as? String)?.count == 36)
        let again = try server.command("user", "create", "A@B.example", "--json")
        #expect(again.status == 1)
        #expect(again.output.isEmpty)
        #expect(again.error == "lenticular: the address belongs to another user\n")
        server.signal(SIGKILL)
        #expect(server.wait() == -SIGKILL)
        let list = try Program.run(["user", "list", "--json", "--data", data])
        #expect(list.object["email"] as? [String] == ["a@b.example"])
        let restarted = try ServerProcess(data: data)
        #expect(
            try restarted.command("container", "list", "--json").output
                == "{\"container\":[\"iCloud.a\"]}\n")
        #expect(
            try restarted.command("check", "--json").output == "{\"ok\":true,\"problems\":[]}\n")
    }

    @Test("Healthcheck asks the address that is configured, of TCP and of a Unix socket")
    func healthcheck() throws {
        let server = try ServerProcess(data: data)
        let asked = try Program.run(
            ["healthcheck", "--json"], environment: ["LENTICULAR_LISTEN": server.address])
        #expect(asked.object["version"] as? String == ProgramVersion.text)
        #expect(asked.status == 0)
        server.signal(SIGTERM)
        _ = server.wait()
        let dead = try Program.run(
            ["healthcheck"], environment: ["LENTICULAR_LISTEN": server.address])
        #expect(dead.status == 1)
        #expect(dead.error.hasPrefix("lenticular: no answer from 127.0.0.1"))

        let address = "unix:" + folder.path("http.sock")
        let local = try ServerProcess(data: data, listen: address)
        let near = try Program.run(["healthcheck"], environment: ["LENTICULAR_LISTEN": address])
        #expect(near.status == 0)
        withExtendedLifetime(local) {}
    }

    @Test("Metrics are there for this machine, and for nobody else without a token")
    func metrics() throws {
        let server = try ServerProcess(data: data)
        let page = try server.request("/metrics")
        #expect(page.status == 200)
        #expect(page.text.contains("text/plain; version=0.0.4"))
        #expect(page.body.contains("\nlenticular_connections_open 1\n"))
        #expect(try server.request("/metrics", ["-H", "X-Forwarded-For: 192.0.2.1"]).status == 404)
        let other = try ServerProcess(
            data: folder.path("other"),
            environment: ["LENTICULAR_METRICS_BEARER_TOKEN": "0123456789abcdef"])
        let forwarded = ["-H", "X-Forwarded-For: 192.0.2.1"]
        #expect(try other.request("/metrics", forwarded).status == 401)
        let bearer = ["-H", "Authorization: Bearer 0123456789abcdef"]
        #expect(try other.request("/metrics", forwarded + bearer).status == 200)
    }

    @Test("Ten thousand addresses that do not exist leave the metrics as small as one does")
    func metricsStayBounded() throws {
        let server = try ServerProcess(data: data)
        _ = try server.request("/nothing")
        let before = try server.request("/metrics").body.split(separator: "\n").count
        let targets = (0..<10_000).map {
            "url = \"http://\(server.address)/database/1/\(UUID().uuidString)/\($0)?q=\($0)\"\noutput = /dev/null\n"
        }
        let list = folder.path("targets")
        try targets.joined().write(toFile: list, atomically: false, encoding: .utf8)
        _ = try server.request("/nothing", ["-K", list, "--output", "/dev/null"])
        let after = try server.request("/metrics").body.split(separator: "\n").count
        #expect(after <= before + 25)
    }

    @Test("A setting that cannot be used stops the start and names the setting")
    func badSettings() throws {
        let file = folder.path("settings.json5")
        try "{ http: { bodyBytesMax: 'x' } }".write(toFile: file, atomically: true, encoding: .utf8)
        for command in [["serve"], ["config", "check"], ["container", "list"]] {
            let outcome = try Program.run(command + ["--config", file, "--data", data])
            #expect(outcome.status == 1)
            #expect(outcome.output.isEmpty)
            #expect(outcome.error.contains("http.bodyBytesMax"))
            #expect(outcome.error.split(separator: "\n").count == 1)
        }
        #expect(!FileManager.default.fileExists(atPath: data))
        let address = try Program.run(["serve", "--listen", "nowhere", "--data", data])
        #expect(address.status == 1)
        #expect(address.error.contains("listen"))
    }

    @Test("The settings come from the file, then the environment, then the options")
    func precedence() throws {
        let file = folder.path("settings.json5")
        try "{ data: '\(folder.path("one"))', log: { format: 'text' } }".write(
            toFile: file, atomically: true, encoding: .utf8)
        for name in ["one", "two", "three"] { try ServerProcess.makeData(folder.path(name)) }
        func folderUsed(_ arguments: [String], _ environment: [String: String]) throws -> [String] {
            let outcome = try Program.run(
                ["container", "create", "iCloud.a", "--config", file] + arguments,
                environment: environment)
            #expect(outcome.status == 0)
            return try ["one", "two", "three"].filter { name in
                try Program.run(
                    ["container", "delete", "iCloud.a", "--yes", "--data", folder.path(name)]
                ).status == 0
            }
        }
        #expect(try folderUsed([], [:]) == ["one"])
        #expect(try folderUsed([], ["LENTICULAR_DATA": folder.path("two")]) == ["two"])
        #expect(
            try folderUsed(
                ["--data", folder.path("three")], ["LENTICULAR_DATA": folder.path("two")]) == [
                    "three"
                ])
    }

    @Test("SIGHUP does not end it, a second signal to stop does at once")
    func furtherSignals() throws {
        let server = try ServerProcess(data: data)
        server.signal(SIGHUP)
        #expect(server.waitForLine { $0.contains("reload") } != nil)
        #expect(try server.request("/readyz").status == 200)
        server.signal(SIGTERM)
        server.signal(SIGINT)
        #expect([0, 1].contains(server.wait()))
    }

    @Test("The service manager hears when the server is ready and when it stops")
    func notifies() throws {
        let path = folder.path("notify.sock")
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
        func next() -> String {
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
        let server = try ServerProcess(data: data, environment: ["NOTIFY_SOCKET": path])
        #expect(next() == "READY=1")
        server.signal(SIGTERM)
        #expect(next() == "STOPPING=1")
        #expect(server.wait() == 0)
    }
}
