import Accounts
import Administration
import CloudModel
import Cryptography
import Storage

extension Command {
    static let containers: [Command] = [
        Command(
            "container create", "make a container", reach: .everywhere,
            positionals: [CommandPositional("ID", "1 to 128 of A-Z a-z 0-9 . -")],
            action: .data { invocation, administrator in
                let made = try administrator.perform(CreateContainer(invocation.required("ID")))
                return named(made.id.name, "made")
            }),
        Command(
            "container list", "list the containers", reach: [.looks, .own],
            options: CommandOption.list(searched: "ID"),
            action: .data { invocation, administrator in
                let page = try administrator.perform(ListContainers(invocation.listRequest()))
                let containers = page.items
                let lines = containers.map { listed in
                    let settings = listed.container.settings.sorted { $0.key < $1.key }
                    let missing = listed.missing.map { "(\($0.rawValue) is missing: see check)" }
                    return
                        ([listed.container.id.name] + settings.map { "\($0.key)=\($0.value)" }
                        + missing).joined(separator: "  ")
                }
                return .page(
                    lines: lines,
                    values: [
                        ("container", .texts(containers.map(\.container.id.name))),
                        ("containers", .objects(containers.map(members))),
                    ], next: page.next)
            }),
        Command(
            "container set", "change settings of a container; an empty value goes back to none",
            positionals: [
                CommandPositional("ID", "the container"),
                CommandPositional(
                    "KEY=VALUE",
                    ContainerSetting.allCases.map { "\($0.rawValue): \($0.form)" }
                        .joined(separator: "; "), arity: .many,
                    fileKeys: [ContainerSetting.icon.rawValue]),
            ],
            action: .data { invocation, administrator in
                var values: [String: String] = [:]
                for text in invocation.values("KEY=VALUE") {
                    guard let (key, value) = text.keyAndValue else {
                        throw invocation.misuse("a setting is given as KEY=VALUE")
                    }
                    values[key] = value
                }
                let icon = invocation.contents(ContainerSetting.icon.rawValue)
                    .flatMap { Base64.decode(String(decoding: $0, as: UTF8.self)) }
                let changed = try administrator.perform(
                    ChangeContainer(invocation.required("ID"), settings: values, icon: icon))
                return named(changed.id.name, "changed")
            }),
        Command(
            "container delete", "delete a container with everything in it", reach: .everywhere,
            positionals: [CommandPositional("ID", "the container")],
            question: "Delete the container and all data in it for ever?",
            action: .data { invocation, administrator in
                let id = try administrator.perform(DeleteContainer(invocation.required("ID")))
                return named(id.name, "deleted")
            }),
    ]

    /// What `--json` tells of a container; times in milliseconds since 1970.
    private static func members(
        of listed: ListContainers.Listed
    ) -> [(key: String, value: CommandOutput.Value)] {
        let container = listed.container
        let settings = container.settings.sorted { $0.key < $1.key }
        return [
            ("container", .text(container.id.name)), ("made", .number(container.createdAt)),
            ("settings", .object(settings.map { ($0.key, .text($0.value)) })),
            ("missing", .texts(listed.missing.map(\.rawValue))),
        ]
    }

    private static func named(_ name: String, _ what: String) -> CommandOutput {
        CommandOutput("container \(name) \(what)", values: [("container", .text(name))])
    }
}

extension Invocation {
    /// The environment of a container that a command's places name.
    func containerAndEnvironment() throws -> NamedEnvironment {
        guard let environment = Environment(rawValue: try required("ENVIRONMENT")) else {
            throw misuse("ENVIRONMENT is development or production")
        }
        return NamedEnvironment(try required("CONTAINER"), environment)
    }
}

extension CommandPositional {
    /// The places of every command that works on one environment of a container.
    static let containerAndEnvironment = [
        CommandPositional("CONTAINER", "the container's ID"),
        CommandPositional(
            "ENVIRONMENT", "development or production",
            choices: Environment.allCases.map(\.rawValue)),
    ]
}
