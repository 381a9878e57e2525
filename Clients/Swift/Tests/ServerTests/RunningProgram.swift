import CloudKitWire
import Foundation

/// A program that a test runs to its end, or to a deadline.
struct RunningProgram {
    /// It has not ended in time, and was killed.
    struct TooSlow: Error {
        let output: String
    }

    /// Runs a program.
    ///
    /// - Parameters:
    ///   - arguments: the program, found as a shell finds it, and what it gets.
    ///   - environment: beside the test's own; nothing that names a server is handed on.
    /// - Returns: what it prints on both ways, and how it ends.
    /// - Throws: `TooSlow`, and what the system reports.
    static func run(
        _ arguments: [String], in folder: URL? = nil, environment: [String: String] = [:],
        seconds: Double = 120
    ) throws -> (output: String, status: Int32) {
        let program = Process()
        program.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        program.arguments = arguments
        program.currentDirectoryURL = folder
        program.environment = ProcessInfo.processInfo.environment
            .filter { !$0.key.hasPrefix("LENTICULAR_") }
            .merging(environment) { $1 }
        let output = Pipe()
        program.standardOutput = output
        program.standardError = output
        try program.run()
        let deadline = Deadline(program)
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { deadline.pass() }
        let bytes = output.fileHandleForReading.readDataToEndOfFile()
        program.waitUntilExit()
        let text = String(decoding: bytes, as: UTF8.self)
        if deadline.hasKilled { throw TooSlow(output: text) }
        return (text, program.terminationStatus)
    }

    /// Kills a program that still runs when its time is over.
    private final class Deadline: Sendable {
        private let state: Locked<(program: Process, hasKilled: Bool)>

        init(_ program: Process) { state = Locked((program, false)) }

        func pass() {
            state.withLock { state in
                guard state.program.isRunning else { return }
                state.hasKilled = true
                kill(state.program.processIdentifier, SIGKILL)
            }
        }

        var hasKilled: Bool { state.withLock { $0.hasKilled } }
    }
}
