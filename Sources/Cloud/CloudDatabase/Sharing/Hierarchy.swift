import CloudModel
import Storage

/// Finds which shares records are in by following parents, whatever was noted so far.
struct Hierarchy {
    let snapshot: any StoreSnapshot
    let zone: ZoneNumber
    /// How many parents it follows at most.
    let depthMax: Int

    /// The standing share whose tree holds a record: that of the nearest root at or above it.
    ///
    /// - Throws: `Fault` TRY_AGAIN_LATER when the chain of parents is longer than it may follow.
    func share(over record: RecordNumber) throws -> ShareNumber? {
        guard let found = try shares(over: [record])[record] else {
            throw Fault.tryAgainLater("the tree of a share is still being worked through")
        }
        return found
    }

    /// As `share` for many records, level by level; those are missing whose chain of parents is too long.
    func shares(over records: [RecordNumber]) throws -> [RecordNumber: ShareNumber?] {
        var found: [RecordNumber: ShareNumber?] = [:]
        // Where the way up from a record has come to.
        var climbing: [(record: RecordNumber, place: RecordNumber)] = []
        for (record, share) in zip(records, try snapshot.shares(.records(records))) {
            if let share {
                found[record] = .some(share.number)
            } else {
                climbing.append((record, record))
            }
        }
        for _ in 0..<depthMax where !climbing.isEmpty {
            let places = Array(Set(climbing.map(\.place)))
            var roots: [RecordNumber: ShareNumber] = [:]
            for (place, share) in zip(places, try snapshot.shares(.roots(places))) {
                roots[place] = share?.number
            }
            let above = try parents(of: places.filter { roots[$0] == nil })
            climbing = climbing.compactMap { record, place in
                if let parent = above[place] { return (record, parent) }
                found[record] = .some(roots[place])
                return nil
            }
        }
        return found
    }

    /// The records right above records.
    private func parents(of records: [RecordNumber]) throws -> [RecordNumber: RecordNumber] {
        let named = zip(records, try snapshot.parents(of: records)).compactMap { record, parent in
            parent.map { (record: record, parent: $0) }
        }
        var found: [RecordNumber: RecordNumber] = [:]
        for (child, head) in zip(named, try snapshot.heads(of: named.map(\.parent), in: zone)) {
            found[child.record] = head?.record
        }
        return found
    }
}
