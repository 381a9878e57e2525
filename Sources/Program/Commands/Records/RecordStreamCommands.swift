import Administration
import CloudModel
import Control
import Platform
import Storage

extension Command {
    /// What goes on as it is made: the changes of a zone, and the bytes of a file.
    static let recordStreams: [Command] = [
        Command(
            "record changes", "follow what changed in a zone, page by page",
            reach: [.looks, .person], positionals: CommandPositional.database,
            options: CommandOption.database + [
                CommandOption("since", value: "TOKEN", "go on where another page has ended"),
                CommandOption("follow", "go on with what comes, until it is interrupted"),
                CommandOption(
                    "limit", value: "N",
                    "so many at most, 1 to \(ListRequest.limitMax); else \(recordsUsual)"),
                .brief,
            ],
            action: .streamed { invocation, administrator, files in
                let page = try ReadChanges(
                    in: invocation.operatedDatabase(), after: invocation.value("since"),
                    limit: invocation.listRequest(usual: recordsUsual).limit)
                guard invocation.has("follow") else {
                    return try administrator.perform(page).output(invocation)
                }
                let asJSON = invocation.has("json")
                try administrator.perform(
                    FollowChanges(page) { page in
                        try files.print(page.output(invocation).rendered(asJSON: asJSON))
                    } wait: {
                        files.pause { _ = usleep(followMicroseconds) }
                        return files.tell("")
                    })
                return CommandOutput()
            }),
        Command(
            "record asset", "write the file that a field of a record names to standard output",
            reach: [.looks, .person],
            positionals: CommandPositional.database + [
                CommandPositional("NAME", "the record's name"),
                CommandPositional("FIELD", "the field's name"),
            ],
            options: CommandOption.database + [
                CommandOption("index", value: "N", "which file of a list, from 0; else the first")
            ],
            isLong: true,
            action: .streamed { invocation, administrator, files in
                guard let index = Int(invocation.value("index") ?? "0"), index >= 0 else {
                    throw invocation.misuse("--index takes a whole number from 0")
                }
                do {
                    try administrator.perform(
                        ReadAsset(
                            invocation.required("FIELD"), at: index,
                            of: invocation.required("NAME"), in: invocation.operatedDatabase()
                        ) { try files.print($0) })
                } catch let refusal as RecordsRefusal {
                    throw CommandFailure("\(refusal)")
                }
                return CommandOutput()
            }),
    ]

    private static let followMicroseconds: UInt32 = 500_000
}

extension ReadChanges.Outcome {
    fileprivate func output(_ invocation: Invocation) throws -> CommandOutput {
        let records = try invocation.shown(records)
        var lines = try RecordTable(records).lines
        if lines.isEmpty { lines = ["no changes"] }
        if !token.isEmpty { lines.append("\(moreComing ? "more" : "later"): --since \(token)") }
        return CommandOutput(
            lines.joined(separator: "\n"),
            values: [
                ("records", .encoded(records)), ("token", .text(token)),
                ("moreComing", .flag(moreComing)),
            ])
    }
}
