import CloudModel
import RequestRecords

/// Why somebody's devices show old data: what the lines of their requests and the store tell, and what is to be done.
package struct SyncReport: Sendable {
    /// So many requests that went well end a trouble.
    static let goodEnough = 3
    /// A device that asks for other things so long after a change has no reason not to know it.
    static let lateMilliseconds: Milliseconds = 15 * 60_000
    /// So often the same record or the same token shows that an app does not get on.
    static let turnsMin = 3

    /// A device with one app on it.
    package struct Device: Sendable {
        package let id: String?
        package let software: RequestEntry.Software?
        package let first: Milliseconds
        package let last: Milliseconds
        package let requests: Int
        package let session: String?
        package let isSessionAlive: Bool
        package let zones: [Zone]
        package let errors: [Failure]
        package let conflicts: [Conflict]
        package let throttledLately: Int

        /// What people call it.
        package var name: String { id ?? software?.text ?? "a device without a name" }
    }

    /// How far a device is in a zone.
    package struct Zone: Sendable {
        package let database: DatabaseScope
        package let owner: String?
        package let name: String
        package let position: Int64
        package let askedAt: Milliseconds
        /// The zone's own position; nil where it is not there any more.
        package let end: Int64?
        /// Records that it has not seen, counted up to 1,000, and since when.
        package let behind: Int
        package let behindSince: Milliseconds?
    }

    package struct Failure: Sendable {
        package let code: String
        package let reason: String?
        package let operation: String
        package let count: Int
        package let last: Milliseconds
        package let isOver: Bool
        package let meaning: String
    }

    /// A record that fails again and again.
    package struct Conflict: Sendable {
        package let zone: String
        /// Of the record's name.
        package let hash: UInt32
        package let count: Int
        package let first: Milliseconds
        package let last: Milliseconds
    }

    package let devices: [Device]
    package let causes: [SyncCause]
    package let usedBytes: Int64
    package let quotaBytes: Int64
    package let subscriptions: [SyncSubscription]
    package let destinations: [SyncDestination]
    package let shares: [SyncShare]

    /// What people read first.
    package var firstLine: String {
        if !causes.isEmpty { return causes.map(\.text).joined(separator: " Also: ") }
        guard let device = devices.first else {
            return "Nothing is kept of requests of this user here: no device has asked lately."
        }
        let behind = device.zones.filter { $0.behind > 0 }.count
        return "No trouble found: \(device.name) was seen last at \(Timestamp(device.last).text)"
            + (behind > 0 ? ", and gets what has changed since when it asks again." : ".")
    }

    init(_ story: SyncStory, _ facts: SyncFacts) {
        let told = story.devices
        devices = told.enumerated().map { Device($1, facts, facts.gaps[$0] ?? [:]) }
        causes = SyncCauses(told, facts).all
        (usedBytes, quotaBytes) = (facts.usedBytes, facts.quotaBytes)
        (subscriptions, destinations, shares) = (
            facts.subscriptions, facts.destinations, facts.shares
        )
    }
}

package struct SyncSubscription: Sendable {
    package let id: String
    package let database: DatabaseScope
    package let kind: String
    package let zone: String?
}

/// A way by which notices reach a device, and whether they do.
package struct SyncDestination: Sendable {
    package let kind: String
    package let device: String?
    /// Attempts in a row that failed.
    package let failures: Int
    package let waiting: Int
    /// When the oldest notice was made that waits.
    package let oldest: Milliseconds?
    package let usedAt: Milliseconds
}

package struct SyncShare: Sendable {
    package let owner: String
    package let zone: String
    /// Whether they have lost all of the zone.
    package let isLost: Bool
    package let permission: String
    package let status: String
}

extension SyncReport.Device {
    fileprivate init(
        _ device: SyncStory.Device, _ facts: SyncFacts,
        _ gaps: [SyncStory.ZoneReference: SyncFacts.Gap]
    ) {
        id = device.id
        software = device.software
        (first, last, requests) = (device.first, device.last, device.requests)
        session = device.session
        isSessionAlive = device.session.map { facts.sessions.contains($0) } ?? false
        zones = device.progress.sorted { $0.key.text < $1.key.text }.map { place, progress in
            let gap = gaps[place]
            return SyncReport.Zone(
                database: place.database, owner: place.owner, name: place.zone,
                position: progress.position, askedAt: progress.moment, end: gap?.end,
                behind: gap?.count ?? 0, behindSince: gap?.since)
        }
        errors = device.troubles.sorted { $0.value.last > $1.value.last }.prefix(10).map {
            SyncReport.Failure(
                code: $0.key.code, reason: $0.key.reason, operation: $0.value.operation,
                count: $0.value.count, last: $0.value.last,
                isOver: $0.value.goodSince >= SyncReport.goodEnough,
                meaning: FaultMeaning.text(code: $0.key.code, reason: $0.key.reason))
        }
        conflicts = device.conflicts.sorted { $0.value.count > $1.value.count }.prefix(10).map {
            SyncReport.Conflict(
                zone: $0.key.place.text, hash: $0.key.hash, count: $0.value.count,
                first: $0.value.first, last: $0.value.last)
        }
        throttledLately = device.lately.filter { $0 }.count
    }
}
