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
        var climbing: [(record: RecordNumber, ancestor: RecordNumber)] = []
        for (record, share) in zip(records, try snapshot.shares(.records(records))) {
            if let share {
                found[record] = .some(share.number)
            } else {
                climbing.append((record, record))
            }
        }
        for _ in 0..<depthMax where !climbing.isEmpty {
            let ancestors = Array(Set(climbing.map(\.ancestor)))
            var roots: [RecordNumber: ShareNumber] = [:]
            for (ancestor, share) in zip(ancestors, try snapshot.shares(.roots(ancestors))) {
                roots[ancestor] = share?.number
            }
            let above = try parents(of: ancestors.filter { roots[$0] == nil })
            climbing = climbing.compactMap { record, ancestor in
                if let parent = above[ancestor] { return (record, parent) }
                found[record] = .some(roots[ancestor])
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
