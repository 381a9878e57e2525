import Configuration

extension Command {
    static let configs: [Command] = [
        Command(
            "config check", "say whether the server would start with the settings as they are",
            action: .local { invocation, surroundings in
                let configuration = try Configuration.load(for: invocation, in: surroundings)
                _ = try configuration.makeTLS()
                return CommandOutput("the settings are good")
            }),
        Command(
            "config reference", "print a file with every setting, its default and what it means",
            action: .local { invocation, _ in
                // With --json there is one object, and it has no keys.
                guard !invocation.has("json") else { return CommandOutput() }
                var text = Configuration.reference
                while text.hasSuffix("\n") { text.removeLast() }
                return CommandOutput(text)
            }),
    ]
}
