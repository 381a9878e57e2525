import CloudKitWire
import Foundation
import LenticularCloudKit
import XCTest

/// The release server as a process, on a folder and port of its own, with one container and two people.
///
/// Tests that need it skip where `LENTICULAR_BINARY` names none.
final class ReleaseServer {
    let container = "iCloud.org.example.Client"
    private(set) var url = URL(fileURLWithPath: "/")
    private(set) var apiToken = ""
    private let folder: URL
    private let binary: String
    private var process = Process()

    /// - Throws: `XCTSkip` without a server to run.
    ///
    /// - Parameter settings: of the server's configuration, as the environment names them.
    init(settings: [String: String] = [:]) throws {
        guard let binary = ProcessInfo.processInfo.environment["LENTICULAR_BINARY"] else {
            throw XCTSkip("LENTICULAR_BINARY names no server to test against")
        }
        self.binary = binary
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("client-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = try start(settings)
        _ = try command("container", "create", container)
        apiToken = try text(
            command("api-token", "create", container, "development"), "apiToken")
    }

    deinit {
        process.terminate()
        endBy(Self.endSeconds)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    /// A container as somebody sees it who has just signed in.
    ///
    /// - Parameter port: of a proxy that the requests go through.
    func container(of email: String, by port: UInt16? = nil) throws -> CKContainer {
        let token = try entry(of: email)["webAuthToken"] ?? ""
        return CKContainer(
            identifier: container,
            service: CKServerAccess(
                url: port.flatMap { URL(string: "http://127.0.0.1:\($0)") } ?? url,
                apiToken: apiToken, credentials: .webAuthToken(token)))
    }

    /// What names this server for programs, with somebody who has just signed in.
    func entry(of email: String) throws -> [String: String] {
        _ = try? command("user", "create", email)
        let token = try text(
            command("web-token", "create", container, "development", email), "webAuthToken")
        return ["url": url.absoluteString, "apiToken": apiToken, "webAuthToken": token]
    }

    /// A file that names this server for programs, with somebody who has just signed in.
    func serviceFile(of email: String) throws -> URL {
        let entry = try entry(of: email)
        let file = folder.appendingPathComponent("service-\(email).json")
        try JSONSerialization.data(withJSONObject: [container: entry]).write(to: file)
        return file
    }

    /// Whether a text stands in any file that the server has written.
    func hasStored(_ text: String) -> Bool {
        let files = FileManager.default.enumerator(atPath: data)
        while let name = files?.nextObject() as? String {
            let bytes = FileManager.default.contents(atPath: "\(data)/\(name)")
            if bytes?.range(of: Data(text.utf8)) != nil { return true }
        }
        return false
    }

    private var data: String { folder.appendingPathComponent("data").path }

    private struct NotStarted: Error {
        let log: String
    }

    /// Without what configures servers: these have their own flags.
    private static let environment = ProcessInfo.processInfo.environment
        .filter { !$0.key.hasPrefix("LENTICULAR_") }
        .merging(waits) { $1 }

    /// A query that a busy machine held up comes out as any other.
    private static let waits = [
        "LENTICULAR_LIMITS_INDEX_WAIT_MILLISECONDS": "30000",
        "LENTICULAR_LIMITS_QUERY_MILLISECONDS_MAX": "600000",
    ]

    /// How many ports are tried: one may be somebody else's.
    private static let portsMax = 5

    private func start(_ settings: [String: String]) throws -> URL {
        for _ in 1..<Self.portsMax {
            do {
                return try startOnce(settings)
            } catch is NotStarted {
                process = Process()
            }
        }
        return try startOnce(settings)
    }

    private func startOnce(_ settings: [String: String]) throws -> URL {
        let log = Pipe()
        process.executableURL = URL(fileURLWithPath: binary)
        // A port that is named beforehand: links to files hold it.
        let port = Int.random(in: 20_000..<32_000)
        process.arguments = ["serve", "--data", data, "--listen", "127.0.0.1:\(port)"]
        process.environment = Self.environment.merging(settings) { $1 }
        process.standardOutput = log
        // Not the tests' own: a reader of that would wait for this server, too.
        process.standardError = FileHandle.nullDevice
        try process.run()
        let hasStarted = Started()
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.startSeconds) { [process] in
            if !hasStarted.value, process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }
        defer { hasStarted.set() }
        var text = ""
        while true {
            let bytes = log.fileHandleForReading.availableData
            guard !bytes.isEmpty else { throw NotStarted(log: text) }
            text += String(decoding: bytes, as: UTF8.self)
            for line in text.split(separator: "\n") {
                guard let event = try? JSONSerialization.jsonObject(with: Data(line.utf8)),
                    let fields = event as? [String: Any], fields["message"] as? String == "serving",
                    let address = (fields["listen"] as? String)?.split(separator: ",").first,
                    let url = URL(string: "http://\(address)")
                else { continue }
                log.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
                return url
            }
        }
    }

    /// How long the server may take until it serves, and to end.
    private static let startSeconds = 60.0
    private static let endSeconds = 60.0

    /// Kills the server when it has not ended by then: a test fails rather than waits for ever.
    private func endBy(_ seconds: Double) {
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [process] in
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }
    }

    private final class Started: Sendable {
        private let isSet = Locked(false)

        var value: Bool { isSet.withLock { $0 } }

        func set() { isSet.withLock { $0 = true } }
    }

    private func command(_ arguments: String...) throws -> [String: Any] {
        let command = Process()
        let output = Pipe()
        command.executableURL = URL(fileURLWithPath: binary)
        command.arguments = arguments + ["--data", data, "--json"]
        command.environment = Self.environment
        command.standardOutput = output
        try command.run()
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.endSeconds) {
            if command.isRunning { kill(command.processIdentifier, SIGKILL) }
        }
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        command.waitUntilExit()
        let answer = try JSONSerialization.jsonObject(with: bytes)
        return try XCTUnwrap(answer as? [String: Any])
    }

    private func text(_ answer: [String: Any], _ key: String) throws -> String {
        try XCTUnwrap(answer[key] as? String)
    }
}
