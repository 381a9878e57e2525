import Cryptography

// Who may add to the backups.
//
// A data folder that somebody has copied by its files goes by the same name as the one that it came from. So a number
// stands beside the backups that each run changes, and that the folder notes. A folder whose note does not have it is not
// the one that made the last backup.
extension BackupRepository {
    private static let turnName = "turn"
    private static let turnBytes = 16

    /// Begins a run, unless a copy of the data folder has begun one since this folder did.
    ///
    /// - Parameters:
    ///   - noted: what the folder has noted last; empty for a folder that has made no backup.
    ///   - note: keeps what the folder is to note, for good when it returns.
    /// - Throws: `BackupFailure` when another folder has; what storing and noting throw.
    package func takeTurn(noted: [String], note: ([String]) throws -> Void) throws {
        guard try isLast(noted) else {
            throw BackupFailure(
                "a copy of this data folder makes these backups: let one of the two have another place, and remove "
                    + "the object \(Self.turnName) to go on here with this one")
        }
        let found = try turn()
        let next = Hexadecimal.encode(random.bytes(Self.turnBytes))
        // Both until the next one stands: a run that ends in between is no other's.
        try note([found, next].compactMap { $0 })
        try objects.put(Self.turnName, Array(next.utf8))
        try note([next])
    }

    /// Whether no other folder than the one that has noted this has begun a run since.
    package func isLast(_ noted: [String]) throws -> Bool {
        guard let found = try turn() else { return true }
        return noted.contains(found)
    }

    private func turn() throws -> String? {
        try objects.read(Self.turnName, nil).map { String(decoding: $0, as: UTF8.self) }
    }
}
