import Administration
import Control
import Server

/// The operators' interface over the same commands that the command line has.
package struct CommandConsole: Sendable {
    private let commands: [Command]

    package init(commands: [Command] = Command.all) { self.commands = commands }

    /// What `/openapi.json` says of it.
    package var described: [DescribedConsole.Member] { CommandPaths(of: commands).described }

    /// Answers what an operator asks; never throws, as every error has an answer.
    @Sendable package func answer(
        _ ask: ConsoleAsk, by administrator: Administrator,
        over stream: any ConsoleStream = NoConsoleStream()
    ) -> ConsoleAnswer {
        do {
            switch ask {
            case .list:
                return ConsoleAnswer(
                    body: ConsoleDescription(of: commands, for: administrator).output.rendered(
                        asJSON: true))
            case .run(let words, let body):
                return try run(words, body, by: administrator, over: stream)
            }
        } catch let usage as UsageFailure {
            return ConsoleFault(.usage, "\(usage)").answer
        } catch {
            return ConsoleFault(of: error).answer
        }
    }

    private func run(
        _ words: [String], _ body: [UInt8], by administrator: Administrator,
        over stream: any ConsoleStream
    ) throws -> ConsoleAnswer {
        guard let command = commands.first(where: { $0.words == words }), command.isAtConsole else {
            throw ConsoleFault(.noCommand, "there is no such command here; see GET /console/api")
        }
        if let acting = administrator.acting, CommandActing(of: command) == .refused {
            throw OperatorRefusal.acts(acting)
        }
        let invocation = try ConsoleArguments(body, of: command).invocation(
            by: administrator.acting)
        if let question = command.question, !command.showsFirst, !invocation.has("yes") {
            throw ConsoleFault(.needsYes, "\(question) Then ask with \"yes\": true")
        }
        let output: CommandOutput
        let files = ConsoleFiles(stream, for: invocation)
        switch command.action {
        case .data(let action): output = try action(invocation, administrator)
        case .watched(let action):
            output = try action(invocation, administrator, ProgressWatcher { _ in true })
        case .streamed(let action):
            output = try action(invocation, administrator, files)
            if output.endsStream, invocation.has("progress") {
                try files.print(output.rendered(asJSON: true))
            }
        case .copy(_, .some, let action):
            output = try action(
                invocation, administrator, CopyDestination { try files.print($0) })
        case .local, .copy: throw ConsoleFault(.noCommand, "only on the command line")
        }
        let values = output.rendered(asJSON: true)
        guard !output.asks else {
            throw ConsoleFault(
                .needsYes, "\(command.question ?? "Do this?") Then ask with \"yes\": true",
                shown: values)
        }
        var answer = ConsoleAnswer(body: values)
        answer.isBadNews = output.status != 0
        return answer
    }
}

extension CommandConsole {
    /// How a command streams; nil for one that does not.
    @Sendable package func streams(_ words: [String]) -> ConsoleStreaming? {
        commands.first { $0.words == words }?.consoleStreaming
    }
}

extension Command {
    /// Whether the operators' interface has it: what acts on the server's data and makes no folder where it was typed.
    package var isAtConsole: Bool {
        switch action {
        case .data, .watched, .streamed, .copy(_, .some, _): true
        case .local, .copy: false
        }
    }

    var consoleStreaming: ConsoleStreaming? {
        switch action {
        case .streamed, .copy(_, .some, _): readsStream ? .body : .answer
        case .local, .data, .watched, .copy: nil
        }
    }
}
