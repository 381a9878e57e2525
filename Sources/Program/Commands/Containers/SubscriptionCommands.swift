import Administration
import CloudModel

extension Command {
    static let subscriptions: [Command] = [
        Command(
            "subscription list", "list who waits to hear of what", reach: [.looks, .person],
            positionals: CommandPositional.containerAndEnvironment,
            options: [
                CommandOption("user", value: "EMAIL", "one user's alone")
            ] + CommandOption.list(searched: "subscription ID"),
            action: .data { invocation, administrator in
                let page = try administrator.perform(
                    ListAllSubscriptions(
                        in: invocation.containerAndEnvironment(), email: invocation.value("user"),
                        invocation.listRequest()))
                let found = page.items
                return .page(
                    lines: found.map(\.line),
                    values: [
                        ("subscription", .texts(found.map(\.subscription.id.text))),
                        ("subscriptions", .objects(found.map(\.members))),
                    ], next: page.next)
            })
    ]
}

extension ListAllSubscriptions.Entry {
    fileprivate var line: String {
        ([email ?? user.text, scope.rawValue, subscription.kind.word, subscription.id.text]
            + (subscription.recordType.map { ["type=\($0.text)"] } ?? [])
            + (subscription.zone.map { ["zone=\($0.text)"] } ?? [])
            + (subscription.firesOn.isEmpty
                ? [] : ["on=\(subscription.firesOn.words.joined(separator: ","))"])
            + (subscription.firesOnce ? ["once"] : [])).joined(separator: "  ")
    }

    /// What `--json` tells of it.
    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [
            ("subscriptionID", .text(subscription.id.text)),
            ("userRecordName", .text(user.text)),
        ] + (email.map { [("email", .text($0))] } ?? [])
            + [("database", .text(scope.rawValue)), ("type", .text(subscription.kind.word))]
            + (subscription.recordType.map { [("recordType", .text($0.text))] } ?? [])
            + (subscription.zone.map { [("zone", .text($0.text))] } ?? [])
            + [("firesOn", .texts(subscription.firesOn.words))]
    }
}

extension Subscription.Kind {
    fileprivate var word: String {
        switch self {
        case .query: "query"
        case .zone: "zone"
        case .database: "database"
        }
    }
}

extension Subscription.Firing {
    fileprivate var words: [String] {
        [(Subscription.Firing.create, "create"), (.update, "update"), (.delete, "delete")]
            .filter { contains($0.0) }.map(\.1)
    }
}
