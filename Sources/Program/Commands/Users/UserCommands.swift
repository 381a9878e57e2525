import Administration
import CloudModel
import Storage

extension Command {
    static let users: [Command] = [
        Command(
            "user create", "make a person's account; the address counts as verified",
            reach: .everywhere,
            positionals: [CommandPositional("EMAIL", "the address that names the account")],
            options: [
                CommandOption("given-name", value: "G", "the given name"),
                CommandOption("family-name", value: "F", "the family name"),
                CommandOption("phone", value: "P", "a phone number, not yet verified"),
                CommandOption(
                    "password-stdin", "read the password from standard input",
                    readsStandardInput: true),
            ],
            action: .data { invocation, administrator in
                let account = try administrator.perform(
                    CreateAccount(
                        email: invocation.required("EMAIL"),
                        givenName: invocation.value("given-name"),
                        familyName: invocation.value("family-name"),
                        phone: invocation.value("phone"),
                        password: invocation.contents("password-stdin").map(firstLine)))
                return described(account, "made")
            }),
        Command(
            "user list", "list the accounts", reach: [.looks, .own],
            options: CommandOption.list(searched: "e-mail address or phone number"),
            action: .data { invocation, administrator in
                let page = try administrator.perform(ListAccounts(invocation.listRequest()))
                let accounts = page.items
                let lines = accounts.map { account in
                    let names = [account.givenName, account.familyName].compactMap { $0 }
                    let further = account.addresses.filter { !$0.isPrimary }.map { held in
                        held.address.text + (held.verifiedAt == nil ? " (not verified)" : "")
                    }
                    return
                        ([account.email ?? "", account.id.text]
                        + (names.isEmpty ? [] : [names.joined(separator: " ")]) + further)
                        .joined(separator: "  ")
                }
                return .page(
                    lines: lines,
                    values: [
                        ("email", .texts(accounts.map { $0.email ?? "" })),
                        ("accountID", .texts(accounts.map(\.id.text))),
                        ("users", .objects(accounts.map(members))),
                    ], next: page.next)
            }),
        Command(
            "user verify", "note that a further e-mail address or phone number is the user's own",
            reach: .everywhere,
            positionals: [
                CommandPositional("EMAIL", "the address that names the account"),
                CommandPositional("ADDRESS", "the e-mail address or phone number"),
            ],
            action: .data { invocation, administrator in
                let account = try administrator.perform(
                    VerifyAddress(
                        invocation.required("ADDRESS"), of: invocation.required("EMAIL")))
                return described(account, "verified")
            }),
        Command(
            "user delete", "delete an account with its private data in every container",
            reach: .everywhere,
            positionals: [CommandPositional("EMAIL", "the address that names the account")],
            question: "Delete the user and all private data for ever?",
            action: .data { invocation, administrator in
                let account = try administrator.perform(
                    DeleteAccount(email: invocation.required("EMAIL")))
                return described(account, "deleted")
            }),
    ]

    /// What `--json` tells of an account; times in milliseconds since 1970.
    private static func members(
        of account: AccountRecord
    ) -> [(key: String, value: CommandOutput.Value)] {
        let addresses = account.addresses.map { held in
            [("address", .text(held.address.text)), ("verified", .flag(held.verifiedAt != nil))]
                as [(key: String, value: CommandOutput.Value)]
        }
        return [("email", .text(account.email ?? "")), ("accountID", .text(account.id.text))]
            + (account.givenName.map { [("givenName", .text($0))] } ?? [])
            + (account.familyName.map { [("familyName", .text($0))] } ?? [])
            + [
                ("addresses", .objects(addresses)), ("made", .number(account.createdAt)),
                ("hasPassword", .flag(account.password != nil)),
            ]
    }

    static func described(_ account: AccountRecord, _ what: String) -> CommandOutput {
        let email = account.email ?? ""
        return CommandOutput(
            "user \(email) \(what) (account \(account.id.text))",
            values: [("email", .text(email)), ("accountID", .text(account.id.text))])
    }

    /// What was typed before the line's end: shells and editors add one to every secret.
    static func firstLine(_ bytes: [UInt8]) -> [UInt8] {
        Array(bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
    }
}
