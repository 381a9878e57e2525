/// How a PostgreSQL is used that keeps the databases.
package struct PostgresSettings: Sendable, Equatable {
    /// Empty where the server asks for none.
    package var passwordFile = ""
    package var sessionsMax = 32
    /// Empty for none.
    package var standbyURL = ""
    /// Empty for that of all sessions.
    package var listenURL = ""
    package var connectSecondsMax = 10
    package var answerSecondsMax = 30
}

extension PostgresSettings {
    static let section = Setting.Section(
        name: "storage.postgres", documentation: "The engine that keeps them in a PostgreSQL.",
        settings: [
            .file(
                "storage.postgres.passwordFile", \.storage.postgres.passwordFile,
                "File with the user's password in its first line."),
            .number(
                "storage.postgres.sessionsMax", \.storage.postgres.sessionsMax, 8...10_000,
                "sessions",
                "Sessions at once; below PostgreSQL's max_connections."),
            .text(
                "storage.postgres.standbyURL", \.storage.postgres.standbyURL,
                allowed: "empty, or as storage.postgresURL",
                check: { $0.isEmpty || PostgresAddress($0) != nil },
                "A standby that may read feeds."),
            .text(
                "storage.postgres.listenURL", \.storage.postgres.listenURL,
                allowed: "empty, or as storage.postgresURL",
                check: { $0.isEmpty || PostgresAddress($0) != nil },
                "Listens past a pooler."),
            .number(
                "storage.postgres.connectSecondsMax", \.storage.postgres.connectSecondsMax,
                2...600, "seconds", "For a session to begin."),
            .number(
                "storage.postgres.answerSecondsMax", \.storage.postgres.answerSecondsMax,
                1...3_600, "seconds",
                "For an answer; a statement then ends."),
        ])
}
