import ChildProcesses
import Foundation
import Testing

@testable import Server

@Suite("TLS of a serving process")
struct OperatingCertificateTests {
    private let folder: TemporaryFolder
    private var certificate: String { folder.path("certificate.pem") }
    private var key: String { folder.path("key.pem") }
    private var settings: [String: String] {
        [
            "LENTICULAR_TLS_CERTIFICATE_FILE": certificate,
            "LENTICULAR_TLS_PRIVATE_KEY_FILE": key,
        ]
    }

    init() throws {
        folder = try TemporaryFolder()
        try issue("first")
    }

    private func issue(_ name: String) throws {
        let openssl = ChildProcess()
        openssl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        openssl.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-days", "1", "-subj", "/CN=\(name)", "-keyout", key, "-out", certificate,
        ]
        openssl.standardError = FileHandle.nullDevice
        try openssl.run()
        openssl.waitUntilExit()
        try #require(openssl.terminationStatus == 0)
    }

    /// The name in the certificate that a new connection gets.
    private func name(at address: String) throws -> String {
        let curl = ChildProcess()
        curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        curl.arguments = ["curl", "-s", "-v", "--insecure", "https://\(address)/readyz"]
        let output = Pipe()
        curl.standardError = output
        curl.standardOutput = FileHandle.nullDevice
        try curl.run()
        let text = String(
            decoding: output.readToEnd(), as: UTF8.self)
        curl.waitUntilExit()
        let line = text.split(separator: "\n").first { $0.contains("subject: CN") }
        return line.flatMap { $0.split(separator: "=").last }
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) } ?? text
    }

    @Test("SIGHUP brings a new certificate into use, and a bad one leaves the old")
    func reload() throws {
        let server = try ServerProcess(data: folder.path("data"), environment: settings)
        #expect(try name(at: server.address) == "first")
        try issue("second")
        server.signal(SIGHUP)
        _ = server.waitForLine { $0.contains("certificates reloaded") }
        #expect(try name(at: server.address) == "second")
        try "nothing".write(toFile: certificate, atomically: true, encoding: .utf8)
        server.signal(SIGHUP)
        let line = try #require(server.waitForLine { $0.contains("certificates not reloaded") })
        #expect(!line.contains("PRIVATE"))
        #expect(try name(at: server.address) == "second")
    }

    @Test(
        "SIGHUP reads the settings again: takes the log's level, and names what waits for a restart"
    )
    func settingsAgain() throws {
        let file = folder.path("settings.json5")
        func write(_ text: String) throws {
            try "{ metrics: { listen: '127.0.0.1:0' }, \(text) }".write(
                toFile: file, atomically: true, encoding: .utf8)
        }
        try write("log: { level: 'info' }")
        let server = try ServerProcess(data: folder.path("data"), ["--config", file])
        try write("log: { level: 'info' }, http: { gzip: 'never' }, limits: { waitingMax: 64 }")
        server.signal(SIGHUP)
        let waiting = try #require(server.waitForLine { $0.contains("wait for a restart") })
        #expect(waiting.contains(#""settings":"http.gzip limits.waitingMax""#), "\(waiting)")
        try write("nothing: 1")
        server.signal(SIGHUP)
        let refused = try #require(server.waitForLine { $0.contains("settings not reloaded") })
        #expect(refused.contains("unknown key"), "\(refused)")
        try write("log: { level: 'warning' }, http: { eventLoops: 1 }")
        server.signal(SIGHUP)
        try #require(server.waitForLine { $0.contains(#""settings":"http.eventLoops""#) } != nil)
        #expect(try server.request("/database/1/iCloud.a/development/public/zones/list").status > 0)
        server.signal(SIGTERM)
        _ = server.wait()
        // Neither the request nor the end is told any more.
        let last = try #require(server.log().last)
        #expect(last.contains("http.eventLoops"), "\(last)")
    }

    @Test("Healthcheck works where every address speaks TLS")
    func healthcheck() throws {
        let data = folder.path("data")
        let server = try ServerProcess(data: data, environment: settings)
        let environment = settings.merging(["LENTICULAR_LISTEN": server.address]) { $1 }
        let asked = try Program.run(["healthcheck", "--data", data], environment: environment)
        #expect(asked.status == 0)
        server.signal(SIGKILL)
        _ = server.wait()
        let dead = try Program.run(["healthcheck", "--data", data], environment: environment)
        #expect(dead.status == 1)
    }

    @Test("A certificate that cannot be used stops the start and the check of the settings")
    func unusable() throws {
        try "nothing".write(toFile: key, atomically: true, encoding: .utf8)
        for command in [["serve"], ["config", "check"]] {
            let outcome = try Program.run(
                command
                    + ["--data", folder.path("data"), "--listen", "127.0.0.1:0"].prefix(
                        command == ["serve"] ? 4 : 2), environment: settings)
            #expect(outcome.status == 1)
            #expect(outcome.error.hasPrefix("lenticular: tls:"))
            #expect(outcome.error.split(separator: "\n").count == 1)
        }
    }
}
