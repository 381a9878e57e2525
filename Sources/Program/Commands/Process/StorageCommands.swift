import Administration
import CloudModel
import Configuration
import Control

extension Command {
    static let storages: [Command] = [
        Command(
            "storage copy", "move containers to another server's data, or have them back",
            reach: .everywhere,
            options: [
                CommandOption(
                    "from", value: "URL", "sqlite:FOLDER or postgresql://…, this server's data",
                    isRequired: true, kind: .serverPath),
                CommandOption(
                    "to", value: "URL", "the same of a stopped server or a new one",
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
        guard isOfStorages, let from = value("from") else { return nil }
        // NB: `requireAddresses` says what is wrong with one.
        guard case .folder(let folder) = try? StorageAddress(from) else { return nil }
        return folder
    }

    /// Refuses addresses that nothing can be copied from or to.
    func requireAddresses() throws(StorageAddressRefusal) {
        guard isOfStorages else { return }
        for text in [value("from"), value("to")].compactMap(\.self) {
            if case .database(let url) = try StorageAddress(text), PostgresAddress(url) == nil {
                throw .unusableURL
            }
        }
    }
}
