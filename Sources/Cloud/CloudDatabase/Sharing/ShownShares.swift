import CloudModel
import Storage

/// What is stored of the shares whose records are shown together.
///
/// Belongs to one snapshot. When the first of them is shown, all that are expected are read at once; what was not
/// expected is read when it is shown.
package final class ShownShares {
    /// What is stored of one share, beside its record.
    struct Entry {
        let share: StoredShare
        let participants: ParticipantList
        let shortGUID: ShortGUID?
    }

    private let snapshot: any ShareReading
    private var expected: (() throws -> [RecordNumber])?
    private var entries: [RecordNumber: Entry?] = [:]
    private var requests: [ShareNumber: AccessRequestList]?

    /// - Parameter expected: the records that will be shown, shares or not.
    package init(
        _ snapshot: any ShareReading, expecting expected: (() throws -> [RecordNumber])? = nil
    ) {
        self.snapshot = snapshot
        self.expected = expected
    }

    /// For a page of a zone's changes: how many of the zone's shares it may expect.
    private static let expectedOfZoneMax = 200

    static func inFeed(of zone: ZoneNumber, _ snapshot: any ShareReading) -> ShownShares {
        ShownShares(snapshot) {
            try snapshot.shares(in: zone, limit: expectedOfZoneMax).map(\.record)
        }
    }

    /// The standing share with a share record.
    func entry(of record: RecordNumber) throws -> Entry? {
        if let known = entries[record] { return known }
        var records = [record]
        if let expected {
            self.expected = nil
            records = Array(Set(try expected()).union(records))
        }
        let shares = try snapshot.shares(.records(records)).compactMap { $0 }
        for record in records { entries[record] = .some(nil) }
        try read(shares)
        return entries[record] ?? nil
    }

    private func read(_ shares: [StoredShare]) throws {
        guard !shares.isEmpty else { return }
        let participants = try snapshot.participants(of: shares.map(\.number))
        let guids = try snapshot.shortGUIDs(of: shares.map { $0.root ?? $0.record })
        for (share, (participants, guid)) in zip(shares, zip(participants, guids)) {
            entries[share.record] = Entry(
                share: share, participants: ParticipantList(participants),
                shortGUID: guid.flatMap { ShortGUID($0) })
        }
        requests = nil
    }

    /// Who asks to take part in a share; at first read for all shares that are known.
    func requests(for share: ShareNumber) throws -> AccessRequestList {
        if let known = requests?[share] { return known }
        let shares = requests == nil ? entries.values.compactMap { $0?.share.number } : [share]
        let read = try snapshot.accessRequests(shares.map { .share($0) })
        var known = requests ?? [:]
        for (share, requests) in zip(shares, read) { known[share] = AccessRequestList(requests) }
        requests = known
        return known[share] ?? AccessRequestList([])
    }
}
