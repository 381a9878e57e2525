import CloudModel
import Storage

/// A name that has been found to lead nowhere.
struct FreeName: Equatable {
    let zone: ZoneNumber
    let name: RecordName
}

// What leads from names to records, with what the transaction has written.
extension SQLiteTransaction {
    /// Notes names that have been found to lead nowhere.
    func noteFree(_ names: some Sequence<RecordName>, in zone: ZoneNumber) {
        for name in names {
            freeNames[self.names.hash(name, in: zone)] = FreeName(zone: zone, name: name)
        }
    }

    /// A name is of one record: it led nowhere until now.
    func requireFree(_ name: RecordName, _ hash: Int64, _ zone: ZoneNumber) throws {
        // Hashes of different names may meet: only what was found of this one counts.
        guard freeNames.removeValue(forKey: hash) != FreeName(zone: zone, name: name),
            try !nameWriter().leadsNowhere(hash), let head = try head(of: name, in: zone)
        else { return }
        throw BrokenInvariant(
            "a name is of one record: it is of \(head.record.value) in zone \(zone.value)")
    }

    func orderNames(namesMax: Int) throws -> Bool { try nameWriter().step(namesMax: namesMax) }
}
