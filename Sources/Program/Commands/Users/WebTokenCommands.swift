import Accounts
import Administration
import CloudModel
import Control
import Storage

extension Command {
    static let webTokens: [Command] = [
        Command(
            "web-token create", "make a token that acts as a user; shown this once",
            positionals: CommandPositional.containerAndEnvironment
                + [CommandPositional("EMAIL", "the user's e-mail address")],
            options: [
                CommandOption("expires", value: "SECONDS", "its life, and that of its successors")
            ],
            action: .data { try create($0, by: $1) }),
        Command(
            "web-token list", "list who is signed in, without the tokens themselves",
            reach: [.looks, .own],
            positionals: CommandPositional.containerAndEnvironment
                + [CommandPositional("EMAIL", "the user's e-mail address", arity: .optional)],
            options: CommandOption.list(searched: "token ID"),
            action: .data { invocation, administrator in
                listed(
                    try administrator.perform(
                        ListWebTokens(
                            in: invocation.containerAndEnvironment(),
                            email: invocation.value("EMAIL"), invocation.listRequest())))
            }),
        Command(
            "web-token revoke", "end a token of a user with its successors, at once",
            positionals: CommandPositional.containerAndEnvironment + [
                CommandPositional("EMAIL", "the user's e-mail address"),
                CommandPositional("TOKENID", "which one, as list shows it", arity: .optional),
            ],
            options: [CommandOption("all", "every one that the user has in the environment")],
            action: .data { invocation, administrator in
                let target = try invocation.containerAndEnvironment()
                let tokenID = invocation.value("TOKENID")
                guard (tokenID == nil) == invocation.has("all") else {
                    throw UsageFailure(
                        "lenticular web-token revoke: give either TOKENID or --all")
                }
                let ended = try administrator.perform(
                    EndWebTokens(
                        in: target, email: invocation.required("EMAIL"), tokenID: tokenID))
                return CommandOutput(
                    ended.count == 1 ? "1 token revoked" : "\(ended.count) tokens revoked",
                    values: [("webTokens", .objects(ended.map(\.members)))])
            }),
    ]

    private static func listed(_ page: ListPage<WebTokens.Session>) -> CommandOutput {
        let lines = page.items.map { session in
            "\(session.tokenID)  \(session.email)  \(session.userRecordName.text)  "
                + "made \(Timestamp(session.madeAt).text)  "
                + "expires \(Timestamp(session.expiresAt).text)  \(lastUse(session.usedAt))"
        }
        return .page(
            lines: lines, values: [("webTokens", .objects(page.items.map(\.members)))],
            next: page.next)
    }

    private static func create(
        _ invocation: Invocation, by administrator: Administrator
    ) throws -> CommandOutput {
        let target = try invocation.containerAndEnvironment()
        let seconds = try invocation.value("expires").map { text in
            guard let seconds = Int(text) else {
                throw invocation.misuse("--expires takes a whole number of seconds")
            }
            return seconds
        }
        let made = try administrator.perform(
            CreateWebToken(in: target, email: invocation.required("EMAIL"), seconds: seconds))
        return CommandOutput(
            "\(made.token)\n(acts as \(made.userRecordName.text) until "
                + "\(Timestamp(made.expiresAt).text); its user gets the next one in time)",
            values: [
                ("webAuthToken", .text(made.token)),
                ("userRecordName", .text(made.userRecordName.text)),
                ("expires", .number(made.expiresAt)),
            ])
    }
}

extension WebTokens.Session {
    /// What `--json` tells of it; times in milliseconds since 1970.
    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [
            ("tokenID", .text(tokenID)), ("email", .text(email)),
            ("accountID", .text(account.text)), ("userRecordName", .text(userRecordName.text)),
            ("made", .number(madeAt)), ("expires", .number(expiresAt)),
        ] + (usedAt.map { [("lastUsed", .number($0))] } ?? [])
    }
}
