/// One zone of one user's private database.
struct UserZone: Hashable, CustomStringConvertible {
    let user: Int
    let zone: String

    var description: String { "user \(user), zone \(zone)" }
}

/// What a record was at some moment: its tag's position, and the one write that its value names.
struct RecordVersion: Hashable, CustomStringConvertible {
    let tag: Int64
    let value: String

    var description: String { "\(value) at \(tag)" }
}

/// When a request was sent and answered; one that was never answered may have run until the end.
struct Span {
    static let always = Span(began: .max, ended: .max)

    let began: UInt64
    var ended: UInt64 = .max

    /// Whether all of it was over when another began.
    func isBefore(_ other: Span) -> Bool { ended < other.began }
}

/// What a server said of one operation.
enum Outcome: Equatable {
    case saved(Int64)
    case deleted
    /// A definite no: nothing of it may ever show. With the record as the server said it has it.
    case refused(code: String, holds: RecordVersion? = nil)
    /// No answer: it may have happened, wholly, or not at all.
    case unknown
}

/// One operation of a `records/modify`.
struct Operation {
    enum Kind: Equatable {
        case create
        case update(base: Int64)
        case force
        case delete(base: Int64)
        case forceDelete
    }

    let name: String
    let kind: Kind
    /// Unlike any other write's; empty for deletions.
    let value: String
    var outcome: Outcome = .unknown

    init(_ name: String, _ kind: Kind, _ value: String = "", _ outcome: Outcome = .unknown) {
        self.name = name
        self.kind = kind
        self.value = value
        self.outcome = outcome
    }

    var deletes: Bool {
        switch kind {
        case .delete, .forceDelete: true
        case .create, .update, .force: false
        }
    }

    var base: Int64? {
        switch kind {
        case .update(let base), .delete(let base): base
        case .create, .force, .forceDelete: nil
        }
    }

    var isDiskFull: Bool { outcome == .refused(code: "DISK_FULL") }

    var isRefused: Bool {
        if case .refused = outcome { true } else { false }
    }
}

/// One `records/modify`.
struct Write {
    let location: UserZone
    let span: Span
    var isAtomic = false
    var operations: [Operation]
}

/// One zone made or deleted.
struct ZoneChange {
    let location: UserZone
    let span: Span
    let deletes: Bool
    /// Nil when no answer came.
    var isDone: Bool?
}

/// A record that somebody saw, or saw to be missing.
struct Sighting {
    let location: UserZone
    let name: String
    let version: RecordVersion?
    let span: Span
    let by: String
}

/// All of a zone at one moment.
struct Snapshot {
    let location: UserZone
    let records: [String: RecordVersion]
    let span: Span
    let by: String
}

/// What a zone holds when nobody writes.
struct ZoneState: Equatable {
    /// Of this life of the zone's name.
    var number: Int64
    /// As far as its feed has come.
    var position: Int64
    var records: [String: RecordVersion]
}

/// One page of a zone's feed.
struct Page {
    let location: UserZone
    let follower: String
    let span: Span
    let previous: FeedToken?
    let token: FeedToken
    /// Deletions without a version.
    let records: [(name: String, version: RecordVersion?)]
    let isNewestFirst: Bool
    let moreComing: Bool
}

/// A token that the server called expired.
struct Expiry {
    let location: UserZone
    let follower: String
    /// The zone's number in it.
    let previous: Int64
    /// The number in the token that came next.
    let now: Int64
}

/// A zone that somebody was told does not exist.
struct MissingZone {
    let location: UserZone
    let span: Span
    let by: String
}

/// Everything that went on between two starts of a server.
struct Life {
    var number: Int
    /// As it was found before anybody wrote.
    var initial: [UserZone: ZoneState] = [:]
    var writes: [Write] = []
    var zoneChanges: [ZoneChange] = []
    var sightings: [Sighting] = []
    var snapshots: [Snapshot] = []
    var pages: [Page] = []
    var expiries: [Expiry] = []
    var missingZones: [MissingZone] = []
    /// Answers that no client should ever get, in words.
    var oddities: [String] = []
    /// As it was found after the next start.
    var final: [UserZone: ZoneState] = [:]
    /// What each follower that caught up after the next start holds then.
    var replicas: [(follower: String, location: UserZone, records: [String: RecordVersion])] = []
    /// The zones that each follower of a database holds then.
    var zoneReplicas: [(follower: String, user: Int, zones: Set<String>)] = []

    /// Adds what one client noted.
    mutating func add(_ other: Life) {
        writes += other.writes
        zoneChanges += other.zoneChanges
        sightings += other.sightings
        snapshots += other.snapshots
        pages += other.pages
        expiries += other.expiries
        missingZones += other.missingZones
        oddities += other.oddities
    }
}
