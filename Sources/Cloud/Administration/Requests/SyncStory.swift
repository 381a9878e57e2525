import CloudModel
import RequestRecords

/// What lines of requests tell of a user's devices, each with one app on it: folded line by line, the oldest first.
struct SyncStory {
    /// A zone as a database names it.
    struct ZoneReference: Hashable {
        var database: DatabaseScope
        /// Nil for the user's own.
        var owner: String?
        var zone: String
    }

    /// How far a device has come in a zone.
    struct Progress {
        /// The position of the last token that it got.
        var position: Int64
        var moment: Milliseconds
        /// It has asked with one token again and again, though each answer had a newer one: so often.
        var repeats = 0
        var lastFrom: Int64?
        var repeatsSince: Milliseconds
    }

    /// A way in which requests of a device fail.
    struct Trouble: Hashable {
        var code: String
        var reason: String?
    }

    /// What is known of a trouble.
    struct Occurrences {
        var count = 0
        var first: Milliseconds
        var last: Milliseconds
        var operation: String
        var place: ZoneReference?
        /// Requests of the same operation since the last one that went well.
        var goodSince = 0
    }

    /// A record that fails again and again: no save of it went well in between.
    struct Conflict {
        var count = 0
        var first: Milliseconds
        var last: Milliseconds
    }

    struct ConflictKey: Hashable {
        var place: ZoneReference
        /// Of its name.
        var hash: UInt32
    }

    struct Device {
        /// The `clientId`; nil where it sent none.
        let id: String?
        var software: RequestEntry.Software?
        var first: Milliseconds
        var last: Milliseconds
        var requests = 0
        /// The last session that let it in.
        var session: String?
        var progress: [ZoneReference: Progress] = [:]
        var troubles: [Trouble: Occurrences] = [:]
        var conflicts: [ConflictKey: Conflict] = [:]
        /// How its last requests ended, the oldest first: true where they were throttled.
        var lately: [Bool] = []
        /// Why its last requests were not let in; nil when the last one was.
        var refusal: (reason: String, since: Milliseconds, count: Int)?
        /// The largest distance of a refused date from the server's clock, in the last refusals.
        var dateAhead: (milliseconds: Milliseconds, last: Milliseconds)?

        static let latelyMax = 20
    }

    /// What a device is known by.
    private struct Key: Hashable {
        var device: String?
        var software: RequestEntry.Software?
        var keyID: String?
    }

    private var order: [Key] = []
    private var known: [Key: Device] = [:]

    /// The devices, that which was seen last first.
    var devices: [Device] { order.compactMap { known[$0] }.sorted { $0.last > $1.last } }

    mutating func add(_ entry: RequestEntry) {
        // A device that names itself stays the same when its app becomes newer.
        let key =
            entry.device.map { Key(device: $0) }
            ?? Key(software: entry.software, keyID: entry.keyID)
        if known[key] == nil { order.append(key) }
        var device =
            known.removeValue(forKey: key)
            ?? Device(id: entry.device, first: entry.time, last: entry.time)
        device.add(entry)
        known[key] = device
    }
}

extension SyncStory.Device {
    mutating func add(_ entry: RequestEntry) {
        first = min(first, entry.time)
        last = max(last, entry.time)
        requests += 1
        software = entry.software ?? software
        lately.append(entry.code == FaultCode.throttled.rawValue)
        if lately.count > Self.latelyMax { lately.removeFirst() }
        if isRefused(entry) { return }
        refusal = nil
        dateAhead = nil
        session = entry.session ?? session
        let places = entry.zones.map { SyncStory.ZoneReference(entry, $0) }
        follow(entry, places)
        note(entry, places.first)
        if entry.operation == "records/modify" { compare(entry, places.first) }
    }

    /// Notes a request whose credentials were not believed.
    private mutating func isRefused(_ entry: RequestEntry) -> Bool {
        let codes = [FaultCode.authenticationFailed, .authenticationRequired].map(\.rawValue)
        guard let code = entry.code, codes.contains(code), let reason = entry.reason else {
            return false
        }
        if let ahead = entry.dateAheadMilliseconds { dateAhead = (ahead, entry.time) }
        if let known = refusal, known.reason == reason {
            refusal = (reason, known.since, known.count + 1)
        } else {
            refusal = (reason, entry.time, 1)
        }
        return true
    }

    /// Notes how far it has come.
    private mutating func follow(_ entry: RequestEntry, _ places: [SyncStory.ZoneReference]) {
        for (place, zone) in zip(places, entry.zones) {
            guard let to = zone.to else { continue }
            var now =
                progress[place]
                ?? SyncStory.Progress(position: to, moment: entry.time, repeatsSince: entry.time)
            if let from = zone.from, from == now.lastFrom, from < to {
                now.repeats += 1
            } else {
                now.repeats = 0
                now.repeatsSince = entry.time
            }
            (now.position, now.moment, now.lastFrom) = (to, entry.time, zone.from)
            progress[place] = now
        }
    }

    /// Counts what failed, and what has gone well since.
    private mutating func note(_ entry: RequestEntry, _ place: SyncStory.ZoneReference?) {
        let operation = entry.operation ?? ""
        var failed: [SyncStory.Trouble] = entry.failures.map {
            SyncStory.Trouble(code: $0.code, reason: $0.reason)
        }
        if let code = entry.code { failed.append(.init(code: code, reason: entry.reason)) }
        if failed.isEmpty {
            for key in troubles.keys where troubles[key]?.operation == operation {
                troubles[key]?.goodSince += 1
            }
        }
        for key in failed where key.code != FaultCode.atomicError.rawValue {
            var seen =
                troubles[key]
                ?? SyncStory.Occurrences(first: entry.time, last: entry.time, operation: operation)
            // What was over begins again.
            if seen.goodSince >= SyncReport.goodEnough {
                seen = .init(first: entry.time, last: entry.time, operation: operation)
            }
            seen.count += 1
            seen.goodSince = 0
            (seen.last, seen.operation) = (entry.time, operation)
            seen.place = place ?? seen.place
            troubles[key] = seen
        }
    }

    /// Counts how often the same record has failed in turn.
    private mutating func compare(_ entry: RequestEntry, _ place: SyncStory.ZoneReference?) {
        guard let place else { return }
        let conflicting = entry.failures.filter { $0.code == FaultCode.conflict.rawValue }
            .flatMap(\.records)
        if entry.saved.isEmpty, entry.records > 0 {
            // Which records went well is not kept of many: any of them may have.
            conflicts = conflicts.filter { $0.key.place != place }
        }
        for hash in entry.saved { conflicts[SyncStory.ConflictKey(place: place, hash: hash)] = nil }
        for hash in conflicting {
            let key = SyncStory.ConflictKey(place: place, hash: hash)
            var seen = conflicts[key] ?? .init(first: entry.time, last: entry.time)
            seen.count += 1
            seen.last = entry.time
            conflicts[key] = seen
        }
    }
}

extension SyncStory.ZoneReference {
    init(_ entry: RequestEntry, _ zone: RequestEntry.Zone) {
        self.init(database: entry.database ?? .private, owner: zone.owner, zone: zone.name)
    }

    /// As people read it.
    var text: String {
        "\(database.rawValue) zone \(zone)" + (owner.map { " of \($0)" } ?? "")
    }
}
