import Administration
import Control

extension Command {
    /// How operators let people in.
    static let userEntrances: [Command] = [
        Command(
            "user password", "set a user's password, and sign them out everywhere",
            reach: .everywhere,
            positionals: [CommandPositional("EMAIL", "the address that names the account")],
            options: [
                CommandOption(
                    "password-stdin", "read the password from standard input",
                    readsStandardInput: true)
            ],
            action: .data { invocation, administrator in
                guard let password = invocation.contents("password-stdin") else {
                    throw UsageFailure("lenticular user password: give --password-stdin")
                }
                let account = try administrator.perform(
                    SetPassword(firstLine(password), of: invocation.required("EMAIL")))
                return described(account, "has the new password")
            }),
        Command(
            "user second-factor", "say whether a user is asked for codes, or end that",
            reach: [.looks, .own],
            positionals: [CommandPositional("EMAIL", "the address that names the account")],
            options: [
                CommandOption("remove", "ask the user for nothing but the password any more")
            ],
            action: .data { invocation, administrator in
                let email = try invocation.required("EMAIL")
                let found =
                    try invocation.has("remove")
                    ? administrator.perform(RemoveSecondFactor(of: email))
                    : administrator.perform(ShowSecondFactor(of: email))
                let what =
                    found.recoveryLeft.map { "is asked for codes; recovery codes left: \($0)" }
                    ?? "is asked for no codes"
                return CommandOutput(
                    "user \(found.account.email ?? "") \(what)",
                    values: [
                        ("email", .text(found.account.email ?? "")),
                        ("accountID", .text(found.account.id.text)),
                        ("secondFactor", .flag(found.recoveryLeft != nil)),
                        ("recoveryCodes", .number(Int64(found.recoveryLeft ?? 0))),
                    ])
            }),
        Command(
            "user invite", "invite somebody to create an account", reach: .everywhere,
            positionals: [
                CommandPositional(
                    "EMAIL", "the e-mail address or phone number that the account is to have")
            ],
            action: .data { invocation, administrator in
                described(try administrator.perform(InvitePerson(invocation.required("EMAIL"))))
            }),
    ]

    static func described(_ invitation: InvitePerson.Outcome) -> CommandOutput {
        switch invitation {
        case .sent(let address):
            CommandOutput(
                "a \(address.kind == .email ? "letter" : "text message") to \(address.text) is on its way",
                values: [("email", .text(address.text)), ("sent", .flag(true))])
        case .link(let link, let address):
            CommandOutput(
                "\(link)\n(for \(address.text); shown this once, good once)",
                values: [
                    ("email", .text(address.text)), ("sent", .flag(false)), ("link", .text(link)),
                ])
        }
    }
}
