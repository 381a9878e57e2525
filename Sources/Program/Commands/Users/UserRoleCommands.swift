import Administration

extension Command {
    static let userRoles: [Command] = [
        Command(
            "user role add", "give a user a role in the public database",
            positionals: rolePositionals,
            action: .data { try change($0, isGiven: true, by: $1) }),
        Command(
            "user role remove", "take a role from a user", positionals: rolePositionals,
            action: .data { try change($0, isGiven: false, by: $1) }),
    ]

    private static let rolePositionals =
        [CommandPositional("EMAIL", "the address that names the account")]
        + CommandPositional.containerAndEnvironment
        + [CommandPositional("ROLE", "a role that the environment's schema makes")]

    private static func change(
        _ invocation: Invocation, isGiven: Bool, by administrator: Administrator
    ) throws -> CommandOutput {
        let role = try invocation.required("ROLE")
        let outcome = try administrator.perform(
            ChangeRole(
                role, isGiven: isGiven, to: invocation.required("EMAIL"),
                in: invocation.containerAndEnvironment()))
        let email = outcome.account.email ?? ""
        let state = isGiven ? "has" : "does not have"
        return CommandOutput(
            "user \(email) \(outcome.hasChanged ? "now" : "already") \(state) the role \(role) "
                + "(\(outcome.user.text))",
            values: [
                ("email", .text(email)), ("accountID", .text(outcome.account.id.text)),
                ("userRecordName", .text(outcome.user.text)), ("role", .text(role)),
                ("changed", .flag(outcome.hasChanged)),
            ])
    }
}
