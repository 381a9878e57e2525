import Server

extension Command {
    static let shell: [Command] = [
        Command(
            "completion", "print what a shell needs to complete command lines",
            positionals: [
                CommandPositional(
                    "SHELL", "bash, zsh or fish",
                    choices: CommandCompletion.Shell.allCases.map(\.rawValue))
            ],
            action: .local { invocation, _ in
                guard
                    let shell = CommandCompletion.Shell(rawValue: try invocation.required("SHELL"))
                else { throw invocation.misuse("SHELL is bash, zsh or fish") }
                return CommandOutput(
                    invocation.has("json")
                        ? "" : CommandCompletion(commands: all).script(for: shell))
            }),
        Command(
            "manual", "print the manual page, for man -l -",
            action: .local { invocation, _ in
                CommandOutput(
                    invocation.has("json")
                        ? "" : CommandManual(commands: all).page(version: ProgramVersion.text))
            }),
    ]
}
