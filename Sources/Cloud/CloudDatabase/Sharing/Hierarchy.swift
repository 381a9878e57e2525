import CloudModel
import Storage

/// Finds which share a record is in by following parents, whatever was noted so far.
struct Hierarchy {
    let snapshot: any StoreSnapshot
    let zone: ZoneNumber
    /// How many parents it follows at most.
    let depthMax: Int

    /// The standing share whose tree holds a record: that of the nearest root at or above it.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER when the chain of parents is longer than it may follow.
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
