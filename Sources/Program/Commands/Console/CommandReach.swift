import Storage

/// For whom a command can do anything at all, so that a page shows no button that never works.
///
/// Only the actions themselves decide what is done (`RightsCheck`): a command may still be refused in a container, or
/// with some of its arguments.
struct CommandReach {
    /// What changes nothing, at least with some arguments.
    private static let looks: Set = [
        "container list", "api-token list", "server-key list", "push key list", "user list",
        "user second-factor", "user sync", "web-token list", "webhook list", "subscription list",
        "webhook dead-letters", "outbox list", "server show", "server settings",
        "zone list", "record list", "record get", "record query", "record restore",
        "record changes", "record asset", "user apps", "user named",
        "zone restore", "user restore", "export", "user export", "schema export",
        "schema validate", "schema check", "schema diff", "schema deploy", "schema reset",
        "schema history", "schema indexes", "share list", "telemetry show", "logs", "size", "check",
        "doctor", "audit list",
        "identity-provider list", "operator list", "operator-token list", "alert list",
    ]
    /// What is about more than some containers, whatever its arguments are.
    private static let needsAll: Set = [
        "container create", "container delete", "user create", "user verify", "user delete",
        "user password", "user invite", "user erase", "operator create", "operator invite",
        "operator list", "operator remove", "operator-token create", "operator-token list",
        "operator-token revoke", "identity-provider add", "identity-provider list",
        "identity-provider remove", "alert list", "alert remove", "alert test", "check", "doctor",
        "audit list", "server show", "server settings", "server backup", "server mail",
        "secrets reseal", "record restore", "zone restore", "user restore",
        "user export", "storage copy",
    ]

    private let changes: Bool
    private let needsAllContainers: Bool

    init(of command: Command) {
        changes = !Self.looks.contains(command.name)
        needsAllContainers = Self.needsAll.contains(command.name)
    }

    func allows(_ rights: OperatorRights) -> Bool {
        (rights.hasAllContainers || !needsAllContainers) && !(rights.isReadOnly && changes)
    }
}
