import Accounts
import Storage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Hands letters to a program as `sendmail -i -t` takes them.
///
/// The address is in the message's header, never in an argument, which other processes could read.
struct ProgramSender: LetterSender {
    enum Failure: Error, CustomStringConvertible {
        case notStarted(String)
        case ended(status: Int32)
        case tooSlow

        var description: String {
            switch self {
            case .notStarted(let reason): "the mail program does not start: \(reason)"
            case .ended(let status): "the mail program ended with \(status)"
            case .tooSlow: "the mail program took longer than \(ProgramSender.secondsMax) seconds"
            }
        }
    }

    private static let secondsMax = 30

    let program: String
    let from: String

    func reaches(_ kind: Address.Kind) -> Bool { kind == .email }

    func send(_ text: LetterText, to address: Address) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure.notStarted(String(cString: strerror(errno))) }
        let (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let child: pid_t
        do {
            child = try start(reading)
        } catch {
            close(reading)
            close(writing)
            throw error
        }
        close(reading)
        // A message is far smaller than what a pipe holds; what is not taken is not waited for.
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        let bytes = message(text, to: address)
        let written = bytes.withUnsafeBytes { write(writing, $0.baseAddress, $0.count) }
        close(writing)
        let status = try wait(for: child)
        guard status == 0, written == bytes.count else { throw Failure.ended(status: status) }
    }

    /// Addresses are checked when they come in: none holds a control character or a comma.
    private func message(_ text: LetterText, to address: Address) -> [UInt8] {
        let host = from.split(separator: "@").last.map { $0.filter { $0 != ">" } } ?? "localhost"
        let named = text.identifier.map { ["Message-ID: <\($0)@\(host)>"] } ?? []
        let head =
            [
                "From: \(from)", "To: \(address.text)", "Subject: \(text.subject)",
                "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
                "Content-Transfer-Encoding: 8bit", "Auto-Submitted: auto-generated",
            ] + named
        return Array((head.joined(separator: "\n") + "\n\n" + text.body + "\n").utf8)
    }

    private func start(_ reading: Int32) throws(Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, reading, STDIN_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        let words: [String] = [program, "-i", "-t"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        var child = pid_t()
        let failure = posix_spawn(&child, program, &actions, nil, &arguments, environ)
        guard failure == 0 else { throw .notStarted(String(cString: strerror(failure))) }
        return child
    }

    private func wait(for child: pid_t) throws(Failure) -> Int32 {
        var status: Int32 = 0
        for _ in 0..<(Self.secondsMax * 20) {
            if waitpid(child, &status, WNOHANG) == child {
                return status & 0x7f == 0 ? (status >> 8) & 0xff : -(status & 0x7f)
            }
            usleep(50_000)
        }
        kill(child, SIGKILL)
        waitpid(child, &status, 0)
        throw .tooSlow
    }
}
