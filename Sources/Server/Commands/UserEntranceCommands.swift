import Accounts
import CloudModel
import Storage

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
            action: .data { invocation, folder in
                guard let password = invocation.contents("password-stdin") else {
                    throw UsageFailure("lenticular user password: give --password-stdin")
                }
                let account = try folder.users.setPassword(
                    firstLine(password), email: invocation.required("EMAIL"))
                return described(account, "has the new password")
            }),
        Command(
            "user invite", "invite somebody to make an account",
            places: [CommandPlace("EMAIL", "the address that the account is to have")],
            action: .data { invocation, folder in
                try invite(AddressFormat.email(invocation.required("EMAIL")), in: folder)
            }),
    ]

    private static func invite(
        _ address: Address, in folder: DataFolder
    ) throws -> CommandOutput {
        guard folder.configuration.accounts.signUp != .off else {
            throw CommandFailure(
                "nobody makes an account by themselves: accounts.signUp is \"off\"")
        }
        guard try folder.catalog.account(verified: address) == nil else {
            throw CatalogRefusal.addressTaken
        }
        let (reception, now) = (folder.reception, folder.clock.now())
        guard !reception.hasLetters else {
            try reception.letters.post(.invitation, to: address, now: now)
            return CommandOutput(
                "a letter to \(address.text) is on its way",
                values: [("email", .text(address.text)), ("sent", .flag(true))])
        }
        let secret = try reception.letters.invitation(to: address, now: now)
        let link = "\(reception.publicBaseURL)/sign-in/welcome/\(secret)"
        return CommandOutput(
            "\(link)\n(for \(address.text); shown this once, good once)",
            values: [
                ("email", .text(address.text)), ("sent", .flag(false)), ("link", .text(link)),
            ])
    }
}
