import CloudModel
import Storage

/// Finds by parents which share a record is in, whatever has been noted of it so far.
struct Hierarchy {
    let snapshot: any StoreSnapshot
    let zone: ZoneNumber
    /// How many parents are followed.
    let depthMax: Int

    /// The standing share whose tree holds a record: that of the nearest root above it or itself.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER when the chain of parents is longer than may be followed.
    func share(over record: RecordNumber) throws -> ShareNumber? {
        if let share = try snapshot.share(ofRecord: record) { return share.number }
        var record = record
        for _ in 0..<depthMax {
            if let share = try snapshot.share(ofRoot: record) { return share.number }
            guard let parent = try snapshot.parent(of: record),
                let head = try snapshot.head(of: parent, in: zone)
            else { return nil }
            record = head.record
        }
        throw Fault.tryAgainLater("the tree of a share is still being worked through")
    }
}
