import ChildProcesses
import Foundation
import Synchronization

/// The built program, run as a process as an operator would.
enum Program {
    struct Outcome {
        let status: Int32
        let output: String
        let error: String

        /// Standard output as one JSON object; empty when it is none.
        var object: [String: Any] {
            let parsed = try? JSONSerialization.jsonObject(with: Data(output.utf8))
            return parsed as? [String: Any] ?? [:]
        }
    }

    /// The executable beside the test bundle.
    static let url: URL = {
        let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        var folder = bundle.deletingLastPathComponent()
        while folder.path != "/" {
            let candidate = folder.appendingPathComponent("lenticular")
            if FileManager.default.isExecutableFile(atPath: candidate.path),
                (try? candidate.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true
            {
                return candidate
            }
            folder = folder.deletingLastPathComponent()
        }
        return bundle
    }()

    /// Runs to the end.
    static func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:],
        in folder: String? = nil, by program: URL = url
    ) throws -> Outcome {
        let process = ChildProcess()
        process.executableURL = program
        process.arguments = arguments
        process.environment = try cleanEnvironment.merging(DataEnvironment.of(command: arguments)) {
            $1
        }
        .merging(environment) { $1 }
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        let (given, output, error) = (Pipe(), Pipe(), Pipe())
        process.standardInput = given
        process.standardOutput = output
        process.standardError = error
        try process.run()
        // NB: who ends before it has read all of it is judged by how it ends.
        try? given.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try given.fileHandleForWriting.close()
        // A second thread, or a process that fills the other pipe first would never end.
        let complaint = Collected(error.fileHandleForReading)
        let said = output.readToEnd()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: String(decoding: said, as: UTF8.self),
            error: String(decoding: complaint.wait(), as: UTF8.self))
    }

    /// What the shell that runs the tests may have set is no part of a test.
    static var cleanEnvironment: [String: String] {
        ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("LENTICULAR_") }
    }

    /// Everything that comes through a pipe, read on a thread of its own.
    final class Collected: Sendable {
        private let done = DispatchSemaphore(value: 0)
        private let bytes = Mutex(Data())

        init(_ handle: FileHandle) {
            let descriptor = handle.fileDescriptor
            Thread.detachNewThread { [self] in
                var piece = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let count = read(descriptor, &piece, piece.count)
                    if count < 0, errno == EINTR { continue }
                    if count <= 0 { break }
                    bytes.withLock { $0.append(contentsOf: piece[..<count]) }
                }
                withExtendedLifetime(handle) {}
                done.signal()
            }
        }

        /// All of it, once the other side has closed.
        func wait() -> Data {
            done.wait()
            done.signal()
            return bytes.withLock { $0 }
        }
    }
}
