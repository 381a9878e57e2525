import ChildProcesses
import Foundation
import Synchronization
import Testing

/// A server as a process of its own, listening where the system chose.
final class ServerProcess: Sendable {
    struct DidNotStart: Error { let output: String }

    /// The longest that a line of the log, or the whole of it, is waited for.
    private static let lineSecondsMax = 300.0

    let data: String
    /// Where it listens, as its log says.
    let address: String
    /// Where it shows its metrics; empty for nowhere.
    let metricsAddress: String
    private let process: ChildProcess
    private let lines: Lines

    /// Starts a server and waits until it serves.
    init(
        data: String, _ arguments: [String] = [], environment: [String: String] = [:],
        listen: String = "127.0.0.1:0", under shell: [String] = []
    ) throws {
        let process = ChildProcess()
        let command = shell + [Program.url.path, "serve", "--data", data, "--listen", listen]
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = command.dropFirst() + arguments
        process.environment = try Program.cleanEnvironment
            .merging([
                "LENTICULAR_METRICS_LISTEN": "127.0.0.1:0", "LENTICULAR_CONSOLE_LISTEN": "",
            ]) { $1 }
            .merging(DataEnvironment.of(data)) { $1 }
            .merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        self.data = data
        self.process = process
        lines = Lines(output.fileHandleForReading)
        guard let line = lines.first(where: { $0.contains("serving") }) else {
            throw DidNotStart(output: lines.all.joined(separator: "\n"))
        }
        let words = line.replacing("\"", with: " ").replacing("=", with: " ").split(separator: " ")
        func value(after key: String) -> String {
            let after = words.firstIndex { $0 == key }.map { words[$0...].dropFirst() } ?? []
            return String(after.first { $0.count > 1 } ?? "")
        }
        address = value(after: "listen")
        metricsAddress = value(after: "metrics")
    }

    deinit { process.signal(SIGKILL) }

    /// Makes an empty data folder for commands to work on, as only a server's start does.
    static func makeData(_ path: String) throws {
        let server = try ServerProcess(data: path)
        server.signal(SIGTERM)
        _ = server.wait()
    }

    var identifier: Int32 { process.processIdentifier }

    func signal(_ number: Int32) { process.signal(number) }

    /// Waits for the end; the exit status, or minus the signal that ended it.
    func wait() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Everything that it has printed, once it has ended.
    func log() -> [String] { lines.waitForAll() }

    /// Waits for a line of the log; nil when it does not come.
    func waitForLine(_ matches: (String) -> Bool) -> String? { lines.first(where: matches) }

    /// Runs a command on the server's data folder.
    func command(_ arguments: String..., input: String = "") throws -> Program.Outcome {
        try Program.run(arguments + ["--data", data], input: input)
    }

    /// The metrics as they are now.
    func metrics() throws -> String { try request("/metrics", at: metricsAddress).body }

    /// Sends a request by curl; the status and the body.
    func request(
        _ target: String, _ options: [String] = [], at other: String? = nil
    ) throws -> (status: Int, body: String, text: String) {
        let curl = ChildProcess()
        curl.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        curl.arguments =
            ["curl", "-s", "-i", "--max-time", "120", "http://\(other ?? address)\(target)"]
            + options
        let output = Pipe()
        curl.standardOutput = output
        try curl.run()
        var text = String(
            decoding: output.readToEnd(), as: UTF8.self)
        curl.waitUntilExit()
        let interim = "HTTP/1.1 100 Continue\r\n\r\n"
        if text.hasPrefix(interim) { text = String(text.dropFirst(interim.count)) }
        let words = text.split(separator: " ", maxSplits: 2)
        let status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        let body = text.range(of: "\r\n\r\n").map { String(text[$0.upperBound...]) } ?? ""
        return (status, body, text)
    }

    /// The lines that come through a pipe.
    private final class Lines: @unchecked Sendable {
        // Everything is touched under the condition only.
        private let condition = NSCondition()
        private var lines: [String] = []
        private var hasEnded = false

        init(_ handle: FileHandle) {
            let descriptor = handle.fileDescriptor
            Thread.detachNewThread { [self] in
                var rest: [UInt8] = []
                var piece = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let count = read(descriptor, &piece, piece.count)
                    if count < 0, errno == EINTR { continue }
                    if count <= 0 { break }
                    rest += piece[..<count]
                    var found = rest.split(
                        separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                    rest = Array(found.removeLast())
                    add(found.map { String(decoding: $0, as: UTF8.self) }, end: false)
                }
                add(rest.isEmpty ? [] : [String(decoding: rest, as: UTF8.self)], end: true)
                withExtendedLifetime(handle) {}
            }
        }

        var all: [String] {
            condition.lock()
            defer { condition.unlock() }
            return lines
        }

        func first(where matches: (String) -> Bool) -> String? {
            let end = Date(timeIntervalSinceNow: lineSecondsMax)
            condition.lock()
            defer { condition.unlock() }
            while true {
                if let line = lines.first(where: matches) { return line }
                if hasEnded { return nil }
                guard condition.wait(until: end) else {
                    Issue.record(
                        "no such line in \(lineSecondsMax) s; the last: \(lines.suffix(3))")
                    return nil
                }
            }
        }

        func waitForAll() -> [String] {
            condition.lock()
            defer { condition.unlock() }
            let end = Date(timeIntervalSinceNow: lineSecondsMax)
            while !hasEnded, condition.wait(until: end) {}
            return lines
        }

        private func add(_ more: [String], end: Bool) {
            condition.lock()
            lines += more
            hasEnded = hasEnded || end
            condition.broadcast()
            condition.unlock()
        }
    }
}
