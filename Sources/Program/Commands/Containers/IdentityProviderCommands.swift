import Administration
import CloudModel
import Storage

extension Command {
    /// Other servers that people sign in with.
    static let identityProviders: [Command] = [
        Command(
            "identity-provider add", "let people sign in by way of an OpenID Connect provider",
            reach: .everywhere,
            positionals: [
                CommandPositional("NAME", "what people see on the button"),
                CommandPositional("ISSUER", "its URL, exactly as it writes it"),
                CommandPositional("CLIENT", "what it calls this server"),
            ],
            options: [
                CommandOption(
                    "secret-stdin", "read its secret, or the key in PEM, from standard input",
                    readsStandardInput: true),
                CommandOption("team", value: "T", "with --key: whose key it is, as Apple wants"),
                CommandOption("key", value: "K", "what it calls the key that signs secrets"),
                CommandOption("form-post", "have it answer by a form, as Apple has to"),
                CommandOption(
                    "trust-email", "take addresses that it calls verified to be verified"),
            ],
            action: .data { invocation, administrator in
                let provider = try administrator.perform(
                    AddIdentityProvider(
                        name: invocation.required("NAME"), issuer: invocation.required("ISSUER"),
                        client: invocation.required("CLIENT"),
                        secret: invocation.contents("secret-stdin").map(trimmed),
                        team: invocation.value("team"), keyName: invocation.value("key"),
                        trustsEmail: invocation.has("trust-email"),
                        usesFormPost: invocation.has("form-post")))
                return CommandOutput(
                    "\(provider.name) added; register \(provider.redirectURL) there",
                    values: [
                        ("identityProvider", .text(provider.name)),
                        ("redirectURL", .text(provider.redirectURL)),
                    ])
            }),
        Command(
            "identity-provider list", "list the providers", reach: [.looks, .everywhere, .own],
            action: .data { _, administrator in
                let providers = try administrator.perform(ListIdentityProviders())
                return CommandOutput(
                    providers.map { "\($0.name)  \($0.issuer)  \($0.client)" }
                        .joined(separator: "\n"),
                    values: [
                        (
                            "identityProviders",
                            .objects(
                                providers.map {
                                    [
                                        ("name", .text($0.name)), ("issuer", .text($0.issuer)),
                                        ("client", .text($0.client)),
                                        ("trustEmail", .flag($0.trustsEmail)),
                                        ("formPost", .flag($0.usesFormPost)),
                                    ]
                                })
                        )
                    ])
            }),
        Command(
            "identity-provider remove", "let nobody sign in by way of a provider any more",
            reach: .everywhere,
            positionals: [CommandPositional("NAME", "what people see on the button")],
            action: .data { invocation, administrator in
                let name = try invocation.required("NAME")
                try administrator.perform(RemoveIdentityProvider(name))
                return CommandOutput(
                    "\(name) removed", values: [("identityProvider", .text(name))])
            }),
    ]

    /// Without the line's end that shells and editors add.
    private static func trimmed(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        while bytes.last == UInt8(ascii: "\n") || bytes.last == UInt8(ascii: "\r") {
            bytes.removeLast()
        }
        return bytes
    }
}
