import ChildProcesses
import Foundation
import Testing

@testable import Server

/// What `doctor` says of deployments that lack something, and of one that lacks nothing.
@Suite("What doctor finds")
struct DoctorTests {
    private struct Report {
        let outcome: Program.Outcome

        /// What is said of a subject at a level.
        func texts(_ level: String, _ subject: String) -> [String] {
            (outcome.object["findings"] as? [[String: String]] ?? [])
                .filter { $0["level"] == level && $0["subject"] == subject }
                .compactMap { $0["text"] }
        }
    }

    private let folder: TemporaryFolder
    private var data: String { folder.path("data") }

    init() throws { folder = try TemporaryFolder() }

    private func examine(_ environment: [String: String] = [:]) throws -> Report {
        Report(
            outcome: try Program.run(
                ["doctor", "--json", "--data", data], environment: environment))
    }

    /// Makes a data folder, as a first start does.
    private func make() throws {
        let server = try ServerProcess(data: data)
        server.signal(SIGTERM)
        _ = server.wait()
    }

    private func issue(_ name: String, days: Int) throws -> [String: String] {
        let (certificate, key) = (folder.path("\(name).pem"), folder.path("\(name).key"))
        let openssl = ChildProcess()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-days", "\(days)", "-subj", "/CN=\(name)", "-addext",
            "subjectAltName=DNS:\(name)", "-keyout", key, "-out", certificate,
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        try #require(openssl.terminationStatus == 0)
        return [
            "LENTICULAR_TLS_CERTIFICATE_FILE": certificate, "LENTICULAR_TLS_PRIVATE_KEY_FILE": key,
        ]
    }

