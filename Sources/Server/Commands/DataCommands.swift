import Configuration
import SQLite
import Storage

extension Command {
    static let data: [Command] = [
        Command(
            "backup", "copy everything, also while the server runs",
            places: [CommandPlace("DEST", "a folder that is not there yet", kind: .path)],
            isLong: true,
            action: .copy(to: "DEST") { invocation, folder, copy in
                let destination = try invocation.required("DEST")
                let problems = try DataBackup.copy(folder, to: copy)
                let takesKey = SecretKeys.isInBackup(folder.configuration)
                let key =
                    takesKey
                    ? "the key of sealed secrets is in it"
                    : "the key of sealed secrets is not in it: keep "
                        + SecretKeys.path(folder.configuration, of: folder.path) + " apart"
                var output = outcome(
                    problems: problems,
                    (["backup written to \(destination)", key] + problems)
                        .joined(separator: "\n"))
                output.values.append(("securityKey", .flag(takesKey)))
                return output
            }),
        Command(
            "restore", "fill an empty data folder from a backup",
            places: [CommandPlace("SRC", "the backup's folder", kind: .path)],
            question: "Fill the data folder from the backup?", isLong: true,
            action: .local { invocation, surroundings in
                let configuration = try Configuration.load(for: invocation, in: surroundings)
                let path = configuration.data
                try DataFolder.make(path)
                defer { FolderAccess.giveToOwner(of: path) }
                let lock: FileLock
                do {
                    lock = try FileLock(path: DataFolder.lockPath(in: path))
                } catch {
                    throw CommandFailure("\(path) is in use: \(error)")
                }
                let random = surroundings.random
                let problems = try withExtendedLifetime(lock) {
                    try DataBackup.restore(
                        invocation.required("SRC"), into: path,
                        assets: AssetPlaces(
                            configuration, of: path, clock: surroundings.clock, random: random),
                        random: { random.bytes($0) })
                }
                return outcome(
                    problems: problems,
                    (["restored into \(path)"] + problems).joined(separator: "\n"))
            }),
        Command(
            "check", "read everything and say what is wrong", isLong: true,
            action: .data { _, folder in
                let problems = try folder.problems()
                let trashed = try folder.trashedAssets()
                var lines = problems.isEmpty ? ["no problems"] : problems
                if trashed > 0 { lines.append("assets in the trash: \(trashed)") }
                var output = outcome(problems: problems, lines.joined(separator: "\n"))
                output.values.append(("trashedAssets", .number(Int64(trashed))))
                return output
            }),
    ]

    private static func outcome(problems: [String], _ text: String) -> CommandOutput {
        CommandOutput(
            text, values: [("ok", .flag(problems.isEmpty)), ("problems", .texts(problems))],
            status: problems.isEmpty ? 0 : 1)
    }
}
