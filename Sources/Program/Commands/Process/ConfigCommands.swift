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
            "config show", "print every setting, its value and where it was set",
            action: .local { invocation, process in
                let loaded = try LoadedConfiguration(for: invocation, in: process)
                let settings = shown(Setting.sections.flatMap(\.settings), of: loaded)
                return CommandOutput(
                    settings.map { "\($0.path): \($0.value)  (\($0.origin))" }
                        .joined(separator: "\n"),
                    values: [("settings", .objects(objects(settings)))])
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

    private typealias Shown = (path: String, value: String, origin: String)

    private static func shown(_ settings: [Setting], of loaded: LoadedConfiguration) -> [Shown] {
        settings.map { setting in
            (
                setting.path, setting.written(of: loaded.values),
                loaded.origins[setting.path].map { "\($0)" } ?? "default"
            )
        }
    }

    private static func objects(
        _ settings: [Shown]
    ) -> [[(key: String, value: CommandOutput.Value)]] {
        settings.map { setting in
            [
                ("setting", .text(setting.path)), ("value", .text(setting.value)),
                ("from", .text(setting.origin)),
            ]
        }
    }

    /// What was set, where, and what is odd; settings that nobody has touched are left out.
    private static func described(_ loaded: LoadedConfiguration) -> CommandOutput {
        let changed = shown(
            Setting.sections.flatMap(\.settings).filter { loaded.origins[$0.path] != nil },
            of: loaded)
        let warnings = loaded.warnings + loaded.values.oddities
        let lines =
            ["the settings are good"]
            + changed.map { "\($0.path): \($0.value)  (\($0.origin))" }
            + warnings.map { "warning: \($0)" }
        return CommandOutput(
            lines.joined(separator: "\n"),
            values: [
                ("ok", .flag(true)), ("settings", .objects(objects(changed))),
                ("warnings", .texts(warnings)),
            ])
    }
}
