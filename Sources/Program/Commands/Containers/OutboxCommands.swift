import Administration
import CloudModel
import Control
import Storage

extension Command {
    private static let email = CommandPositional("EMAIL", "whose devices and browsers")

    static let outboxes: [Command] = [
        Command(
            "outbox list", "list for whom notices wait, since when, and what fails",
            reach: [.looks, .person], positionals: CommandPositional.containerAndEnvironment,
            options: [
                CommandOption(
                    "user", value: "EMAIL", "all devices and browsers of one user, and no others")
            ],
            action: .data { invocation, administrator in
                let found = try administrator.perform(
                    ListOutbox(
                        of: invocation.containerAndEnvironment(), email: invocation.value("user")))
                let oldest = found.oldest.map { ", the oldest since \(Timestamp($0).text)" } ?? ""
                return CommandOutput(
                    (["waiting=\(found.waiting)\(oldest)"] + found.entries.map(\.line)
                        + (found.isCut ? ["and more"] : [])).joined(separator: "\n"),
                    values: [
                        ("waiting", .number(Int64(found.waiting))),
                        ("destinations", .objects(found.entries.map(\.members))),
                        ("isCut", .flag(found.isCut)),
                    ] + (found.oldest.map { [("oldest", .number($0))] } ?? []))
            }),
        Command(
            "push test", "send a notice of no change to all devices and browsers of a user",
            reach: .person, positionals: CommandPositional.containerAndEnvironment + [email],
            action: .data { invocation, administrator in
                let kinds = try administrator.perform(
                    TestPush(
                        to: invocation.required("EMAIL"), in: invocation.containerAndEnvironment())
                ).map(\.word)
                return CommandOutput(
                    kinds.isEmpty
                        ? "this user has no registered device or browser"
                        : "a notice is on its way: \(kinds.joined(separator: ", "))",
                    values: [("destinations", .texts(kinds))])
            }),
    ]
}

extension DestinationKind {
    /// What operators read of it.
    fileprivate var word: String {
        switch self {
        case .courier: "fetches"
        case .apns: "apple"
        case .webPush: "browser"
        case .webhook: "webhook"
        }
    }
}

extension ListOutbox.Entry {
    fileprivate var line: String {
        let parts = [
            kind.word, email, device, "waiting=\(waiting)",
            since.map { "since \(Timestamp($0).text)" },
            failures > 0 ? "failing=\(failures)" : nil,
        ]
        return parts.compactMap { $0 }.joined(separator: "  ")
    }

    /// What `--json` tells of it.
    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [("kind", .text(kind.word))] + (email.map { [("email", .text($0))] } ?? [])
            + (device.map { [("device", .text($0))] } ?? [])
            + [("waiting", .number(Int64(waiting))), ("failures", .number(Int64(failures)))]
            + (since.map { [("since", .number($0))] } ?? []) + [("used", .number(used))]
    }
}

/// Of one that was given up.
extension StoredNotice {
    var line: String {
        [
            Timestamp(madeAt).text, end.map { "given up \(Timestamp($0.moment).text)" },
            scope.rawValue, end?.reason,
        ].compactMap { $0 }.joined(separator: "  ")
    }

    /// What `--json` tells of it.
    var members: [(key: String, value: CommandOutput.Value)] {
        [
            ("identifier", .text(identifier)), ("database", .text(scope.rawValue)),
            ("made", .number(madeAt)),
        ]
            + (end.map { [("givenUp", .number($0.moment)), ("reason", .text($0.reason))] } ?? [])
    }
}
