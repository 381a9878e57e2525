import CloudModel
import Storage

/// Checks whether anything has changed that a decision made beside the writer relies on.
///
/// It goes through what was written since, not through what the decision read: that may be a hundred times as
/// much. Every change of a record has a position; the check looks whether the record matters to the decision.
/// Other things have no position: the schema, roles, receipts, and what a viewer sees. The check compares
/// them as they are now.
struct DecisionCheck {
    /// Whether a decision still holds.
    enum Finding { case stands, moved, tooManyChanges }

    private let context: BatchContext
    /// The last position that the decision saw.
    private let decidedAt: Position
    /// The position up to which nothing has changed that matters.
    private let position: Position
    private let targets: Set<RecordKey>
    private let sources: Set<RecordKey>
    /// Whether the zones had shares.
    private let zones: [ZoneNumber: Bool]
    private let usedBytes: Int64
    private let room: BatchPlan.Room

    /// - Parameter snapshot: the snapshot on which the decision was made.
    init(_ plan: BatchPlan, _ snapshot: any StoreSnapshot) throws {
        context = plan.context
        room = plan.room
        decidedAt = try snapshot.lastPosition()
        position = decidedAt
        targets = context.targets
        sources = context.sources
        var zones: [ZoneNumber: Bool] = [:]
        for zone in Set([context.zone.number] + context.previousRecords.keys.map(\.zone))
            .union(targets.map(\.zone)).union(sources.map(\.zone))
        {
            zones[zone] = try context.hasShares(zone)
        }
        self.zones = zones
        usedBytes = try context.basis.usedBytes(of: context.owner)
    }

    private init(_ other: DecisionCheck, at position: Position) {
        context = other.context
        room = other.room
        decidedAt = other.decidedAt
        self.position = position
        targets = other.targets
        sources = other.sources
        zones = other.zones
        usedBytes = other.usedBytes
    }

    /// The same check for later changes, after a snapshot on which the decision still held.
    func going(on snapshot: any StoreSnapshot) throws -> DecisionCheck {
        DecisionCheck(self, at: try snapshot.lastPosition())
    }

    /// - Parameter changesMax: how many changes of a zone it goes through at most, where others wait.
    func finding(on basis: DecisionBasis, changesMax: Int = .max) throws -> Finding {
        guard basis.schema.version == context.schema.version,
            basis.schema.leaving == context.schema.leaving, try zonesStand(basis.stored),
            try rightsStand(basis), try receiptsStand(basis),
            try sightStands(basis.stored), try tombstonesStand(basis.stored),
            try quotaStands(basis)
        else { return .moved }
        for (zone, hadShares) in zones {
            let finding = try changes(in: zone, hadShares: hadShares, basis.stored, changesMax)
            guard case .stands = finding else { return finding }
        }
        return .stands
    }

    // MARK: - Changes with positions

    private func changes(
        in zone: ZoneNumber, hadShares: Bool, _ stored: any StoreSnapshot, _ most: Int
    ) throws -> Finding {
        var changed: [(record: RecordNumber, flags: VersionFlags)] = []
        try stored.versions(
            in: zone, after: position, through: .max, newestFirst: false
        ) { version in
            changed.append((version.record, version.flags))
            return changed.count <= most
        }
        guard changed.count <= most else { return .tooManyChanges }
        return try matter(changed, hadShares, stored) ? .moved : .stands
    }

    private func matter(
        _ changed: [(record: RecordNumber, flags: VersionFlags)], _ hadShares: Bool,
        _ stored: any StoreSnapshot
    ) throws -> Bool {
        guard !changed.isEmpty else { return false }
        // When a share begins or changes, its record and its root change too. When one ends, its record is
        // deleted.
        if changed.contains(where: {
            $0.flags.contains(.share) || $0.flags.contains(.root)
                || hadShares && $0.flags.contains(.tombstone)
        }) {
            return true
        }
        for location in try stored.locations(of: changed.map(\.record)) {
            guard let location else { return true }
            let key = RecordKey(zone: location.zone, name: location.name)
            if context.previousRecords[key] != nil || sources.contains(key) { return true }
        }
        let linked = changed.filter { $0.flags.contains(.hasLinks) }.map(\.record)
        guard !linked.isEmpty, !targets.isEmpty else { return false }
        return try stored.links(of: linked, kinds: LinkKind.all).contains { links in
            links.contains { targets.contains($0.targetKey) }
        }
    }

    // MARK: - What has no position

    /// Whether the zones still exist and are those that the decision saw.
    private func zonesStand(_ stored: any StoreSnapshot) throws -> Bool {
        let isSound = try stored.zones(zones.keys.map { .number($0) }).allSatisfy { zone in
            zone.map { !$0.isDeleted && $0.created <= decidedAt } ?? false
        }
        guard isSound else { return false }
        let named = Array(context.zonesByName)
        let keys = named.map { ZoneKey.name($0.key, of: context.zone.owner) }
        return try zip(named, stored.zones(keys)).allSatisfy { $0.value == $1?.number }
    }

    private func rightsStand(_ basis: DecisionBasis) throws -> Bool {
        let rights = try RecordAccess(context.database, basis.stored)
        guard rights.hasRoles(of: context.rights) else { return false }
        let now = try RecordAccess.all(of: context.accesses.keys, basis.stored)
        return context.accesses.allSatisfy { now[$0.key]?.hasRoles(of: $0.value) == true }
    }

    private func receiptsStand(_ basis: DecisionBasis) throws -> Bool {
        guard !context.receipts.isEmpty else { return true }
        return try basis.stored.assetReceipts(Array(context.receipts)).allSatisfy {
            $0.map { $0.expires > basis.now } ?? false
        }
    }

    /// Whether a participant still sees what they saw.
    private func sightStands(_ stored: any StoreSnapshot) throws -> Bool {
        guard let access = context.access else { return true }
        let now = try ZoneAccess.of(
            access.viewer, in: access.zone, limits: context.limits, snapshot: stored)
        return try now?.tells(what: access) ?? false
    }

    /// Whether the tombstones that the decision saw are still there, not collected.
    private func tombstonesStand(_ stored: any StoreSnapshot) throws -> Bool {
        var seen: [ZoneNumber: [(name: RecordName, position: Position)]] = [:]
        for (key, previous) in context.previousRecords where !previous.isAlive {
            guard let head = previous.head else { continue }
            seen[key.zone, default: []].append((key.name, head.position))
        }
        for (zone, records) in seen {
            let heads = try stored.heads(of: records.map(\.name), in: zone)
            guard zip(records, heads).allSatisfy({ $0.position == $1?.position }) else {
                return false
            }
        }
        return true
    }

    /// Whether what fitted the quota still fits, and what did not fit still does not.
    private func quotaStands(_ basis: DecisionBasis) throws -> Bool {
        guard context.quotaBytes > 0 else { return true }
        let used = try basis.usedBytes(of: context.owner)
        guard !room.wasLacking else { return used == usedBytes }
        return used <= usedBytes || used <= context.quotaBytes - room.growth
    }
}
