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
            let described = try server.request("/openapi.json")
            #expect(described.status == 200 && described.body.hasPrefix(#"{"openapi":"3.1.0""#))
            let able = try server.request("/capabilities?x").body
            #expect(able.contains(#""operationsPerRequestMax":200"#))
            #expect(able.contains("\"version\":\"\(ProgramVersion.text)\""))
            #expect(try server.request("/capabilities", ["-X", "POST"]).status == 405)
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
        #expect(
            second.error == "lenticular: cannot listen at \(first.address): "
                + "another program listens there already\n")
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
        let containers = try restarted.command("container", "list", "--json")
        #expect(containers.object["container"] as? [String] == ["iCloud.a"])
        let check = try restarted.command("check", "--json")
        #expect(check.object["ok"] as? Bool == true)
        #expect(check.object["problems"] as? [String] == [])
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

    @Test("Metrics are at an address of their own, and at the others for the bearer token alone")
    func metrics() throws {
        let server = try ServerProcess(data: data)
        #expect(server.metricsAddress != server.address)
        let page = try server.request("/metrics", at: server.metricsAddress)
        #expect(page.status == 200)
        #expect(page.text.contains("text/plain; version=0.0.4"))
        #expect(page.body.contains("\nlenticular_connections_open 0\n"))
        #expect(try server.request("/readyz", at: server.metricsAddress).status == 404)
        #expect(
            try server.request("/metrics", ["-d", ""], at: server.metricsAddress).status == 405)
        // Behind a proxy that says nothing of its clients everybody comes from this machine.
        #expect(try server.request("/metrics").status == 404)
        let other = try ServerProcess(
            data: folder.path("other"),
            environment: [
                "LENTICULAR_METRICS_BEARER_TOKEN": "0123456789abcdef",
                "LENTICULAR_METRICS_LISTEN": "",
            ])
        #expect(other.metricsAddress.isEmpty || !other.metricsAddress.contains(":"))
        #expect(try other.request("/metrics").status == 401)
        let bearer = ["-H", "Authorization: Bearer 0123456789abcdef"]
        #expect(try other.request("/metrics", bearer).status == 200)
    }

    @Test("A metrics address that is taken stops the start, but for the default")
    func takenMetricsAddress() throws {
        let first = try ServerProcess(data: data)
        let refused = try Program.run(
            ["serve", "--data", folder.path("other"), "--listen", "127.0.0.1:0"],
            environment: ["LENTICULAR_METRICS_LISTEN": first.metricsAddress])
        #expect(refused.status == 1)
        #expect(
            refused.error
                == "lenticular: metrics.listen: cannot listen at \(first.metricsAddress): "
                + "another program listens there already\n")
        // One of the two has the default; or neither, where something else has it.
        let servers = try ["one", "two"].map {
            try ServerProcess(
                data: folder.path($0), environment: ["LENTICULAR_METRICS_LISTEN": "127.0.0.1:9464"])
        }
        #expect(servers.count { $0.metricsAddress == "127.0.0.1:9464" } <= 1)
        for server in servers { #expect(try server.request("/readyz").status == 200) }
    }

    @Test("People find a page at the root, programs what they ask for; none of it runs anything")
    func frontPage() throws {
        let server = try ServerProcess(data: data)
        func page(_ accept: String?) throws -> String {
            try server.request("/", accept.map { ["-H", "Accept: \($0)"] } ?? []).text
        }
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
        for accept in [nil, browser, "*/*", "image/png", "text/html;q=0.5, text/plain;q=0.4"] {
            let html = try page(accept)
            #expect(html.hasPrefix("HTTP/1.1 200"))
            #expect(html.contains("Content-Type: text/html; charset=utf-8"))
            #expect(
                html.contains(
                    "Content-Security-Policy: default-src 'none'; img-src 'self'; style-src 'sha256-"
                ))
            #expect(html.contains("X-Content-Type-Options: nosniff"))
            #expect(html.contains("Vary: Accept"))
            #expect(!html.contains("<script") && !html.contains("http://"))
        }
        #expect(try page("application/json").contains("\n{\"server\":\"Lenticular\""))
        #expect(try page("text/plain, */*;q=0.1").contains("Content-Type: text/plain"))
        #expect(try page("text/*;q=0.2, application/json;q=0.3").contains("application/json"))
        #expect(try server.request("/?x=y").status == 200)
        #expect(try server.request("/", ["-d", "x"]).status == 405)
    }

    @Test("Why credentials were refused is in the log, and nothing of it in the answer")
    func refusals() throws {
        let server = try ServerProcess(data: data)
        #expect(try server.command("container", "create", "iCloud.a").status == 0)
        let made = try server.command(
            "api-token", "create", "iCloud.a", "development", "--origin", "https://a.example",
            "--json")
        let token = try #require(made.object["apiToken"] as? String)
        let path = "/database/1/iCloud.a/development/public/users/caller"
        let unknown = String(repeating: "0", count: 64)
        func headers(_ date: String, _ signature: String) -> [String] {
            [
                "X-Apple-CloudKit-Request-KeyID: \(unknown)",
                "X-Apple-CloudKit-Request-ISO8601Date: \(date)",
                "X-Apple-CloudKit-Request-SignatureV1: \(signature)",
            ].flatMap { ["-H", $0] }
        }
        var bodies: Set<String> = []
        for (target, options, why) in [
            ("\(path)?ckAPIToken=\(unknown)", [], "no such API token"),
            (
                "\(path)?ckAPIToken=\(token)", ["-H", "Origin: https://b.example"],
                "does not allow this origin"
            ),
            (path, headers("2026-01-01T00:00:00Z", "AAAA"), "no such server key"),
        ] {
            let answer = try server.request(target, options)
            #expect(answer.status == 401)
            let id = try #require(
                answer.body.firstMatch(of: /"uuid":"([^"]*)"/)?.output.1)
            bodies.insert(answer.body.replacing(id, with: ""))
            let line = server.waitForLine { $0.contains(id) }
            #expect(line?.contains("\"refusal\":") == true, "\(line ?? "")")
            #expect(line?.contains(why) == true, "\(line ?? "")")
        }
        #expect(bodies.count == 1, "\(bodies)")
    }

    @Test("Ten thousand addresses that do not exist leave the metrics as small as one does")
    func metricsStayBounded() throws {
        let server = try ServerProcess(data: data)
        _ = try server.request("/nothing")
        let before = try server.metrics().split(separator: "\n").count
        let targets = (0..<10_000).map {
            "url = \"http://\(server.address)/database/1/\(UUID().uuidString)/\($0)?q=\($0)\"\noutput = /dev/null\n"
        }
        let list = folder.path("targets")
        try targets.joined().write(toFile: list, atomically: false, encoding: .utf8)
        _ = try server.request("/nothing", ["-K", list, "--output", "/dev/null"])
        let after = try server.metrics().split(separator: "\n").count
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

    @Test("Name and picture of the server are shown; what is no picture stops the start")
    func mark() throws {
        let picture = folder.path("mark.png")
        try Data("<svg/>".utf8).write(to: URL(fileURLWithPath: picture))
        for command in [["serve", "--data", data], ["config", "check"]] {
            for path in [picture, folder.path("none")] {
                let outcome = try Program.run(
                    command, environment: ["LENTICULAR_PAGES_ICON_FILE": path])
                #expect(outcome.status == 1)
                #expect(outcome.error.hasPrefix("lenticular: pages.iconFile: "))
                #expect(outcome.error.split(separator: "\n").count == 1)
            }
        }
        let bytes = Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x20])
        try bytes.write(to: URL(fileURLWithPath: picture))
        let server = try ServerProcess(
            data: data,
            environment: [
                "LENTICULAR_PAGES_NAME": "Tea & Sync", "LENTICULAR_PAGES_ICON_FILE": picture,
            ])
        for path in ["/", "/sign-in"] {
            #expect(try server.request(path).body.contains("Tea &amp; Sync"), "\(path)")
        }
        let icon = try server.request("/favicon.ico")
        #expect(icon.status == 200 && icon.text.contains("Content-Type: image/png"))
        #expect(icon.text.contains("Content-Length: 9"))
    }

    @Test("Variables that clusters set for a server of this name do not stop the start")
    func clusterVariables() throws {
        let server = try ServerProcess(
            data: data,
            environment: [
                "LENTICULAR_PORT": "tcp://10.0.0.1:80", "LENTICULAR_SERVICE_HOST": "10.0.0.1",
                "LENTICULAR_LISTN": "x",
            ])
        #expect(server.waitForLine { $0.contains("LENTICULAR_SERVICE_HOST") } != nil)
        #expect(server.waitForLine { $0.contains("is LENTICULAR_LISTEN meant?") } != nil)
        #expect(try server.request("/readyz").status == 200)
    }

    @Test("A check of the settings says which were set where, and shows no secret")
    func configCheck() throws {
        let checked = try Program.run(
            ["config", "check", "--json", "--data", data],
            environment: [
                "LENTICULAR_METRICS_BEARER_TOKEN": "0123456789abcdef", "LENTICULAR_PORT": "x",
            ])
        #expect(checked.object["ok"] as? Bool == true)
        #expect((checked.object["warnings"] as? [String])?.count == 1)
        let settings = checked.object["settings"] as? [[String: String]] ?? []
        #expect(settings.map { $0["setting"] } == ["data", "metrics.bearerToken"])
        #expect(settings.first?["from"] == "command line")
        #expect(settings.first?["value"] == "\"\(data)\"")
        #expect(!checked.output.contains("0123456789abcdef"))
        #expect(!FileManager.default.fileExists(atPath: data))
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

    @Test("The service manager hears when the server is ready, that it answers, and when it stops")
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
        var timeout = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        func next() -> String {
            var bytes = [UInt8](repeating: 0, count: 256)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        }
        let server = try ServerProcess(
            data: data,
            environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "300000"])
        #expect(next() == "READY=1")
        for _ in 0..<3 { #expect(next() == "WATCHDOG=1") }
        server.signal(SIGTERM)
        var last = next()
        while last == "WATCHDOG=1" { last = next() }
        #expect(last == "STOPPING=1")
        #expect(server.wait() == 0)
    }
}
