import ChildProcesses
import Foundation

/// A program in Python, with packages that others have made, which a test talks to line by line.
///
/// `LENTICULAR_PYTHON` names a Python that has them (`Tests/unit` makes one).
package final class PythonProgram: Sendable {
    /// Why a program could not be talked to.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let process = ChildProcess()
    private let input = Pipe()
    private let lines: LineReader

    /// Starts it.
    ///
    /// Nil where `LENTICULAR_PYTHON` names none.
    package init?(_ script: String, _ arguments: String...) throws {
        guard let python = ProcessInfo.processInfo.environment["LENTICULAR_PYTHON"] else {
            print("skipped: LENTICULAR_PYTHON names no Python")
            return nil
        }
        let output = Pipe()
        process.executableURL = URL(filePath: python)
        process.arguments = ["-c", script] + arguments
        process.standardInput = input
        process.standardOutput = output
        lines = LineReader(output)
        try process.run()
    }

    deinit {
        process.signal(SIGKILL)
        process.waitUntilExit()
    }

    /// The next line that it prints.
    ///
    /// - Throws: `Failure` when it ends, or prints none in time.
    package func nextLine(withinSeconds seconds: Int = 120) throws -> String {
        try lines.next(withinSeconds: seconds)
    }

    /// Hands it a line.
    package func send(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }
}

/// Lines of a pipe, read as they come so that whoever writes them never waits.
private final class LineReader: @unchecked Sendable {
    // Unchecked: all that changes is touched under the condition only.

    private let condition = NSCondition()
    private var lines: [String] = []
    private var isOver = false

    init(_ pipe: Pipe) {
        let thread = Thread { [self] in readAll(pipe) }
        thread.start()
    }

    func next(withinSeconds seconds: Int) throws -> String {
        condition.lock()
        defer { condition.unlock() }
        let deadline = Date(timeIntervalSinceNow: Double(seconds))
        while lines.isEmpty {
            guard !isOver else { throw PythonProgram.Failure(description: "it has ended") }
            guard condition.wait(until: deadline) else {
                throw PythonProgram.Failure(description: "no line in \(seconds) seconds")
            }
        }
        return lines.removeFirst()
    }

    /// Ends with the program, which has the other end.
    private func readAll(_ pipe: Pipe) {
        var waiting: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(pipe.fileHandleForReading.fileDescriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            condition.lock()
            if count <= 0 {
                isOver = true
            } else {
                waiting += piece[..<count]
                while let end = waiting.firstIndex(of: 0x0A) {
                    lines.append(String(decoding: waiting[..<end], as: UTF8.self))
                    waiting.removeFirst(end + 1)
                }
            }
            condition.broadcast()
            condition.unlock()
            if count <= 0 { return }
        }
    }
}
