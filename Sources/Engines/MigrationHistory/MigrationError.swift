/// Why a database was not migrated.
package enum MigrationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The file holds something else than this server's data.
    case foreign
    /// The database is of a form that no migration leads away from; the last commit that reads it.
    case older(lastCommit: String)
    /// A newer server has been here.
    case newer(name: String)
    /// The recorded migration is not the one of this name that the server holds.
    case altered(name: String)
    /// Processes use the database that do not know what the migration takes for known; each in a few words.
    case inUse(name: String, processes: [String])

    package var description: String {
        switch self {
        case .foreign: "the file is a database of another program"
        case .older(let commit):
            "the database is of an older form, which this version does not read; the last commit "
                + "that reads it is \(commit)"
        case .newer(let name):
            "the database is of a newer version (it holds the migration \(name)); run that version"
        case .altered(let name):
            "the migration \(name) in the database is not the one that this version knows"
        case .inUse(let name, let processes):
            "servers of an older version use the database, which could not go on after the migration \(name): "
                + "stop \(processes.joined(separator: ", ")), and start this one again"
        }
    }
}
