import Accounts
import Administration
import CloudModel
import Storage

extension Command {
    static let operators: [Command] = [
        Command(
            "operator create", "make somebody an operator, or give an operator other rights",
            reach: .everywhere, positionals: [operatorEmail],
            options: rightsOptions + [
                CommandOption(
                    "password-stdin",
                    "make their account, with the password from standard input",
                    readsStandardInput: true)
            ],
            action: .data { invocation, administrator in
                let made = try administrator.perform(
                    CreateOperator(
                        invocation.required("EMAIL"), rights: invocation.namedRights,
                        password: invocation.contents("password-stdin").map(firstLine)))
                let email = made.account.email ?? ""
                let advice =
                    made.hasSecondFactor
                    ? []
                    : ["signing in as an operator wants a second factor: set it up at /account"]
                return CommandOutput(
                    (["\(email) is an operator: \(made.rights.words)"] + advice)
                        .joined(separator: "\n"),
                    values: [
                        ("email", .text(email)), ("accountID", .text(made.account.id.text)),
                        ("secondFactor", .flag(made.hasSecondFactor)),
                    ] + made.rights.members)
            }),
        Command(
            "operator invite", "invite somebody to make an account that is an operator's",
            reach: .everywhere, positionals: [operatorEmail], options: rightsOptions,
            action: .data { invocation, administrator in
                described(
                    try administrator.perform(
                        InviteOperator(
                            invocation.required("EMAIL"), rights: invocation.namedRights)))
            }),
        Command(
            "operator list", "list the operators", reach: [.looks, .everywhere, .own],
            options: [
                CommandOption(
                    "search", value: "PREFIX",
                    "those alone whose account ID begins so, or the one with this address")
            ] + CommandOption.pages(),
            action: .data { invocation, administrator in
                let page = try administrator.perform(ListOperators(invocation.listRequest()))
                let lines = page.items.map { listed in
                    ([listed.email, listed.record.account.text, listed.record.rights.words]
                        + (listed.hasSecondFactor ? [] : ["(no second factor)"]))
                        .joined(separator: "  ")
                }
                return .page(
                    lines: lines,
                    values: [
                        ("email", .texts(page.items.map(\.email))),
                        ("operators", .objects(page.items.map(members))),
                    ], next: page.next, empty: "no operators")
            }),
        Command(
            "operator remove", "take the role from an operator, at once; the account stays",
            reach: .everywhere, positionals: [operatorEmail],
            action: .data { invocation, administrator in
                let account = try administrator.perform(
                    RemoveOperator(invocation.required("EMAIL")))
                return described(account, "is no operator any more")
            }),
    ]

    static let operatorTokens: [Command] = [
        Command(
            "operator-token create",
            "make a token for a script that acts as an operator; shown this once",
            reach: .everywhere,
            options: [
                CommandOption("name", value: "N", "what to revoke it by; made up when left out")
            ] + rightsOptions + [
                CommandOption(
                    "expires", value: "SECONDS",
                    "its life, \(OperatorTokens.secondsMax) at most; "
                        + "\(OperatorTokens.secondsUsual) when left out")
            ],
            action: .data { invocation, administrator in
                let seconds = try invocation.value("expires").map { text in
                    guard let seconds = Int(text) else {
                        throw invocation.misuse("--expires takes a whole number of seconds")
                    }
                    return seconds
                }
                let made = try administrator.perform(
                    CreateOperatorToken(
                        name: invocation.value("name"), rights: invocation.namedRights,
                        seconds: seconds))
                let record = made.record
                return CommandOutput(
                    "\(made.token)\n(named \(record.name), until \(Timestamp(record.expiresAt).text): "
                        + "\(record.rights.words))",
                    values: [("operatorToken", .text(made.token))] + members(of: record))
            }),
        Command(
            "operator-token list", "list the tokens of scripts, without the tokens themselves",
            reach: [.looks, .everywhere, .own], options: CommandOption.list(searched: "name"),
            action: .data { invocation, administrator in
                let page = try administrator.perform(ListOperatorTokens(invocation.listRequest()))
                let lines = page.items.map { token in
                    [
                        token.name, token.rights.words,
                        "expires \(Timestamp(token.expiresAt).text)", lastUse(token.usedAt),
                    ].joined(separator: "  ")
                }
                return .page(
                    lines: lines,
                    values: [
                        ("name", .texts(page.items.map(\.name))),
                        ("operatorTokens", .objects(page.items.map(members))),
                    ], next: page.next, empty: "no operator tokens")
            }),
        Command(
            "operator-token revoke", "end a token at once", reach: .everywhere,
            positionals: [CommandPositional("NAME", "the token's name, as list shows it")],
            action: .data { invocation, administrator in
                let name = try invocation.required("NAME")
                try administrator.perform(RevokeOperatorToken(name: name))
                return CommandOutput("token \(name) revoked", values: [("name", .text(name))])
            }),
    ]

    private static let operatorEmail = CommandPositional(
        "EMAIL", "the address that names the account")

    private static let rightsOptions = [
        CommandOption(
            "container", value: "ID", "a container that they have; all, when left out",
            isRepeatable: true),
        CommandOption("read-only", "let them look, and change nothing"),
    ]

    /// What `--json` tells of an operator; times in milliseconds since 1970.
    private static func members(
        of listed: ListOperators.Listed
    ) -> [(key: String, value: CommandOutput.Value)] {
        [
            ("email", .text(listed.email)), ("accountID", .text(listed.record.account.text)),
            ("secondFactor", .flag(listed.hasSecondFactor)),
            ("made", .number(listed.record.madeAt)),
        ] + listed.record.rights.members
    }

    /// What `--json` tells of an operator token; times in milliseconds since 1970.
    private static func members(
        of token: OperatorTokenRecord
    ) -> [(key: String, value: CommandOutput.Value)] {
        [
            ("name", .text(token.name)), ("made", .number(token.madeAt)),
            ("expires", .number(token.expiresAt)),
        ] + token.rights.members + (token.usedAt.map { [("lastUsed", .number($0))] } ?? [])
    }
}

extension Invocation {
    fileprivate var namedRights: NamedRights {
        NamedRights(containers: values("container"), isReadOnly: has("read-only"))
    }
}

extension OperatorRights {
    private var names: [String]? { containers.map { $0.map(\.name).sorted() } }

    fileprivate var words: String {
        (isReadOnly ? "looks at " : "changes ") + (names?.joined(separator: ", ") ?? "everything")
    }

    /// Without `containers` for all of them.
    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [("readOnly", .flag(isReadOnly)), ("allContainers", .flag(hasAllContainers))]
            + (names.map { [("containers", .texts($0))] } ?? [])
    }
}
