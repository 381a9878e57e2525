import CloudModel

/// What a request asked of a database and what came of it, as far as lines of requests keep it.
///
/// No value, no token and no name of a record: of some only a hash of their names.
package struct RequestWork: Sendable, Equatable {
    /// The first zone that it named, and how far its reader was.
    package var zone: ZoneProgress?
    /// The zones after the first, as many as `furtherZonesMax`.
    package var furtherZones: [ZoneProgress] = []
    /// Records, zones or subscriptions that it named.
    package var items = 0
    /// Records that it was shown, or that it saved or deleted.
    package var records = 0
    /// Notices that it was handed.
    package var notices = 0
    /// Hashes of the names of records that it saved or deleted; none where they are more than `savedMax`.
    package var saved: [UInt32] = []
    /// Items that failed, by code and reason.
    package var failures: [ItemFailures] = []

    /// More zones of one request are not kept.
    package static let furtherZonesMax = 31
    /// More kinds of failures of one request are not told apart.
    package static let failureKindsMax = 8

    /// Of a request that changed more, it is not kept which they were.
    package static let savedMax = 4

    package init() {}

    /// - Parameter items: how many records, zones or subscriptions it named.
    package init(items: Int, in zone: ZoneID? = nil) {
        self.items = items
        self.zone = zone.map { ZoneProgress($0) }
    }

    package mutating func note(_ progress: ZoneProgress) {
        if zone == nil {
            zone = progress
        } else if furtherZones.count < Self.furtherZonesMax {
            furtherZones.append(progress)
        }
    }

    /// Counts an item that failed.
    ///
    /// - Parameter record: its name, of which a hash is kept; nil for what is no record.
    package mutating func note(_ fault: Fault, record: String? = nil) {
        let hash = record.map(ItemFailures.hash)
        let reason = fault.reasonCode
        if let index = failures.firstIndex(where: { $0.code == fault.code && $0.reason == reason })
        {
            return failures[index].count(hash)
        }
        guard failures.count < Self.failureKindsMax else { return }
        var failed = ItemFailures(code: fault.code, reason: reason)
        failed.count(hash)
        failures.append(failed)
    }
}

/// A zone that a request named, with the position of the token that it sent and of the one that it got.
package struct ZoneProgress: Sendable, Equatable {
    package var zone: ZoneID
    /// Nil where it sent none.
    package var from: Int64?
    /// Nil where it got none.
    package var to: Int64?
    package var moreComing: Bool

    package init(_ zone: ZoneID, from: Int64? = nil, to: Int64? = nil, moreComing: Bool = false) {
        self.zone = zone
        self.from = from
        self.to = to
        self.moreComing = moreComing
    }
}

/// The items of a request that failed in one way.
package struct ItemFailures: Sendable, Equatable {
    package let code: FaultCode
    /// A word of the catalogue: a `FaultCause` or a `FaultDetail`.
    package let reason: String?
    package var count = 0
    /// Hashes of the names of the first of them.
    package var records: [UInt32] = []

    /// Names of further records are not kept.
    package static let recordsMax = 4

    package init(code: FaultCode, reason: String?) {
        self.code = code
        self.reason = reason
    }

    mutating func count(_ hash: UInt32?) {
        count += 1
        if let hash, records.count < Self.recordsMax { records.append(hash) }
    }

    /// FNV-1a: it tells the same record from others, and its name cannot be read off it.
    package static func hash(_ name: String) -> UInt32 {
        name.utf8.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }
}
