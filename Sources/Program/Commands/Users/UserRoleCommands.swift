import Administration
import Control

extension Command {
    static let userRoles: [Command] = [
        Command(
            "user named", "say whose account is behind a user record name of a container",
            reach: [.looks, .own],
            positionals: [
                CommandPositional("CONTAINER", "the container's ID"),
                CommandPositional("USERRECORDNAME", "how the container knows them"),
            ],
            action: .data { invocation, administrator in
                let found = try administrator.perform(
                    FindUser(
                        named: invocation.required("USERRECORDNAME"),
                        in: invocation.required("CONTAINER")))
                guard let account = found else {
                    throw CommandFailure("no account has this user record name in the container")
                }
                let email = account.email ?? ""
                return CommandOutput(
                    "\(email)  \(account.id.text)",
                    values: [("email", .text(email)), ("accountID", .text(account.id.text))])
            }),
        Command(
            "user apps", "list the apps that know a user, what each stores, and their roles",
            reach: [.looks, .own],
            positionals: [CommandPositional("EMAIL", "the address that names the account")],
            action: .data { invocation, administrator in
                let apps = try administrator.perform(ListUserApps(of: invocation.required("EMAIL")))
                return CommandOutput(
                    apps.isEmpty ? "no apps" : apps.map(\.line).joined(separator: "\n"),
                    values: [("apps", .objects(apps.map(\.members)))])
            }),
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

extension ListUserApps.App {
    fileprivate var line: String {
        let place = "\(target.container.name) \(target.environment.rawValue)"
        let given = roles.isEmpty ? "" : "  roles: \(roles.joined(separator: ", "))"
        return "\(place)  \(user.text)  \(ByteCount(usedBytes))\(given)"
    }

    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [
            ("container", .text(target.container.name)),
            ("environment", .text(target.environment.rawValue)),
            ("userRecordName", .text(user.text)), ("usedBytes", .number(usedBytes)),
            ("roles", .texts(roles)), ("knownRoles", .texts(knownRoles)),
        ]
    }
}
