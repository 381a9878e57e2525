import Configuration
import Pages

extension Command {
    static let configs: [Command] = [
        Command(
            "config check", "say whether the server would start with the settings as they are",
            action: .local { invocation, process in
                let loaded = try LoadedConfiguration(for: invocation, in: process)
                try loaded.values.requireUsable(in: process)
                return described(loaded)
            }),
        Command(
            "config reference", "print a file with every setting, its default and what it means",
            action: .local { invocation, _ in
                // With --json there is one object, and it has no keys.
                guard !invocation.has("json") else { return CommandOutput() }
                var text = ServerConfiguration.reference
                while text.hasSuffix("\n") { text.removeLast() }
                return CommandOutput(text)
            }),
        Command(
            "config texts", "print a file with every text of the pages and letters, in English",
            action: .local { invocation, _ in
                guard !invocation.has("json") else { return CommandOutput() }
                return CommandOutput(Phrasebooks.template)
            }),
    ]

    /// What was set, where, and what is odd; settings that nobody has touched are left out.
    private static func described(_ loaded: LoadedConfiguration) -> CommandOutput {
        let changed = Setting.sections.flatMap(\.settings).compactMap { setting in
            loaded.origins[setting.path].map {
                (path: setting.path, value: setting.written(of: loaded.values), origin: "\($0)")
            }
        }
        let lines =
            ["the settings are good"]
            + changed.map { "\($0.path): \($0.value)  (\($0.origin))" }
            + (loaded.warnings + loaded.values.oddities).map { "warning: \($0)" }
        let settings = changed.map { setting in
            [
                ("setting", .text(setting.path)), ("value", .text(setting.value)),
                ("from", .text(setting.origin)),
            ] as [(key: String, value: CommandOutput.Value)]
        }
        return CommandOutput(
            lines.joined(separator: "\n"),
            values: [
                ("ok", .flag(true)), ("settings", .objects(settings)),
                ("warnings", .texts(loaded.warnings + loaded.values.oddities)),
            ])
    }
}
