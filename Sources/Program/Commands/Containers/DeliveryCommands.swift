import Administration
import CloudModel
import Control
import Delivery
import Server
import Storage

extension Command {
    private static let appContainer = CommandPositional("CONTAINER", "the app's container")

    static let pushKeys: [Command] = [
        Command(
            "push key add", "let the server push to an app on Apple's devices",
            positionals: [appContainer],
            options: [
                CommandOption("topic", value: "T", "the app's bundle ID", isRequired: true),
                CommandOption(
                    "key", value: "FILE", "the private key (.p8) that Apple gave out",
                    isRequired: true, kind: .contents),
                CommandOption("key-id", value: "K", "as Apple names the key", isRequired: true),
                CommandOption("team-id", value: "T", "whose it is", isRequired: true),
            ],
            action: .data { invocation, administrator in
                try ApplePushSupport.require()
                let topic = try invocation.required("topic")
                try administrator.perform(
                    AddPushKey(
                        String(decoding: invocation.contents("key") ?? [], as: UTF8.self),
                        keyID: invocation.required("key-id"),
                        teamID: invocation.required("team-id"), topic: topic,
                        to: invocation.required("CONTAINER")))
                return CommandOutput("\(topic) is pushed to", values: [("topic", .text(topic))])
            }),
        Command(
            "push key list", "list the keys, and the server's own for browsers",
            reach: [.looks, .own],
            action: .data { _, administrator in
                let found = try administrator.perform(ListPushKeys())
                let lines = found.keys.map { key in
                    [
                        key.topic, key.container.name, "key=\(key.keyID)", "team=\(key.teamID)",
                        "made \(Timestamp(key.createdAt).text)",
                    ].joined(separator: "  ")
                }
                return CommandOutput(
                    (lines + ["browsers subscribe with \(found.webPushKey)"])
                        .joined(separator: "\n"),
                    values: [
                        ("topic", .texts(found.keys.map(\.topic))),
                        ("keys", .objects(found.keys.map(members))),
                        ("webPushKey", .text(found.webPushKey)),
                    ])
            }),
        Command(
            "push key remove", "end pushes to an app",
            positionals: [appContainer, CommandPositional("TOPIC", "the app's bundle ID")],
            action: .data { invocation, administrator in
                let topic = try invocation.required("TOPIC")
                try administrator.perform(
                    RemovePushKey(topic: topic, of: invocation.required("CONTAINER")))
                return CommandOutput(
                    "\(topic) is not pushed to any more", values: [("topic", .text(topic))])
            }),
    ]

    /// What `--json` tells of a key.
    private static func members(
        of key: PushKeyRecord
    ) -> [(key: String, value: CommandOutput.Value)] {
        [
            ("topic", .text(key.topic)), ("container", .text(key.container.name)),
            ("keyID", .text(key.keyID)), ("teamID", .text(key.teamID)),
            ("made", .number(key.createdAt)),
        ]
    }

    private static let webhookName = CommandPositional(
        "NAME", "the webhook's name, as list shows it")

