import CloudModel

/// Reads the current records of many names at once; part of every snapshot.
///
/// A version that is not what was written is visited as one that `isDamaged`.
///
/// An engine over a network answers each call in one round trip.
package protocol CurrentRecordReading: AnyObject {
    /// Visits the current version of each name, tombstones included; skips names that have none.
    ///
    /// - Parameters:
    ///   - names: each once.
    ///   - visit: gets the index of the name in `names`, and the version. The order is whatever costs the
    ///     engine least. The closure must not read anything else of the snapshot.
    func current(
        of names: [RecordName], in zone: ZoneNumber,
        _ visit: (_ index: Int, StoredVersion) throws -> Void) throws

    /// The current version of one name, a tombstone included; nil when there never was one or it is
    /// collected.
    ///
    /// - Parameter visit: may go on to read what belongs to the record, such as a share's participants.
    func current<Value>(
        of name: RecordName, in zone: ZoneNumber, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value?

    /// The links of a record, in no particular order.
    func links(of source: RecordNumber) throws -> [Link]
}
