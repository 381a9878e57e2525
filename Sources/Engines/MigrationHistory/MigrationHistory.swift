/// A migration that a database says that it is made of.
package struct RecordedMigration: Sendable {
    package let name: String
    package let checksum: Int64

    package init(name: String, checksum: Int64) {
        self.name = name
        self.checksum = checksum
    }
}

/// Every migration that there is, oldest first, and what a database of each form is to this version.
package struct MigrationHistory: Sendable {
    package let migrations: [Migration]
    private let olderForms: [Int64: String]

    /// - Parameter olderForms: forms that none of them leads away from: the checksum of the first migration of each,
    ///   and the last commit that reads it.
    package init(_ migrations: [Migration], olderForms: [Int64: String] = [:]) {
        self.migrations = migrations
        self.olderForms = olderForms
    }

    /// How many migrations a database lacks.
    ///
    /// - Parameter recorded: what it is made of, oldest first.
    /// - Throws: `MigrationError` when this version may not touch it.
    package func pendingCount(after recorded: [RecordedMigration]) throws -> Int {
        for (number, made) in recorded.enumerated() {
            if number == 0, let commit = olderForms[made.checksum] {
                throw MigrationError.older(lastCommit: commit)
            }
            guard number < migrations.count else { throw MigrationError.newer(name: made.name) }
            guard migrations[number].name == made.name,
                migrations[number].checksum == made.checksum
            else { throw MigrationError.altered(name: made.name) }
        }
        return migrations.count - recorded.count
    }

    /// How many migrations a process must know to work with what one of them makes.
    ///
    /// - Parameter index: of the migration.
    package func knownMin(with index: Int) -> Int {
        guard let name = migrations[index].worksWith else { return index + 1 }
        return (migrations.firstIndex { $0.name == name } ?? index) + 1
    }
}
