import Administration
import CloudModel
import JSON

extension Command {
    /// What operators do with shares on behalf of a user.
    static let shares: [Command] = [
        Command(
            "share list", "list a user's shares, their own and those joined, with who takes part",
            reach: [.looks, .person],
            positionals: CommandPositional.containerAndEnvironment + [email],
            action: .data { invocation, administrator in
                let found = try administrator.perform(
                    ListUserShares(
                        of: invocation.required("EMAIL"), in: invocation.containerAndEnvironment()))
                let lines = try found.map(line)
                return CommandOutput(
                    lines.isEmpty ? "no shares" : lines.joined(separator: "\n"),
                    values: [("shares", .encoded(found))])
            }),
        Command(
            "share accept", "join a share on behalf of a user, by its link", reach: .person,
            positionals: CommandPositional.containerAndEnvironment + [
                email, CommandPositional("LINK", "the share's address, or the last part of it"),
            ],
            action: .data { invocation, administrator in
                let email = try invocation.required("EMAIL")
                try administrator.perform(
                    AcceptUserShare(
                        invocation.required("LINK"), for: email,
                        in: invocation.containerAndEnvironment()))
                return CommandOutput("\(email) takes part", values: [("email", .text(email))])
            }),
    ]

    private static let email = CommandPositional("EMAIL", "the user on whose behalf")

    /// What is shared, in which zone, by which link, and with how many.
    private static func line(_ entry: [UInt8]) throws -> String {
        let root = try JSONDocument(parsing: entry).root
        let share = root["share"]
        let others = share?["participants"]?.elements.count { $0["type"]?.string != "OWNER" }
        return [
            root["databaseScope"]?.string, root["zoneID"]?["zoneName"]?.string,
            root["rootRecordName"]?.string ?? "(the whole zone)",
            share?["publicPermission"]?.string, others.map { "with \($0)" },
            share?["shortGUID"]?.string.map { "/share/\($0)" },
        ].compactMap { $0 }.joined(separator: "  ")
    }
}
