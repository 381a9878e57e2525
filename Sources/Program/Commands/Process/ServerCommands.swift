import Administration
import CloudModel
import Cryptography
import Storage

extension Command {
    static let server: [Command] = [
        Command(
            "server show",
            "say which version runs, since when, and how its backups and processes stand",
            reach: [.looks, .everywhere, .own],
            action: .data { _, administrator in
                let state = try administrator.perform(ShowServer())
                let version =
                    "lenticular \(state.version)"
                    + (state.commit.isEmpty ? "" : " (\(state.commit))")
                let since = state.since.map { "serving since \(Timestamp($0).text)" }
                return CommandOutput(
                    ([version, since ?? "no server runs"] + state.processes.map(line)
                        + (state.backups?.lines ?? ["no backups are made"]))
                        .joined(separator: "\n"),
                    values: [
                        ("version", .text(state.version)), ("commit", .text(state.commit)),
                    ] + (state.since.map { [("since", .number($0))] } ?? [])
                        + (state.backups.map { [("backups", .object($0.members))] } ?? [])
                        + (state.processes.isEmpty
                            ? [] : [("processes", .objects(state.processes.map(members)))]))
            }),
        Command(
            "server settings",
            "list every setting as the server began with it, and where it was said",
            reach: [.looks, .everywhere, .own],
            action: .data { _, administrator in
                let settings = try administrator.perform(ListSettings())
                return CommandOutput(
                    settings.map { "\($0.path): \($0.value)  (\($0.origin))" }
                        .joined(separator: "\n"),
                    values: [("settings", .objects(settings.map(members)))])
            }),
        Command(
            "server backup", "have the server make one of its backups now, without waiting for it",
            reach: .everywhere,
            action: .data { _, administrator in
                try administrator.perform(AskForBackup())
                return CommandOutput("a backup is asked for; `server show` says what came of it")
            }),
        Command(
            "server mail", "send a letter that says that letters come", reach: .everywhere,
            positionals: [CommandPositional("EMAIL", "who gets it")],
            action: .data { invocation, administrator in
                let email = try invocation.required("EMAIL")
                try administrator.perform(SendTestLetter(to: email))
                return CommandOutput("a letter to \(email) is handed on")
            }),
    ]

    private static func line(_ process: ServingProcess) -> String {
        "process \(Hexadecimal.encode(process.identity.prefix(4))) of version "
            + "\(process.version): since \(Timestamp(process.begunAt).text), heard of "
            + Timestamp(process.seenAt).text
            + (process.isOwn ? " (this one)" : "")
    }

    private static func members(
        _ process: ServingProcess
    ) -> [(key: String, value: CommandOutput.Value)] {
        [
            ("process", .text(Hexadecimal.encode(process.identity))),
            ("version", .text(process.version)), ("begun", .number(process.begunAt)),
            ("seen", .number(process.seenAt)), ("isOwn", .flag(process.isOwn)),
        ]
    }

    private static func members(
        of setting: SettingInForce
    ) -> [(key: String, value: CommandOutput.Value)] {
        [
            ("setting", .text(setting.path)), ("value", .text(setting.value)),
            ("from", .text(setting.origin)),
        ]
    }
}

extension ServerState.Backups {
    fileprivate var lines: [String] {
        let made = last.map { "the last one is of \(Timestamp($0).text)" } ?? "there is none yet"
        let checked = verified.map { "; one was restored and found good \(Timestamp($0).text)" }
        return [
            "backups to \(to) every \(everyMinutes) minutes: \(made)\(checked ?? "")",
            isUnderWay ? "one is being made" : nil, failure.map { "the last try failed: \($0)" },
        ].compactMap { $0 }
    }

    /// What `--json` tells of them.
    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        var members: [(key: String, value: CommandOutput.Value)] = [
            ("to", .text(to)), ("everyMinutes", .number(Int64(everyMinutes))),
            ("isUnderWay", .flag(isUnderWay)), ("failures", .number(Int64(failures))),
            ("kept", .texts(kept.map { Timestamp($0).text })),
        ]
        if let last { members.append(("last", .number(last))) }
        if let lastStoredBytes {
            members.append(("lastStoredBytes", .number(Int64(lastStoredBytes))))
        }
        if let verified { members.append(("verified", .number(verified))) }
        if let failure { members.append(("failure", .text(failure))) }
        return members
    }
}
