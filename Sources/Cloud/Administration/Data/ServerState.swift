import CloudModel
import Storage

/// Which server this is, since when it serves, with which other processes, and how its backups stand.
package struct ServerState: Sendable {
    /// How the backups stand that the server makes by itself.
    package struct Backups: Sendable {
        /// The folder, or the bucket.
        package var to = ""
        package var everyMinutes = 0
        package var isUnderWay = false
        /// When the last good one was begun; nil for none.
        package var last: Milliseconds?
        package var lastStoredBytes: Int?
        /// When one was last restored and found good.
        package var verified: Milliseconds?
        /// Since the server's start.
        package var failures = 0
        /// Why the last attempt failed; nil where it did not.
        package var failure: String?
        /// When those that are kept were begun, the oldest first.
        package var kept: [Milliseconds] = []

        package init() {}
    }

    package let version: String
    package let commit: String
    /// Nil where no server runs.
    package let since: Milliseconds?
    /// Nil where no server runs, or it makes none.
    package let backups: Backups?
    /// Those that have the same database, in the order in which they began; empty where none can.
    package let processes: [ServingProcess]

    package init(
        version: String, commit: String, since: Milliseconds?, backups: Backups?,
        processes: [ServingProcess] = []
    ) {
        self.processes = processes
        self.version = version
        self.commit = commit
        self.since = since
        self.backups = backups
    }
}

/// A setting as it is in force; secrets as dots.
package struct SettingInForce: Sendable, Equatable {
    package let path: String
    package let value: String
    /// Where it was said: a file and its line, a variable, or nothing but the default.
    package let origin: String

    package init(path: String, value: String, origin: String) {
        self.path = path
        self.value = value
        self.origin = origin
    }
}

/// Says which server this is, since when it serves, with which other processes, and how its backups stand.
package struct ShowServer: AdministrativeAction {
    package var name: String { "server show" }
    package var right: ActionRight { .server }
    package var changes: Bool { false }

    package init() {}

    package func run(in data: any ServerData, by actor: Operator) throws -> ServerState {
        data.serverState
    }
}

/// Lists every setting as the server began with it, and where it was said.
package struct ListSettings: AdministrativeAction {
    package var name: String { "server settings" }
    package var right: ActionRight { .server }
    package var changes: Bool { false }

    package init() {}

    package func run(in data: any ServerData, by actor: Operator) throws -> [SettingInForce] {
        data.settingsInForce
    }
}

/// Has the server make a backup now, where it makes backups by itself; does not wait for it.
package struct AskForBackup: AdministrativeAction {
    package var name: String { "server backup" }
    package var right: ActionRight { .server }

    package init() {}

    package func run(in data: any ServerData, by actor: Operator) throws {
        try data.askForBackup()
    }
}

/// Sends a letter that says that letters come, and waits until it is handed on.
///
/// Refusals: `AccountsRefusal.emailIllegal`; what sends says why it could not.
package struct SendTestLetter: AdministrativeAction {
    package var name: String { "server mail" }
    package var right: ActionRight { .server }

    private let email: String

    package init(to email: String) { self.email = email }

    package func run(in data: any ServerData, by actor: Operator) throws {
        try data.sendTestLetter(to: email)
    }
}
