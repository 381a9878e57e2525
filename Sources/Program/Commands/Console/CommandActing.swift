/// What becomes of a command of an operator who acts as somebody.
///
/// Only the actions themselves decide what is done (`RightsCheck`).
enum CommandActing: String {
    /// It is for the person, where the operator acts as them, whether or not that is said.
    case person
    /// It looks, as the operator, at what is nobody's own.
    case own
    /// It is refused.
    case refused

    private static let persons: Set = [
        "zone list", "record list", "record get", "record query", "record save", "record delete",
        "record changes", "record asset", "share list", "share accept", "subscription list",
        "outbox list", "push test", "export", "import",
    ]
    private static let owns: Set = [
        "container list", "api-token list", "server-key list", "push key list", "user list",
        "user second-factor", "user sync", "user apps", "user named", "web-token list",
        "webhook list", "webhook dead-letters", "server show", "server settings",
        "schema export", "schema validate", "schema check", "schema diff", "schema history",
        "schema indexes", "telemetry show", "logs", "size", "check", "doctor", "audit list",
        "identity-provider list", "operator list", "operator-token list", "alert list",
    ]

    init(of command: Command) {
        self =
            Self.persons.contains(command.name)
            ? .person : Self.owns.contains(command.name) ? .own : .refused
    }
}
