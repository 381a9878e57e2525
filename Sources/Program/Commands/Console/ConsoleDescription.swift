import Administration

/// What the operators' interface has, so that a page can be drawn from it.
struct ConsoleDescription {
    private let commands: [Command]
    private let administrator: Administrator

    /// - Parameter administrator: who asks.
    init(of commands: [Command], for administrator: Administrator) {
        self.commands = commands
        self.administrator = administrator
    }

    var output: CommandOutput {
        CommandOutput(
            values: [
                ("commands", .objects(commands.filter(\.isAtConsole).map(members))),
                (
                    "commandLineOnly",
                    .texts(commands.filter { !$0.isAtConsole }.map(\.name))
                ),
            ] + (administrator.acting.map { [("acting", .object(members(of: $0)))] } ?? []))
    }

    private func members(of acting: Acting) -> [(key: String, value: CommandOutput.Value)] {
        [
            ("user", .text(acting.name)), ("container", .text(acting.target.container.name)),
            ("environment", .text(acting.target.environment.rawValue)),
        ]
    }

    private func members(of command: Command) -> [(key: String, value: CommandOutput.Value)] {
        [
            ("name", .text(command.name)),
            ("path", .text("/console/api/" + command.words.joined(separator: "/"))),
            ("summary", .text(command.summary)),
            ("may", .flag(command.reach.allows(administrator.actor.rights))),
            ("whileActing", .text(CommandActing(of: command).rawValue)),
            ("asks", .flag(command.question != nil)),
        ] + (command.question.map { [("question", .text($0))] } ?? [])
            + [
                (
                    "streams",
                    .text(command.consoleStreaming.map { "\($0)" } ?? "")
                ),
                ("showsFirst", .flag(command.showsFirst)), ("isLong", .flag(command.isLong)),
                ("arguments", .objects(command.consoleArguments.map(members))),
            ]
    }

    private func members(
        of argument: ConsoleArgument
    ) -> [(key: String, value: CommandOutput.Value)] {
        [
            ("key", .text(argument.key)), ("summary", .text(argument.summary)),
            ("form", .text(argument.form.rawValue)), ("required", .flag(argument.isRequired)),
            ("repeatable", .flag(argument.isRepeatable)), ("choices", .texts(argument.choices)),
        ]
    }
}
