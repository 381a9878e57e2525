import ChildProcesses
import Foundation

/// System calls that are to fail, in the words of strace.
struct SystemCallFault: CustomStringConvertible {
    /// Separated by commas.
    let calls: String
    let error: String
    /// The calls of each thread that fail, as strace counts them: `3`, or `3+2`.
    let when: String

    var description: String { "\(calls):error=\(error):when=\(when)" }
}

/// Makes system calls of a running process fail.
final class FaultTracer: CustomStringConvertible {
    /// strace cannot do it here.
    struct DidNotAttach: Error { let said: String }

    private static let path = "/usr/bin/strace"

    /// Whether this machine has what it takes.
    static var isAvailable: Bool {
        FileManager.default.isExecutableFile(atPath: path)
            || ProcessInfo.processInfo.environment["CI_REQUIRE_ALL"] == "1"
    }

    let description: String
    private let process = ChildProcess()
    private let said = Pipe()

    /// Returns once the process is under control.
    init(_ fault: SystemCallFault, on identifier: Int32) throws {
        description = fault.description
        process.executableURL = URL(fileURLWithPath: Self.path)
        process.arguments = [
            "-f", "-o", "/dev/null", "-e", "trace=\(fault.calls)", "-e", "inject=\(fault)", "-p",
            String(identifier),
        ]
        process.standardError = said
        try process.run()
        var text = ""
        while !text.contains("attached") {
            let more = said.fileHandleForReading.availableData
            guard !more.isEmpty else { throw DidNotAttach(said: text) }
            text += String(decoding: more, as: UTF8.self)
        }
    }

    /// Waits until the traced process is gone.
    func wait() { process.waitUntilExit() }
}
