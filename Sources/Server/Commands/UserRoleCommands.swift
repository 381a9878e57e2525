import Accounts
import CloudDatabase
import CloudModel

extension Command {
    static let userRoles: [Command] = [
        Command(
            "user role add", "give a user a role in the public database",
            places: rolePlaces,
            action: .data { invocation, folder in
                try assign(isGiven: true, invocation, in: folder)
            }),
        Command(
            "user role remove", "take a role from a user", places: rolePlaces,
            action: .data { invocation, folder in
                try assign(isGiven: false, invocation, in: folder)
            }),
    ]

    private static let rolePlaces =
        [CommandPlace("EMAIL", "the address that names the account")]
        + CommandPlace.containerAndEnvironment
        + [CommandPlace("ROLE", "a role that the environment's schema makes")]

    private static func assign(
        isGiven: Bool, _ invocation: Invocation, in folder: DataFolder
    ) throws -> CommandOutput {
        let (container, environment) = try invocation.containerAndEnvironment(in: folder)
        let account = try folder.users.find(email: invocation.required("EMAIL"))
        let role = try invocation.required("ROLE")
        let store = try folder.stores.store(of: container, in: environment)
        let user = try folder.users.recordName(of: account, in: container)
        let hasChanged: Bool
        do {
            hasChanged = try AssignRole(role, isGiven: isGiven, to: user).run(in: store)
        } catch let refusal as AssignRole.Refusal {
            throw CommandFailure(explanation(refusal, of: role, environment))
        }
        let email = account.email ?? ""
        let state = isGiven ? "has" : "does not have"
        return CommandOutput(
            "user \(email) \(hasChanged ? "now" : "already") \(state) the role \(role) "
                + "(\(user.text))",
            values: [
                ("email", .text(email)), ("accountID", .text(account.id.text)),
                ("userRecordName", .text(user.text)), ("role", .text(role)),
                ("changed", .flag(hasChanged)),
            ])
    }

    private static func explanation(
        _ refusal: AssignRole.Refusal, of role: String, _ environment: Environment
    ) -> String {
        switch refusal {
        case .builtIn: "\(role) is built in: it is not given to anybody"
        case .unknown(let known):
            "the schema of \(environment.rawValue) has no role '\(role)'; it has "
                + (known.isEmpty ? "none" : known.joined(separator: ", "))
        }
    }
}
