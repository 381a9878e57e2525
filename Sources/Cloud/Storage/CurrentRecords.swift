import CloudModel

/// Reading what stands under names, many at once: part of every snapshot.
///
/// An engine over a network answers each call in one round trip.
package protocol CurrentRecordReading: AnyObject {
    /// Visits what stands under names, tombstones too; names that have nothing are left out.
    ///
    /// - Parameters:
    ///   - names: each once.
    ///   - visit: gets the name's index and its version, in whatever order costs least. It reads nothing
    ///     else of the snapshot.
    func current(
        of names: [RecordName], in zone: ZoneNumber,
        _ visit: (_ index: Int, StoredVersion) throws -> Void) throws

    /// What stands under one name, a tombstone too; nil when it has never been or is collected.
    ///
    /// - Parameter visit: may go on to read what belongs to the record, such as a share's participants.
    func current<Value>(
        of name: RecordName, in zone: ZoneNumber, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value?

    /// The links of a record, in no particular order.
    func links(of source: RecordNumber) throws -> [Link]
}
