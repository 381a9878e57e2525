import Administration
import Configuration
import Control
import Cryptography
import Files
import Server

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The program: takes arguments, does what they ask, says what came of it.
package struct CommandLineProgram: Sendable {
    /// Of a file or standard input that an argument names.
    static let inputBytesMax = 8_388_608
    /// How long a command waits for the process that holds the data folder to let go or to answer.
    static let folderSecondsMax = 10
    /// How long a command waits for the server's answer, but for those that take as long as the data.
    static let answerSecondsMax = 60

    private let commands: [Command]
    private let process: ProcessEnvironment

    package init(commands: [Command] = Command.all, process: ProcessEnvironment) {
        self.commands = commands
        self.process = process
    }

    /// Runs the command that the arguments ask for, without the program's own name.
    package func run(_ arguments: [String]) -> CommandAnswer {
        do {
            switch try CommandLineParser(commands: commands).parse(arguments) {
            case .help(let words):
                let text = CommandHelp(commands: commands).text(for: words)
                return CommandAnswer(status: 0, output: Array((text + "\n").utf8))
            case .invocation(var invocation):
                try prepare(&invocation)
                let answer = try run(invocation)
                return try finish(answer.asks ? confirm(&invocation, answer) : answer, invocation)
            }
        } catch {
            return CommandAnswer(failure: error)
        }
    }

    /// Runs a command that another process prepared, on the data folder that this one holds.
    ///
    /// - Parameters:
    ///   - request: what the other process has read.
    ///   - administrator: the user who typed it, on the data of the folder.
    ///   - caller: where the command was typed.
    @Sendable package static func answer(
        _ request: ControlRequest, by administrator: Administrator, on folder: DataFolder,
        for caller: CallingProcess
    ) -> CommandAnswer {
        do {
            let parsed = try CommandLineParser(commands: Command.all).parse(request.arguments)
            guard case .invocation(var invocation) = parsed else {
                throw UsageFailure("the running server prints no help")
            }
            for (name, bytes) in request.inputs { invocation.setContents(bytes, of: name) }
            switch invocation.command.action {
            case .local: throw UsageFailure("the running server has no such command")
            case .data(let action):
                return CommandAnswer(try action(invocation, administrator), for: invocation)
            case .watched(let action):
                let watcher = ProgressWatcher(caller.tell)
                return CommandAnswer(
                    try action(invocation, administrator, watcher), for: invocation)
            case .streamed(let action):
                return CommandAnswer(
                    try action(invocation, administrator, caller), for: invocation)
            case .copy(_, _, let action):
                return try CopyDestination.withOutgoing(of: folder, to: caller) {
                    CommandAnswer(try action(invocation, administrator, $0), for: invocation)
                }
            }
        } catch {
            return CommandAnswer(failure: error)
        }
    }

    /// Ends the process when nobody knows whether a commit is on disk; a new one finds out.
    @Sendable
    private static func endProcess(_ reason: String) {
        writeAll(
            Array("lenticular: commit of unknown outcome: \(reason)\n".utf8), to: STDERR_FILENO)
        _exit(ServeProcess.indeterminateStatus)
    }

    /// Does what only the place where the command was typed can: paths, files, the question.
    private func prepare(_ invocation: inout Invocation) throws {
        let command = invocation.command
        try invocation.requireAddresses()
        for kind in [ArgumentKind.path, .serverPath] {
            invocation.replaceValues(of: kind) {
                $0.hasPrefix(BackupSettings.bucketStart)
                    ? $0 : StorageAddress.absolute($0, process.absolute) ?? process.absolute($0)
            }
        }
        for option in command.options where invocation.has(option.name) {
            if option.readsStandardInput {
                guard let bytes = process.readInput(Self.inputBytesMax) else {
                    throw CommandFailure("standard input cannot be read")
                }
                try setContents(bytes, of: option.name, in: &invocation)
            } else if option.kind == .contents, let path = invocation.value(option.name) {
                try setContents(try contents(path), of: option.name, in: &invocation)
            }
        }
        for positional in command.positionals where positional.kind == .contents {
            guard let path = invocation.value(positional.name) else { continue }
            try setContents(try contents(path), of: positional.name, in: &invocation)
        }
        try readFilesOfKeys(in: &invocation)
        for (name, observe) in command.observes {
            try setContents(Array(observe().utf8), of: name, in: &invocation)
        }
        if !command.showsFirst, !invocation.has("yes") { try ask(for: command) }
    }

    /// What a file holds that an argument names, or standard input.
    private func contents(_ path: String) throws -> [UInt8] {
        guard path == "-" else {
            return try FileSystem.contents(
                of: process.absolute(path), bytesMax: Self.inputBytesMax)
        }
        guard let bytes = process.readInput(Self.inputBytesMax) else {
            throw CommandFailure("standard input cannot be read")
        }
        return bytes
    }

    /// Reads the files that arguments KEY=VALUE name.
    private func readFilesOfKeys(in invocation: inout Invocation) throws {
        for positional in invocation.command.positionals where !positional.fileKeys.isEmpty {
            for text in invocation.values(positional.name) {
                guard let (key, path) = text.keyAndValue, positional.fileKeys.contains(key),
                    !path.isEmpty
                else { continue }
                let bytes = try FileSystem.contents(
                    of: process.absolute(path), bytesMax: Self.inputBytesMax / 2)
                try setContents(Array(Base64.encode(bytes).utf8), of: key, in: &invocation)
            }
        }
    }

    /// Asks whether it is meant, where somebody can be asked.
    private func ask(for command: Command) throws(CommandFailure) {
        guard let question = command.question else { return }
        guard process.isTerminal else {
            throw CommandFailure("\(command.name) needs --yes where nobody can be asked")
        }
        guard ["y", "yes"].contains(process.ask("\(question) [y/N]").lowercased()) else {
            throw CommandFailure("nothing was done")
        }
    }

    /// Shows what a command would do, asks, and has it done.
    private func confirm(
        _ invocation: inout Invocation, _ shown: CommandAnswer
    ) throws -> CommandAnswer {
        let isShown = !invocation.has("json")
        if isShown, process.isTerminal { process.writeOutput(shown.output) }
        do {
            try ask(for: invocation.command)
        } catch {
            var refusal = CommandAnswer(failure: error)
            if isShown, !process.isTerminal { refusal.output = shown.output }
            return refusal
        }
        invocation.append("", toOption: "yes")
        return try run(invocation)
    }

    /// Writes the file that the command was given a name for.
    private func finish(
        _ answer: CommandAnswer, _ invocation: Invocation
    ) throws -> CommandAnswer {
        let positional = invocation.command.positionals.first { $0.kind == .output }
        guard let bytes = answer.file, let path = positional.flatMap({ invocation.value($0.name) })
        else { return answer }
        try FileSystem.write(bytes, over: process.absolute(path))
        return answer
    }

    private func setContents(
        _ bytes: [UInt8], of name: String, in invocation: inout Invocation
    ) throws(CommandFailure) {
        guard bytes.count <= Self.inputBytesMax, String(validating: bytes, as: UTF8.self) != nil
        else {
            throw CommandFailure(
                "\(name) takes text in UTF-8 of at most \(Self.inputBytesMax) bytes")
        }
        invocation.setContents(bytes, of: name)
    }

    private func run(_ invocation: Invocation) throws -> CommandAnswer {
        switch invocation.command.action {
        case .local(let action):
            return CommandAnswer(try action(invocation, process), for: invocation)
        case .data(let action):
            return try onData(invocation) { administrator in
                CommandAnswer(try action(invocation, administrator), for: invocation)
            }
        case .watched(let action):
            let line = ProgressLine(process)
            defer { line.clear() }
            return try onData(invocation, receive: line.receive) { administrator in
                let watcher = ProgressWatcher(line.show)
                return CommandAnswer(
                    try action(invocation, administrator, watcher), for: invocation)
            }
        case .streamed(let action):
            let line = ProgressLine(process)
            defer { line.clear() }
            let files = LocalFiles(invocation, process, line)
            return try onData(invocation, for: files, receive: line.receive) { administrator in
                CommandAnswer(try action(invocation, administrator, files), for: invocation)
            }
        case .copy(let positional, let file, let action):
            let made = try NewFolder(at: invocation.required(positional))
            do {
                let answer = try onData(invocation, receive: made.receive) { administrator in
                    let copy = CopyDestination(path: made.partial)
                    return CommandAnswer(
                        try action(invocation, administrator, copy), for: invocation)
                }
                if !answer.error.isEmpty {
                    made.discard()
                } else if let file {
                    try made.finish(as: file)
                } else {
                    try made.finish()
                    try ErasureLedger.copyBeside(backup: invocation.required(positional))
                }
                return answer
            } catch {
                made.discard()
                throw error
            }
        }
    }

    /// Runs a command on the data folder, in this process or in the server that has it.
    ///
    /// - Parameters:
    ///   - files: does what the server asks for here.
    ///   - receive: gets what else the server sends before its answer.
    ///   - action: what to do with the data when no server has it.
    private func onData(
        _ invocation: Invocation, for files: (any CallerFiles)? = nil,
        receive: (ControlFrame) throws -> Void = { _ in },
        _ action: (Administrator) throws -> CommandAnswer
    ) throws -> CommandAnswer {
        let loaded = try LoadedConfiguration(for: invocation, in: process)
        let configuration = loaded.values
        let path = configuration.data
        try DataFolder.requireMade(loaded)
        let client = ControlClient(path: DataFolder.controlSocketPath(in: path))
        for _ in 0..<(Self.folderSecondsMax * 20) {
            let folder = try DataFolder.open(
                path, configuration: configuration, process: process,
                onIndeterminate: Self.endProcess)
            if let folder {
                folder.serving.note(loaded)
                defer {
                    folder.close()
                    FolderAccess.giveToOwner(of: path)
                }
                return try action(
                    Administrator(
                        .commandLine(userNumber: process.userNumber), on: folder,
                        noting: folder.note))
            }
            if let answer = try client.run(
                ControlRequest(arguments: invocation.arguments, inputs: invocation.inputs),
                secondsMax: invocation.command.isLong ? nil : Self.answerSecondsMax, files: files,
                receive: receive)
            {
                return answer
            }
            // Another command holds the folder for a moment, or the server has just started.
            usleep(50_000)
        }
        throw CommandFailure("another process holds \(path) and takes no commands")
    }
}

extension CommandAnswer {
    init(_ output: CommandOutput, for invocation: Invocation) {
        self.init(
            status: output.status, output: output.rendered(asJSON: invocation.has("json")))
        file = output.file
        asks = output.asks
    }

    /// One line for whatever went wrong.
    init(failure: any Error) {
        let text: String
        if let failure = failure as? CommandFailure {
            text = "lenticular: \(failure)"
        } else if let failure = failure as? UsageFailure {
            text = failure.description
        } else {
            text = "lenticular: \(failure)"
        }
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        self.init(status: failure is UsageFailure ? 2 : 1, error: line)
    }
}

extension CommandAnswer {
    /// Prints the answer where people and scripts expect it.
    ///
    /// - Returns: the status to exit with.
    package func report() -> Int32 {
        writeAll(output, to: STDOUT_FILENO)
        if !error.isEmpty { writeAll(Array((error + "\n").utf8), to: STDERR_FILENO) }
        return status
    }
}
