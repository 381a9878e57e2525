/// How the databases are kept.
package struct StorageSettings: Sendable, Equatable {
    /// What keeps them.
    package enum Engine: String, CaseIterable, Sendable {
        case sqlite, postgres
    }

    package var engine = Engine.sqlite
    /// Empty for none.
    package var postgresURL = ""
    package var storesOpenMax = 128
    /// 0 for none.
    package var reserveBytes = 33_554_432
    package var sqlite = SQLiteSettings()
    package var postgres = PostgresSettings()
}

/// How SQLite keeps them.
package struct SQLiteSettings: Sendable, Equatable {
    package var writerCacheKiB = 32_768
    package var readerCacheKiB = 16_384
}

extension StorageSettings {
    static let section = Setting.Section(
        name: "storage",
        documentation: "The databases; each container's environment has one of its own.",
        settings: [
            .choice(
                "storage.engine", \.storage.engine,
                "Files in the data folder, or a PostgreSQL, which some builds can use."),
            .text(
                "storage.postgresURL", \.storage.postgresURL,
                allowed: "empty, or postgresql://USER@HOST/DATABASE without a password",
                check: { $0.isEmpty || PostgresAddress($0) != nil },
                """
                The database, owned by the user. Beyond this machine its certificate and name \
                are checked, unless ?sslmode= says otherwise.
                """),
            .number(
                "storage.storesOpenMax", \.storage.storesOpenMax, 1...100_000, "databases",
                """
                Databases of environments open at once, at about 1.4 MB and 7 descriptors each.
                """),
            .number(
                "storage.reserveBytes", \.storage.reserveBytes, 0...68_719_476_736, "bytes",
                zero: "no reserve",
                """
                A file given up when the disk is full, so that deletions and shutting down still \
                work.
                """),
        ])
}

extension SQLiteSettings {
    static let section = Setting.Section(
        name: "storage.sqlite", documentation: "The engine that keeps them in files.",
        settings: [
            .number(
                "storage.sqlite.writerCacheKiB", \.storage.sqlite.writerCacheKiB,
                1_024...16_777_216, "KiB",
                "Memory for pages of each writing connection."),
            .number(
                "storage.sqlite.readerCacheKiB", \.storage.sqlite.readerCacheKiB,
                256...16_777_216, "KiB",
                "Memory for pages of each reading connection."),
        ])
}
