import Administration
import CloudModel
import Storage

extension Command {
    static let apiTokens: [Command] = [
        Command(
            "api-token create", "make a token that an app calls with; shown this once",
            positionals: CommandPositional.containerAndEnvironment,
            options: [
                CommandOption("name", value: "N", "what to revoke it by; made up when left out"),
                CommandOption(
                    "origin", value: "URL", "a page that may use it; any when left out",
                    isRepeatable: true),
                CommandOption(
                    "callback", value: "post-message|URL", "where sign-in delivers its outcome"),
            ],
            action: .data { invocation, administrator in
                let made = try administrator.perform(
                    CreateAPIToken(
                        in: invocation.containerAndEnvironment(), name: invocation.value("name"),
                        origins: invocation.values("origin"),
                        callback: invocation.value("callback")))
                return CommandOutput(
                    "\(made.token)\n(named \(made.record.name))",
                    values: [("apiToken", .text(made.token))])
            }),
        Command(
            "api-token list", "list the tokens' names", reach: [.looks, .own],
            options: CommandOption.list(searched: "name"),
            action: .data { invocation, administrator in
                let page = try administrator.perform(ListAPITokens(invocation.listRequest()))
                let tokens = page.items
                let lines = tokens.map { token in
                    ([token.name, token.container.name, token.environment.rawValue]
                        + token.origins.map { "origin=\($0)" }
                        + (token.callback.map { ["callback=\($0)"] } ?? [])
                        + ["made \(Timestamp(token.createdAt).text)", lastUse(token.usedAt)])
                        .joined(separator: "  ")
                }
                return .page(
                    lines: lines,
                    values: [
                        ("apiToken", .texts(tokens.map(\.name))),
                        ("apiTokens", .objects(tokens.map(members))),
                    ], next: page.next)
            }),
        Command(
            "api-token set", "change where a token may be used; apps keep the one they have",
            positionals: [CommandPositional("NAME", "the token's name, as list shows it")],
            options: [
                CommandOption(
                    "origin", value: "URL", "a page that may use it, in place of those before",
                    isRepeatable: true),
                CommandOption("any-origin", "let it be used anywhere"),
                CommandOption(
                    "callback", value: "post-message|URL|none",
                    "where sign-in delivers its outcome"),
            ],
            action: .data { invocation, administrator in
                let (origins, isAny) = (invocation.values("origin"), invocation.has("any-origin"))
                guard origins.isEmpty || !isAny else {
                    throw invocation.misuse("--origin and --any-origin exclude each other")
                }
                guard !origins.isEmpty || isAny || invocation.value("callback") != nil else {
                    throw invocation.misuse("name what to change")
                }
                let token = try administrator.perform(
                    ChangeAPIToken(
                        name: invocation.required("NAME"),
                        origins: origins.isEmpty && !isAny ? nil : origins,
                        callback: invocation.value("callback")))
                return CommandOutput("token \(token.name) changed", values: members(of: token))
            }),
        Command(
            "api-token revoke", "end a token at once",
            positionals: [CommandPositional("NAME", "the token's name, as list shows it")],
            action: .data { invocation, administrator in
                let name = try invocation.required("NAME")
                try administrator.perform(RevokeAPIToken(name: name))
                return CommandOutput(
                    "token \(name) revoked", values: [("apiToken", .text(name))])
            }),
    ]

    static let serverKeys: [Command] = [
        Command(
            "server-key add", "let the holder of a P-256 key sign requests",
            positionals: CommandPositional.containerAndEnvironment,
            options: [
                CommandOption(
                    "public-key", value: "FILE", "the public key in PEM", isRequired: true,
                    kind: .contents),
                CommandOption("name", value: "N", "what to know it by"),
                CommandOption(
                    "scope", value: "public|container",
                    "how far it reaches; public when left out"),
            ],
            action: .data { invocation, administrator in
                let target = try invocation.containerAndEnvironment()
                let scopeName = invocation.value("scope") ?? ServerKeyRecord.Scope.public.rawValue
                guard let scope = ServerKeyRecord.Scope(rawValue: scopeName) else {
                    throw invocation.misuse("--scope is public or container")
                }
                let key = try administrator.perform(
                    AddServerKey(
                        in: target,
                        publicKeyPEM: String(
                            decoding: invocation.contents("public-key") ?? [], as: UTF8.self),
                        name: invocation.value("name"), scope: scope))
                return CommandOutput(key.keyID, values: [("keyID", .text(key.keyID))])
            }),
        Command(
            "server-key list", "list the keys", reach: [.looks, .own],
            options: CommandOption.list(searched: "ID"),
            action: .data { invocation, administrator in
                let page = try administrator.perform(ListServerKeys(invocation.listRequest()))
                let keys = page.items
                let lines = keys.map { key in
                    ([
                        key.keyID, key.container.name, key.environment.rawValue,
                        "scope=\(key.scope.rawValue)",
                    ] + (key.name.map { [$0] } ?? [])
                        + ["made \(Timestamp(key.createdAt).text)", lastUse(key.usedAt)]).joined(
                            separator: "  ")
                }
                return .page(
                    lines: lines,
                    values: [
                        ("keyID", .texts(keys.map(\.keyID))),
                        ("serverKeys", .objects(keys.map(members))),
                    ], next: page.next)
            }),
        Command(
            "server-key revoke", "end a key at once",
            positionals: [CommandPositional("KEYID", "the key's ID")],
            action: .data { invocation, administrator in
                let keyID = try invocation.required("KEYID")
                try administrator.perform(RevokeServerKey(keyID: keyID))
                return CommandOutput("key \(keyID) revoked", values: [("keyID", .text(keyID))])
            }),
    ]

    /// When a token or key was last used, as a list says it.
    static func lastUse(_ time: Milliseconds?) -> String {
        time.map { "last used \(Timestamp($0).text)" } ?? "never used"
    }

    /// What `--json` tells of an API token; times in milliseconds since 1970.
    private static func members(
        of token: APITokenRecord
    ) -> [(key: String, value: CommandOutput.Value)] {
        [
            ("name", .text(token.name)), ("container", .text(token.container.name)),
            ("environment", .text(token.environment.rawValue)), ("origins", .texts(token.origins)),
        ] + (token.callback.map { [("callback", .text($0))] } ?? [])
            + [("made", .number(token.createdAt))]
            + (token.usedAt.map { [("lastUsed", .number($0))] } ?? [])
    }

    /// What `--json` tells of a server key; times in milliseconds since 1970.
    private static func members(
        of key: ServerKeyRecord
    ) -> [(key: String, value: CommandOutput.Value)] {
        [
            ("keyID", .text(key.keyID)), ("container", .text(key.container.name)),
            ("environment", .text(key.environment.rawValue)), ("scope", .text(key.scope.rawValue)),
        ] + (key.name.map { [("name", .text($0))] } ?? []) + [("made", .number(key.createdAt))]
            + (key.usedAt.map { [("lastUsed", .number($0))] } ?? [])
    }
}
