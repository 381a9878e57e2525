import CloudModel
import JSON
import Storage

/// The records that links to shares lead to, as a visitor sees them: read at once.
struct InvitedRecords {
    /// What one link leads to.
    struct Item {
        let rendering: ShareRendering
        /// The share's record.
        fileprivate(set) var share = Array("{}".utf8)
        /// Nil for a share of a whole zone.
        fileprivate(set) var rootName: RecordName?
        /// Nil where nobody wants to see it.
        fileprivate(set) var root: [UInt8]?
    }

    /// In the order of the links.
    private(set) var items: [Item] = []

    /// - Throws: `Fault` NOT_FOUND; `DamagedVersion`; what the snapshot reports.
    init(
        _ linked: [(share: LinkedShare, link: ShareInvitations.Link)], _ database: Database,
        _ visitor: LinkedShare.Visitor, _ snapshot: any StoreSnapshot
    ) throws {
        let shares = ShownShares(snapshot) { linked.map(\.share.share.record) }
        for (found, _) in linked {
            guard let stored = try shares.entry(of: found.share.record) else {
                throw LinkedShare.notFound
            }
            items.append(
                Item(rendering: try database.rendering(stored, for: found.entry, with: shares)))
        }
        let locations = try snapshot.recordLocations(linked.compactMap(\.share.share.root))
        for (index, (found, _)) in linked.enumerated() {
            items[index].rootName = found.share.root.flatMap { locations[$0]?.name }
        }
        try showShares(linked.map(\.share), snapshot)
        try showRoots(linked, database, visitor, shares, snapshot)
    }

    private mutating func showShares(
        _ found: [LinkedShare], _ snapshot: any StoreSnapshot
    ) throws {
        try Self.visit(found.map { ($0.share.zone, $0.share.record) }, snapshot) {
            items[$0].share = try items[$0].rendering.record($1.body)
        }
    }

    private mutating func showRoots(
        _ linked: [(share: LinkedShare, link: ShareInvitations.Link)], _ database: Database,
        _ visitor: LinkedShare.Visitor, _ shares: ShownShares, _ snapshot: any StoreSnapshot
    ) throws {
        let wanted = linked.indices.compactMap { index in
            linked[index].link.root.flatMap { rendering in
                linked[index].share.share.root.map { (index: index, rendering, root: $0) }
            }
        }
        let records = wanted.map { (linked[$0.index].share.share.zone, $0.root) }
        try Self.visit(records, snapshot) { number, version in
            let (index, rendering, _) = wanted[number]
            let isOwner = linked[index].share.isOwned(by: visitor.user)
            var writer = JSONWriter(reserving: version.body.count)
            try database.seen(in: isOwner ? .private : .shared).append(
                version, as: rendering, with: shares, to: &writer)
            items[index].root = writer.bytes
        }
    }

    /// Visits the current versions of records, those of one record that is given twice included.
    private static func visit(
        _ records: [(zone: ZoneNumber, record: RecordNumber)], _ snapshot: any StoreSnapshot,
        _ body: (Int, StoredVersion) throws -> Void
    ) throws {
        guard !records.isEmpty else { return }
        let unique = Array(Set(records.map(\.record)))
        let numbers = Dictionary(grouping: records.indices) { records[$0].record }
        try snapshot.current(.records(unique), inOrder: false) { index, version in
            for number in numbers[unique[index]] ?? [] {
                guard !version.isDamaged else {
                    throw DamagedVersion(zone: records[number].zone, position: version.position)
                }
                try body(number, version)
            }
            return true
        }
    }
}
