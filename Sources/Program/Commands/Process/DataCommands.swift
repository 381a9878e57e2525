import Administration
import Configuration
import Control
import Server

extension Command {
    static let data: [Command] = [
        Command(
            "backup", "copy everything, also while the server runs",
            positionals: [CommandPositional("DEST", "a folder that is not there yet", kind: .path)],
            isLong: true,
            action: .copy(to: "DEST") { invocation, administrator, copy in
                let destination = try invocation.required("DEST")
                let copied = try administrator.perform(BackUpData(to: copy))
                let key =
                    copied.secretKeyPath.map {
                        "the key of sealed secrets is not in it: keep \($0) apart"
                    } ?? "the key of sealed secrets is in it"
                let problems = copied.problems
                var output = outcome(
                    problems: problems,
                    (["backup written to \(destination)", key] + problems)
                        .joined(separator: "\n"))
                output.values.append(("securityKey", .flag(copied.secretKeyPath == nil)))
                return output
            }),
        Command(
            "backup --verify",
            "restore the last backup into a folder that goes again, and check it",
            positionals: [
                CommandPositional(
                    "SRC", "a copy, or the folder or s3://BUCKET/PREFIX of backups", kind: .path)
            ], isLong: true,
            action: .local { invocation, process in
                let configuration = try ServerConfiguration.load(for: invocation, in: process)
                let problems = try DataFolder.verifyBackup(
                    invocation.required("SRC"), configuration, process)
                return outcome(
                    problems: problems,
                    (problems.isEmpty ? ["the backup is good"] : problems).joined(separator: "\n"))
            }),
        Command(
            "restore", "fill an empty data folder from a backup",
            positionals: [
                CommandPositional(
                    "SRC", "a copy, or the folder or s3://BUCKET/PREFIX of backups", kind: .path)
            ],
            options: [
                CommandOption(
                    "at", value: "TIME",
                    "the last backup of that time or before, such as 2026-11-21T08:00:00Z")
            ],
            question: "Fill the data folder from the backup?", isLong: true,
            action: .local { invocation, process in
                let configuration = try ServerConfiguration.load(for: invocation, in: process)
                let restored = try DataFolder.restore(
                    from: invocation.required("SRC"),
                    at: invocation.value("at").map { try moment($0, of: "restore: --at") },
                    configuration, process)
                let again = restored.erasedAgain
                let lines =
                    ["restored into \(configuration.data)"]
                    + (again > 0 ? ["accounts erased again: \(again)"] : [])
                var output = outcome(
                    problems: restored.problems,
                    (lines + restored.problems).joined(separator: "\n"))
                output.values.append(("erasedAgain", .number(Int64(again))))
                return output
            }),
        Command(
            "check", "read everything and say what is wrong", reach: [.looks, .everywhere, .own],
            options: [
                CommandOption(
                    "remove-damaged", "first delete the records that are not what was written"),
                CommandOption("progress", "say on the way how far it has come, in lines"),
            ], isLong: true,
            action: .streamed { invocation, administrator, files in
                let watcher = ProgressWatcher { progress($0, of: invocation, files) }
                let found = try administrator.perform(
                    CheckData(removingDamaged: invocation.has("remove-damaged")) {
                        watcher.tell($0)
                    })
                let trashed = found.trashedAssets
                var lines = found.problems.isEmpty ? ["no problems"] : found.problems
                let mended = found.mendedSums
                if mended > 0 { lines.append("checksums of assets made again: \(mended)") }
                if trashed > 0 { lines.append("assets in the trash: \(trashed)") }
                let removed = found.removedRecords
                if removed > 0 { lines.append("damaged records removed: \(removed)") }
                var output = outcome(
                    problems: found.problems, lines.joined(separator: "\n"))
                output.values.append(("mendedSums", .number(Int64(mended))))
                output.values.append(("trashedAssets", .number(Int64(trashed))))
                output.values.append(("removedRecords", .number(Int64(removed))))
                output.endsStream = true
                return output
            }),
    ]

    /// Passes on how far a check has come: a line where one is asked for, else what a terminal shows.
    private static func progress(
        _ line: String, of invocation: Invocation, _ files: any CallerFiles
    ) -> Bool {
        guard invocation.has("progress") else {
            return invocation.has("json") || files.tell(line)
        }
        let output = CommandOutput(line, values: [("progress", .text(line))])
        do {
            try files.print(output.rendered(asJSON: invocation.has("json")))
            return true
        } catch {
            // Nobody is there to read it.
            return false
        }
    }

    private static func outcome(problems: [String], _ text: String) -> CommandOutput {
        CommandOutput(
            text, values: [("ok", .flag(problems.isEmpty)), ("problems", .texts(problems))],
            status: problems.isEmpty ? 0 : 1)
    }
}
