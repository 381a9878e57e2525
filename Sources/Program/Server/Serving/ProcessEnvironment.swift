import CloudModel
import Cryptography
import Files

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What a process finds around itself, handed in so that tests can be somewhere else.
package struct ProcessEnvironment: Sendable {
    package var environment: [String: String]
    /// What relative paths start from, absolute.
    package var folder: String
    /// Whether a person is there to be asked.
    package var isTerminal: Bool
    /// Whether what is written to standard output is read by a person.
    package var isOutputTerminal: Bool
    /// Reads standard input to its end, at most one byte beyond a limit; nil when that fails.
    package var readInput: @Sendable (_ bytesMax: Int) -> [UInt8]?
    /// Reads what standard input has, so many bytes at most; empty at its end, nil when that fails.
    package var readInputPiece: @Sendable (_ countMax: Int) -> [UInt8]? = { countMax in
        FileSystem.piece(of: STDIN_FILENO, countMax: countMax)
    }
    /// Shows a question on the terminal and reads a line.
    package var ask: @Sendable (String) -> String
    package var writeOutput: @Sendable ([UInt8]) -> Void
    package var writeError: @Sendable ([UInt8]) -> Void = { writeAll($0, to: STDERR_FILENO) }
    package var clock: Clock
    package var random: RandomSource
    /// The user who runs the process, by their number in the system.
    package var userNumber = UInt32(geteuid())
    /// How a shell in any folder starts this program.
    package var program = "lenticular"

    package init(
        environment: [String: String], folder: String, isTerminal: Bool,
        isOutputTerminal: Bool = false,
        readInput: @escaping @Sendable (Int) -> [UInt8]?,
        ask: @escaping @Sendable (String) -> String,
        writeOutput: @escaping @Sendable ([UInt8]) -> Void, clock: Clock, random: RandomSource
    ) {
        self.environment = environment
        self.folder = folder
        self.isTerminal = isTerminal
        self.isOutputTerminal = isOutputTerminal
        self.readInput = readInput
        self.ask = ask
        self.writeOutput = writeOutput
        self.clock = clock
        self.random = random
    }

    /// Those of the running process.
    package static func ofProcess() -> ProcessEnvironment {
        var found = ProcessEnvironment(
            environment: processEnvironment(), folder: processFolder(),
            isTerminal: isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1,
            isOutputTerminal: isatty(STDOUT_FILENO) == 1,
            readInput: { FileSystem.contents(of: STDIN_FILENO, bytesMax: $0) },
            ask: { question in
                writeAll(Array("\(question) ".utf8), to: STDERR_FILENO)
                return readLine() ?? ""
            },
            writeOutput: { writeAll($0, to: STDOUT_FILENO) }, clock: .system, random: .system)
        // Without a slash it was found by the shell, and will be again.
        if let name = CommandLine.arguments.first, name.contains("/") {
            found.program = FolderAccess.quoted(found.absolute(name))
        }
        return found
    }

    /// A path as seen from the folder, absolute.
    package func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        return folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)"
    }
}

extension Clock {
    /// The system's time of day.
    package static let system = Clock {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }
}

/// Writes all of it, as far as there is a reader.
package func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
            rest = rest.dropFirst(count)
        } else if errno != EINTR {
            return
        }
    }
}

private func processEnvironment() -> [String: String] {
    var environment: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
        let text = String(cString: entry)
        if let equals = text.firstIndex(of: "=") {
            environment[String(text[..<equals])] = String(text[text.index(after: equals)...])
        }
        next += 1
    }
    return environment
}

private func processFolder() -> String {
    guard let path = getcwd(nil, 0) else { return "/" }
    defer { free(path) }
    return String(cString: path)
}
