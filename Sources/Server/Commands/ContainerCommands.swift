import CloudModel
import Storage

extension Command {
    static let containers: [Command] = [
        Command(
            "container create", "make a container",
            places: [CommandPlace("ID", "1 to 128 of A-Z a-z 0-9 . -")],
            action: .data { invocation, folder in
                let id = try containerID(invocation.required("ID"))
                try folder.catalog.add(
                    ContainerRecord(id: id, createdAt: folder.clock.now()))
                return named(id, "made")
            }),
        Command(
            "container list", "list the containers",
            action: .data { _, folder in
                let containers = try folder.catalog.containers()
                let lines = containers.map { container in
                    let settings = container.settings.sorted { $0.key < $1.key }
                    return ([container.id.name] + settings.map { "\($0.key)=\($0.value)" })
                        .joined(separator: "  ")
                }
                return CommandOutput(
                    lines.joined(separator: "\n"),
                    values: [("container", .texts(containers.map(\.id.name)))])
            }),
        Command(
            "container set", "change a container's settings; an empty value removes one",
            places: [
                CommandPlace("ID", "the container"),
                CommandPlace("KEY=VALUE", ContainerSetting.summary, arity: .many),
            ],
            action: .data { invocation, folder in
                let id = try containerID(invocation.required("ID"))
                var settings: [String: String?] = [:]
                for text in invocation.values("KEY=VALUE") {
                    let (setting, value) = try ContainerSetting.parse(text)
                    settings.updateValue(value, forKey: setting.rawValue)
                }
                try folder.catalog.set(settings, of: id)
                return named(id, "changed")
            }),
        Command(
            "container delete", "delete a container with everything in it",
            places: [CommandPlace("ID", "the container")],
            question: "Delete the container and all data in it for ever?",
            action: .data { invocation, folder in
                let id = try containerID(invocation.required("ID"))
                try folder.deleteContainer(id)
                return named(id, "deleted")
            }),
    ]

    private static func named(_ id: ContainerID, _ what: String) -> CommandOutput {
        CommandOutput("container \(id.name) \(what)", values: [("container", .text(id.name))])
    }
}

/// A setting of one container, as `container set` takes it.
package enum ContainerSetting: String, Sendable, CaseIterable {
    /// Where someone without the app is sent who opens a share's link.
    case fallbackURL
    /// Whether `changes/zone` serves the public database's default zone (rulings.md 31).
    case publicChanges

    static let summary = "fallbackURL=URL, publicChanges=true|false"

    /// Reads `KEY=VALUE`; the value is nil when there is nothing after the sign.
    static func parse(
        _ text: String
    ) throws(CommandFailure) -> (setting: ContainerSetting, value: String?) {
        let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, let setting = ContainerSetting(rawValue: String(halves[0])) else {
            throw CommandFailure("a setting is one of \(summary)")
        }
        let value = String(halves[1])
        if value.isEmpty { return (setting, nil) }
        switch setting {
        case .fallbackURL:
            let isURL = value.hasPrefix("https://") || value.hasPrefix("http://")
            guard isURL, value.utf8.count <= 2_048,
                value.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
            else { throw CommandFailure("fallbackURL takes an http or https URL") }
        case .publicChanges:
            guard value == "true" || value == "false" else {
                throw CommandFailure("publicChanges takes true or false")
            }
        }
        return (setting, value)
    }
}

/// A container's name from an argument.
func containerID(_ text: String) throws(CommandFailure) -> ContainerID {
    guard let id = ContainerID(text) else {
        throw CommandFailure("a container ID is 1 to 128 of A-Z a-z 0-9 . -")
    }
    return id
}

/// An environment from an argument.
func environment(_ text: String) throws(CommandFailure) -> Environment {
    guard let environment = Environment(rawValue: text) else {
        throw CommandFailure("an environment is development or production")
    }
    return environment
}