    static let webhooks: [Command] = [
        Command(
            "webhook add", "tell a URL of every change; the signing key is shown this once",
            positionals: CommandPositional.containerAndEnvironment + [
                CommandPositional("URL", "where to post")
            ],
            options: [
                CommandOption("name", value: "N", "what to know it by; made up when left out")
            ],
            action: .data { invocation, administrator in
                let made = try administrator.perform(
                    AddWebhook(
                        invocation.required("URL"), to: invocation.containerAndEnvironment(),
                        as: invocation.value("name")))
                let obstacle = made.obstacle.map { ["nothing will be sent there: \($0)"] } ?? []
                return CommandOutput(
                    (["\(made.signingKey)", "(named \(made.name))"] + obstacle)
                        .joined(separator: "\n"),
                    values: [
                        ("webhook", .text(made.name)), ("signingKey", .text(made.signingKey)),
                        ("warnings", .texts(obstacle)),
                    ])
            }),
        Command(
            "webhook list", "list the webhooks, what waits for them and what was given up",
            reach: [.looks, .own], positionals: CommandPositional.containerAndEnvironment,
            action: .data { invocation, administrator in
                let found = try administrator.perform(
                    ListWebhooks(of: invocation.containerAndEnvironment()))
                return CommandOutput(
                    found.map(line).joined(separator: "\n"),
                    values: [
                        ("webhook", .texts(found.map(\.name))),
                        ("webhooks", .objects(found.map(members))),
                    ])
            }),
        Command(
            "webhook test", "post to a webhook once, of no change",
            positionals: CommandPositional.containerAndEnvironment + [webhookName],
            action: .data { invocation, administrator in
                let name = try invocation.required("NAME")
                switch try administrator.perform(
                    TestWebhook(name, of: invocation.containerAndEnvironment()))
                {
                case .delivered:
                    return CommandOutput(
                        "webhook \(name) has taken it", values: [("webhook", .text(name))])
                case .later(let reason, _), .gone(let reason), .refused(let reason):
                    throw CommandFailure("webhook \(name) has not taken it: \(reason)")
                }
            }),
        Command(
            "webhook dead-letters", "list what was given up for a webhook, the oldest first",
            reach: [.looks, .own],
            positionals: CommandPositional.containerAndEnvironment + [webhookName],
            options: CommandOption.pages(),
            action: .data { invocation, administrator in
                let page = try administrator.perform(
                    ListDeadLetters(
                        of: invocation.required("NAME"), in: invocation.containerAndEnvironment(),
                        invocation.listRequest()))
                return .page(
                    lines: page.items.map(\.line),
                    values: [("deadLetters", .objects(page.items.map(\.members)))],
                    next: page.next, empty: "nothing was given up")
            }),
        Command(
            "webhook replay", "send again what was given up",
            positionals: CommandPositional.containerAndEnvironment + [webhookName],
            action: .data { invocation, administrator in
                let name = try invocation.required("NAME")
                let count = try administrator.perform(
                    ReplayWebhook(name, of: invocation.containerAndEnvironment()))
                return CommandOutput(
                    "\(count) notices are sent again to webhook \(name)",
                    values: [("webhook", .text(name)), ("notices", .number(Int64(count)))])
            }),
        Command(
            "webhook remove", "end a webhook, with all that waits for it",
            positionals: CommandPositional.containerAndEnvironment + [webhookName],
            action: .data { invocation, administrator in
                let name = try invocation.required("NAME")
                try administrator.perform(
                    RemoveWebhook(name, from: invocation.containerAndEnvironment()))
                return CommandOutput("webhook \(name) removed", values: [("webhook", .text(name))])
            }),
    ]

    private static func line(of webhook: Webhooks.Entry) -> String {
        ([
            webhook.name, webhook.url, "waiting=\(webhook.waiting)", "given up=\(webhook.dead)",
        ] + (webhook.failures > 0 ? ["failing=\(webhook.failures)"] : [])
            + (webhook.lastReason.map { ["last: \($0)"] } ?? [])
            + ["made \(Timestamp(webhook.madeAt).text)"]).joined(separator: "  ")
    }

    /// What `--json` tells of a webhook; times in milliseconds since 1970.
    private static func members(
        of webhook: Webhooks.Entry
    ) -> [(key: String, value: CommandOutput.Value)] {
        [
            ("name", .text(webhook.name)), ("url", .text(webhook.url)),
            ("waiting", .number(Int64(webhook.waiting))),
            ("givenUp", .number(Int64(webhook.dead))),
            ("failures", .number(Int64(webhook.failures))),
        ] + (webhook.lastReason.map { [("lastReason", .text($0))] } ?? [])
            + [("made", .number(webhook.madeAt))]
    }
}
