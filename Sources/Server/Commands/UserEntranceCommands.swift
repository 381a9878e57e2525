import Administration

extension Command {
    /// How operators let people in.
    static let userEntrances: [Command] = [
        Command(
            "user password", "set a user's password, and sign them out everywhere",
            places: [CommandPlace("EMAIL", "the address that names the account")],
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
            "user invite", "invite somebody to make an account",
            places: [CommandPlace("EMAIL", "the address that the account is to have")],
            action: .data { invocation, administrator in
                described(try administrator.perform(InvitePerson(invocation.required("EMAIL"))))
            }),
    ]

    private static func described(_ invitation: InvitePerson.Outcome) -> CommandOutput {
        switch invitation {
        case .sent(let address):
            CommandOutput(
                "a letter to \(address.text) is on its way",
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