    @Test(
        "A server for this machine alone has advice about mail, backups and keys, and no such problem"
    )
    func local() throws {
        try make()
        let found = try examine()
        #expect(!found.texts("good", "network").isEmpty)
        #expect(!found.texts("good", "data folder").isEmpty)
        for subject in ["mail", "backups", "keys"] {
            #expect(!found.texts("advice", subject).isEmpty, "\(subject): \(found.outcome)")
            #expect(found.texts("problem", subject).isEmpty, "\(subject): \(found.outcome)")
        }
        let said = try Program.run(["doctor", "--data", data]).output
        #expect(
            said.contains("advice: backups: the server makes none by itself\n    set backups.to"))
    }

    @Test(
        "A folder that others can look into, TLS that is missing and a name that is not set are problems"
    )
    func exposed() throws {
        try make()
        chmod(data, 0o755)
        let found = try examine(["LENTICULAR_LISTEN": "0.0.0.0:8080"])
        #expect(found.outcome.status == 1 && found.outcome.object["ok"] as? Bool == false)
        for subject in ["data folder", "TLS", "publicBaseURL"] {
            #expect(found.texts("problem", subject).count == 1, "\(subject): \(found.outcome)")
        }
        chmod(data, 0o700)
        #expect(try examine().texts("problem", "data folder").isEmpty)
    }

    @Test(
        "A certificate's end is advice three weeks before and a problem in the last week, as is a wrong name"
    )
    func certificates() throws {
        try make()
        let levels = [(90, "good"), (15, "advice"), (3, "problem")]
        for (days, level) in levels {
            let settings = try issue("sync.example.org", days: days).merging([
                "LENTICULAR_LISTEN": "0.0.0.0:443",
                "LENTICULAR_PUBLIC_BASE_URL": "https://sync.example.org",
            ]) { $1 }
            let found = try examine(settings)
            #expect(found.texts(level, "TLS").count == 1, "\(days): \(found.outcome)")
            #expect(found.texts("problem", "TLS").count == (days == 3 ? 1 : 0))
            let other = try examine(
                settings.merging(["LENTICULAR_PUBLIC_BASE_URL": "https://other.example.org"]) { $1 }
            )
            #expect(
                other.texts("problem", "TLS").contains { $0.contains("other.example.org") },
                "\(other.outcome)")
        }
    }

    @Test(
        "The public address is asked, and a proxy that is not trusted, and another's server, are told apart"
    )
    func publicAddress() throws {
        let server = try ServerProcess(data: data)
        let port = try #require(server.address.split(separator: ":").last)
        server.signal(SIGTERM)
        _ = server.wait()
        let publicAddress = ["LENTICULAR_PUBLIC_BASE_URL": "http://127.0.0.1:\(port)"]
        let serving = try ServerProcess(
            data: data, environment: publicAddress, listen: "127.0.0.1:\(port)")
        let found = Report(outcome: try serving.command("doctor", "--json"))
        #expect(
            found.texts("good", "public address") == ["http://127.0.0.1:\(port) leads here"],
            "\(found.outcome)")
        // What travels open is a problem, whoever answers.
        #expect(!found.texts("problem", "publicBaseURL").isEmpty)
        serving.signal(SIGTERM)
        _ = serving.wait()

        let proxy = try ForwardingProxy()
        let proxied = ["LENTICULAR_PUBLIC_BASE_URL": "http://\(proxy.address)"]
        let behind = try ServerProcess(data: data, environment: proxied)
        proxy.forward(to: behind.address)
        let seen = Report(outcome: try behind.command("doctor", "--json"))
        #expect(
            seen.texts("problem", "proxy").contains { $0.contains("not trusted") },
            "\(seen.outcome)")
        behind.signal(SIGTERM)
        _ = behind.wait()

        let trusting = try ServerProcess(
            data: data,
            environment: proxied.merging(["LENTICULAR_HTTP_TRUSTED_PROXIES": "127.0.0.1"]) { $1 })
        proxy.forward(to: trusting.address)
        let trusted = Report(outcome: try trusting.command("doctor", "--json"))
        #expect(trusted.texts("problem", "proxy").isEmpty, "\(trusted.outcome)")
        #expect(!trusted.texts("good", "proxy").isEmpty, "\(trusted.outcome)")

        let other = try ServerProcess(data: folder.path("other"))
        proxy.forward(to: other.address)
        let elsewhere = Report(outcome: try trusting.command("doctor", "--json"))
        #expect(
            elsewhere.texts("problem", "public address").contains {
                $0.contains("not this server")
            }, "\(elsewhere.outcome)")
    }

    @Test(
        "Backups that are missing, on the same disk or too old are named, and so is one that is good"
    )
    func backups() throws {
        let target = folder.path("backups")
        let environment = ["LENTICULAR_BACKUPS_TO": target]
        try make()
        #expect(!(try examine(environment).texts("problem", "backups").isEmpty))
        let server = try ServerProcess(data: data, environment: environment)
        try #require(server.waitForLine { $0.contains("is good") } != nil)
        let found = Report(outcome: try server.command("doctor", "--json"))
        #expect(found.texts("problem", "backups").isEmpty, "\(found.outcome)")
        #expect(found.texts("good", "backups").count == 2, "\(found.outcome)")
        #expect(found.texts("advice", "backups").contains { $0.contains("disk of the data") })
    }

    @Test("A mail server that does not answer and letters in a public log are problems")
    func mail() throws {
        try make()
        let silent = try examine([
            "LENTICULAR_MAIL_SENDER": "smtp", "LENTICULAR_MAIL_HOST": "127.0.0.1",
            "LENTICULAR_MAIL_PORT": "1", "LENTICULAR_MAIL_FROM": "notes@example.org",
        ])
        #expect(
            silent.texts("problem", "mail").contains { $0.hasPrefix("127.0.0.1:1: ") },
            "\(silent.outcome)")
        let printed = try examine([
            "LENTICULAR_MAIL_SENDER": "log",
            "LENTICULAR_PUBLIC_BASE_URL": "https://sync.example.org",
        ])
        #expect(!printed.texts("problem", "mail").isEmpty, "\(printed.outcome)")
    }

    @Test("config show prints every setting, its value and where it came from, and no secret")
    func settings() throws {
        let file = folder.path("settings.json5")
        try "{ data: 'here', metrics: { bearerToken: 'abcdefghijklmnopqrstuv' } }"
            .write(toFile: file, atomically: true, encoding: .utf8)
        let shown = try Program.run(
            ["config", "show", "--json", "--config", file],
            environment: ["LENTICULAR_HTTP_GZIP": "never"])
        let rows = try #require(shown.object["settings"] as? [[String: String]])
        let byPath = Dictionary(uniqueKeysWithValues: rows.map { ($0["setting"] ?? "", $0) })
        #expect(rows.count > 100)
        #expect(byPath["data"]?["from"]?.contains("settings.json5") == true)
        #expect(byPath["http.gzip"]?["value"] == "\"never\"")
        #expect(byPath["http.gzip"]?["from"]?.contains("LENTICULAR_HTTP_GZIP") == true)
        #expect(byPath["http.drainSecondsMax"]?["from"] == "default")
        #expect(!shown.output.contains("abcdefghijklmnopqrstuv"))
    }
}
