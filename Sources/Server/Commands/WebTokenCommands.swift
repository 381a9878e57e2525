import Accounts
import CloudModel
import Storage

extension Command {
    static let webTokens: [Command] = [
        Command(
            "web-token create", "make a token that acts as a user; shown this once",
            places: CommandPlace.containerAndEnvironment
                + [CommandPlace("EMAIL", "the user's e-mail address")],
            options: [
                CommandOption("expires", value: "SECONDS", "its life, and that of its successors")
            ],
            action: .data { invocation, folder in try folder.createWebToken(invocation) }),
        Command(
            "web-token list", "list who is signed in, without the tokens themselves",
            places: CommandPlace.containerAndEnvironment
                + [CommandPlace("EMAIL", "the user's e-mail address", arity: .optional)],
            action: .data { invocation, folder in
                let (container, environment) = try invocation.containerAndEnvironment(in: folder)
                return listed(
                    try folder.webTokens.sessions(
                        container: container, environment: environment,
                        email: invocation.value("EMAIL"), now: folder.clock.now()))
            }),
        Command(
            "web-token revoke", "end a token of a user with its successors, at once",
            places: CommandPlace.containerAndEnvironment + [
                CommandPlace("EMAIL", "the user's e-mail address"),
                CommandPlace("TOKENID", "which one, as list shows it", arity: .optional),
            ],
            options: [CommandOption("all", "every one that the user has in the environment")],
            action: .data { invocation, folder in
                let (container, environment) = try invocation.containerAndEnvironment(in: folder)
                let tokenID = invocation.value("TOKENID")
                guard (tokenID == nil) == invocation.has("all") else {
                    throw UsageFailure(
                        "lenticular web-token revoke: give either TOKENID or --all")
                }
                let ended = try folder.webTokens.end(
                    tokenID: tokenID, container: container, environment: environment,
                    email: invocation.required("EMAIL"), now: folder.clock.now())
                return CommandOutput(
                    ended.count == 1 ? "1 token revoked" : "\(ended.count) tokens revoked",
                    values: [("webTokens", .objects(ended.map(\.members)))])
            }),
    ]

    private static func listed(_ sessions: [WebTokens.Session]) -> CommandOutput {
        let lines = sessions.map { session in
            "\(session.tokenID)  \(session.email)  \(session.userRecordName.text)  "
                + "made \(Timestamp(session.madeAt).text)  "
                + "expires \(Timestamp(session.expiresAt).text)"
        }
        return CommandOutput(
            lines.joined(separator: "\n"),
            values: [("webTokens", .objects(sessions.map(\.members)))])
    }
}

extension DataFolder {
    fileprivate func createWebToken(_ invocation: Invocation) throws -> CommandOutput {
        let (container, environment) = try invocation.containerAndEnvironment(in: self)
        let seconds = try invocation.value("expires").map { text in
            guard let seconds = Int(text) else {
                throw CommandFailure("--expires takes a number of seconds")
            }
            return seconds
        }
        let made = try webTokens.create(
            container: container, environment: environment, email: invocation.required("EMAIL"),
            seconds: seconds, now: clock.now())
        return CommandOutput(
            "\(made.token)\n(acts as \(made.userRecordName.text) until "
                + "\(Timestamp(made.expiresAt).text); who uses it gets the next one in time)",
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
        ]
    }
}
