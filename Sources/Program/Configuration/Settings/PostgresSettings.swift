/// How a PostgreSQL is used that keeps the databases.
package struct PostgresSettings: Sendable, Equatable {
    /// Empty where the server asks for none.
    package var passwordFile = ""
    package var sessionsMax = 32
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
                """
                Sessions that this server has at once, but for a few that copy or check; the \
                PostgreSQL must allow more (max_connections).
                """),
        ])
}
