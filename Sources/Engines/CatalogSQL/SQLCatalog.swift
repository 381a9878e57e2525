import Storage

/// The catalog in tables of an engine that speaks SQL.
///
/// Its statements are of the SQL that SQLite and PostgreSQL both understand, so an engine brings only a way to run them.
/// Texts are compared byte by byte, and flags are 0 and 1.
package protocol SQLCatalog: CatalogStorage {
    /// Runs a snapshot.
    func read<Outcome: Sendable>(_ body: (CatalogConnection) throws -> Outcome) throws -> Outcome

    /// Runs one transaction; what it did is on disk when this returns.
    ///
    /// - Parameter endsWhatWasTrue: whether caches of what was read before must be dropped.
    @discardableResult
    func write<Outcome: Sendable>(
        endsWhatWasTrue: Bool, _ body: (CatalogConnection) throws -> Outcome
    ) throws -> Outcome

    /// Fails a transaction unless this process still does what one does for all; nobody takes over before its end.
    ///
    /// - Throws: `StoreLease.Lost`.
    func check(_ lease: LeaderLease, in catalog: CatalogConnection) throws

    /// Removes what the engine has made of the catalog beside it, such as a copy from before a migration.
    func removeCopies() throws
}

extension SQLCatalog {
    @discardableResult
    func write<Outcome: Sendable>(
        _ body: (CatalogConnection) throws -> Outcome
    ) throws -> Outcome {
        try write(endsWhatWasTrue: true, body)
    }

    package func secret(_ name: String, orStore made: [UInt8]) throws -> [UInt8] {
        let query = "SELECT value FROM secrets WHERE name = ?"
        if let known = try read({ try $0.first(query, .text(name)) { $0.array(0) } }) {
            return known
        }
        return try write(endsWhatWasTrue: false) {
            try $0.run(
                "INSERT INTO secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
                .text(name), .bytes(made))
            return try $0.first(query, .text(name)) { $0.array(0) } ?? made
        }
    }
}
