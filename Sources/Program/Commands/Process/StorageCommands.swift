import Administration
import CloudModel
import Control

extension Command {
    static let storages: [Command] = [
        Command(
            "storage copy", "move containers to another server's data, or have them back",
            options: [
                CommandOption(
                    "from", value: "URL", "sqlite:FOLDER, the data folder that has them",
                    isRequired: true, kind: .serverPath),
                CommandOption(
                    "to", value: "URL", "sqlite:FOLDER, that of a stopped server or a new one",
                    kind: .serverPath),
                CommandOption("container", value: "ID", "this one alone"),
                CommandOption(
                    "to-config", value: "FILE", "the configuration file of the server there",
                    kind: .serverPath),
                CommandOption(
                    "reopen", "have them used here again; what the copy gave out expires"),
            ],
            isLong: true,
            action: .watched { invocation, administrator, watcher in
                try invocation.has("reopen")
                    ? reopen(invocation, by: administrator)
                    : copy(invocation, by: administrator) { watcher.tell($0) }
            })
    ]

    private static func reopen(
        _ invocation: Invocation, by administrator: Administrator
    ) throws -> CommandOutput {
        guard !invocation.has("to"), !invocation.has("to-config") else {
            throw invocation.misuse("--reopen goes with --from and --container alone")
        }
        let reopened = try administrator.perform(
            ReopenStorage(
                in: invocation.required("from"), only: invocation.value("container")))
        return CommandOutput(
            reopened.isEmpty
                ? "nothing was out of use" : "in use again: \(names(reopened))",
            values: [("reopened", .texts(reopened.map(\.name)))])
    }

    private static func copy(
        _ invocation: Invocation, by administrator: Administrator,
        _ tell: @escaping (String) -> Bool
    ) throws -> CommandOutput {
        guard let target = invocation.value("to") else {
            throw invocation.misuse("--to or --reopen is missing")
        }
        let report = try administrator.perform(
            CopyStorage(
                from: invocation.required("from"), to: target,
                settings: invocation.value("to-config"),
                only: invocation.value("container"), tell: tell))
        let lines = [
            "copied and compared: \(report.rows) rows and \(report.assets) files",
            "out of use here until storage copy --reopen: \(names(report.containers))",
        ]
        return CommandOutput(
            (lines + report.problems).joined(separator: "\n"),
            values: [
                ("containers", .texts(report.containers.map(\.name))),
                ("rows", .number(Int64(report.rows))), ("assets", .number(Int64(report.assets))),
                ("problems", .texts(report.problems)),
            ], status: report.problems.isEmpty ? 0 : 1)
    }

    private static func names(_ containers: [ContainerID]) -> String {
        containers.map(\.name).joined(separator: ", ")
    }
}

extension Invocation {
    private var isOfStorages: Bool { Command.storages.contains { $0.name == command.name } }

    /// The data folder that the command names by an address in place of `--data`; nil for none.
    var addressedFolder: String? {
        guard isOfStorages, let from = value("from"),
            case .folder(let folder) = StorageAddress(from)
        else { return nil }
        return folder
    }

    /// Refuses an address that nothing can be copied from.
    func requireAddress() throws(StorageAddressRefusal) {
        guard isOfStorages, let from = value("from") else { return }
        _ = try StorageAddress.folder(of: from)
    }
}
