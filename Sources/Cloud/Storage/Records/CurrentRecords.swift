import CloudModel

/// What current records are looked for by.
package enum CurrentKeys: Sendable {
    /// Names in one zone.
    case names([RecordName], in: ZoneNumber)
    /// Records of any zones.
    case records([RecordNumber])

    package var count: Int {
        switch self {
        case .names(let names, _): names.count
        case .records(let records): records.count
        }
    }
}

/// Reads many current records at once; part of every snapshot.
///
/// A version that is not what was written is visited as one that `isDamaged`.
///
/// An engine over a network answers each call in one round trip.
package protocol CurrentRecordReading: AnyObject {
    /// Visits the current version that each key leads to, tombstones included; skips keys that lead to none.
    ///
    /// - Parameters:
    ///   - inOrder: whether the visits come in the order of the keys; otherwise in whatever order costs the engine
    ///     least.
    ///   - visit: gets the index of the key, and the version; false ends the visits. It may go on to read what belongs
    ///     to the record, such as a share's participants, but no further versions.
    func current(
        _ keys: CurrentKeys, inOrder: Bool,
        _ visit: (_ index: Int, StoredVersion) throws -> Bool) throws
}

extension CurrentRecordReading {
    /// As `current`, of names in one zone.
    package func current(
        of names: [RecordName], in zone: ZoneNumber, inOrder: Bool,
        _ visit: (_ index: Int, StoredVersion) throws -> Bool
    ) throws { try current(.names(names, in: zone), inOrder: inOrder, visit) }

    /// The current version of one name, a tombstone included; nil when there never was one or it is
    /// collected.
    package func current<Value>(
        of name: RecordName, in zone: ZoneNumber, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value? {
        var found: Value?
        try current(of: [name], in: zone, inOrder: true) { _, version in
            found = try visit(version)
            return false
        }
        return found
    }
}
