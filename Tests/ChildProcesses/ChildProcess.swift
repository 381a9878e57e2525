import CChildProcess
import Foundation

/// A process that a test starts, which never outlives the test for long.
///
/// Foundation's own hears of an end through one thread for all processes and a descriptor that other
/// children may inherit: one child that stays can keep the ends of all the others from being noticed.
/// Here a thread waits for each child. Children are started by a process without descriptors, so they
/// inherit what they are given and nothing else, at no moment. A child that has not ended after `secondsMax`
/// is killed, so that nothing waits for ever.
package final class ChildProcess: @unchecked Sendable {
    // Unchecked: what is set before `run` changes no more, and the end is touched under the condition.

    package struct DidNotStart: Error {
        package let program: String
        package let code: Int32
    }

    package var executableURL = URL(filePath: "/usr/bin/env")
    package var arguments: [String] = []
    /// That of this process where nil.
    package var environment: [String: String]?
    package var currentDirectoryURL: URL?
    /// This process's own where nil, as with the others.
    package var standardInput: (any ChildStream)?
    package var standardOutput: (any ChildStream)?
    package var standardError: (any ChildStream)?
    /// How long it may take, whatever waits for it.
    package var secondsMax = 900.0
    package private(set) var processIdentifier: pid_t = 0

    private let condition = NSCondition()
    private var status: Int32?

    package init() {}

    /// Starts it.
    /// - Throws: `DidNotStart`.
    package func run() throws {
        let streams = [standardInput, standardOutput, standardError]
        let descriptors = streams.enumerated().map { number, stream in
            stream.map { $0.descriptor(isInput: number == 0) } ?? Int32(number)
        }
        let settings = (environment ?? ProcessInfo.processInfo.environment)
            .map { "\($0.key)=\($0.value)" }
        let words = Self.strings([executableURL.path] + arguments)
        let known = Self.strings(settings)
        defer { for text in words + known { free(text) } }
        let code = child_process_start(
            executableURL.path, words, known, currentDirectoryURL?.path, descriptors,
            &processIdentifier)
        guard code == 0 else { throw DidNotStart(program: executableURL.path, code: code) }
        for (number, stream) in streams.enumerated() { stream?.didStart(isInput: number == 0) }
        waitBeside()
    }

    package var isRunning: Bool {
        condition.lock()
        defer { condition.unlock() }
        return status == nil && processIdentifier != 0
    }

    package func waitUntilExit() {
        condition.lock()
        while status == nil { condition.wait() }
        condition.unlock()
    }

    /// The status with which it ended; minus the signal that ended it.
    package var terminationStatus: Int32 {
        condition.lock()
        defer { condition.unlock() }
        return status ?? 0
    }

    /// Sends a signal, if it has not ended.
    package func signal(_ number: Int32) {
        condition.lock()
        defer { condition.unlock() }
        if status == nil, processIdentifier != 0 { kill(processIdentifier, number) }
    }

    private static func strings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }

    private func waitBeside() {
        let child = processIdentifier
        Thread.detachNewThread { [self] in
            var found = siginfo_t()
            // It stays a zombie until then, so that no signal meets another process of its number.
            while waitid(P_PID, id_t(child), &found, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            condition.lock()
            var ended: Int32 = 0
            while waitpid(child, &ended, 0) < 0, errno == EINTR {}
            status = ended & 0x7f == 0 ? (ended >> 8) & 0xff : -(ended & 0x7f)
            condition.broadcast()
            condition.unlock()
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + secondsMax) { [weak self] in
            self?.end()
        }
    }

    private func end() {
        guard isRunning else { return }
        print("killed after \(secondsMax) s: \(executableURL.path) \(arguments)")
        signal(SIGKILL)
        // What it has started may hold the pipes that a test reads.
        kill(-processIdentifier, SIGKILL)
    }
}
