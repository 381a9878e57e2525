import CloudModel

/// The form of a line: which parts it has, its numbers, and its texts by their numbers in the segment.
enum LineCodec {
    /// What a line has of what not every line has.
    private struct Parts: OptionSet {
        let rawValue: UInt64
        static let operation = Parts(rawValue: 1 << 0)
        static let container = Parts(rawValue: 1 << 1)
        static let user = Parts(rawValue: 1 << 2)
        static let device = Parts(rawValue: 1 << 3)
        static let software = Parts(rawValue: 1 << 4)
        static let session = Parts(rawValue: 1 << 5)
        static let zones = Parts(rawValue: 1 << 6)
        static let key = Parts(rawValue: 1 << 7)
        static let code = Parts(rawValue: 1 << 8)
        static let reason = Parts(rawValue: 1 << 9)
        static let date = Parts(rawValue: 1 << 10)
        static let failures = Parts(rawValue: 1 << 11)
        static let notices = Parts(rawValue: 1 << 12)
        static let writes = Parts(rawValue: 1 << 13)
    }

    private struct ZoneParts: OptionSet {
        let rawValue: UInt8
        static let owner = ZoneParts(rawValue: 1)
        static let from = ZoneParts(rawValue: 2)
        static let to = ZoneParts(rawValue: 4)
        static let more = ZoneParts(rawValue: 8)
    }

    static let idBytes = 16
    static let listMax = 64

    /// Appends a line.
    ///
    /// - Parameter number: the number of a text in the segment.
    static func append(
        _ entry: RequestEntry, since base: Milliseconds, to line: inout LineBytes,
        number: (String) -> UInt32
    ) {
        var parts: Parts = []
        if entry.operation != nil { parts.insert(.operation) }
        if entry.container != nil { parts.insert(.container) }
        if entry.user != nil { parts.insert(.user) }
        if entry.device != nil { parts.insert(.device) }
        if entry.software != nil { parts.insert(.software) }
        if entry.session != nil { parts.insert(.session) }
        if entry.keyID != nil { parts.insert(.key) }
        if entry.code != nil { parts.insert(.code) }
        if entry.reason != nil { parts.insert(.reason) }
        if entry.dateAheadMilliseconds != nil { parts.insert(.date) }
        if !entry.zones.isEmpty { parts.insert(.zones) }
        if !entry.failures.isEmpty { parts.insert(.failures) }
        if entry.notices > 0 { parts.insert(.notices) }
        let times = entry.microseconds
        if times.deciding + times.committing > 0 { parts.insert(.writes) }
        line.number(parts.rawValue)
        line.signed(entry.time &- base)
        line.raw(entry.id.prefix(idBytes))
        line.raw(repeatElement(0, count: max(0, idBytes - entry.id.count)))
        line.byte(place(entry))
        func text(_ text: String?) { if let text { line.number(UInt64(number(text))) } }
        text(entry.operation)
        text(entry.container)
        text(entry.user)
        text(entry.device)
        text(entry.software.map(text(of:)))
        text(entry.session)
        text(entry.keyID)
        text(entry.code)
        text(entry.reason)
        line.count(entry.status)
        if let ahead = entry.dateAheadMilliseconds { line.signed(ahead) }
        for value in [entry.items, entry.records, entry.bytesIn, entry.bytesOut] {
            line.count(value)
        }
        line.count(times.waiting)
        line.count(times.reading)
        if parts.contains(.writes) {
            line.count(times.deciding)
            line.count(times.committing)
        }
        line.count(times.sending)
        if parts.contains(.notices) { line.count(entry.notices) }
        if parts.contains(.zones) { append(entry.zones, to: &line, number) }
        if parts.contains(.failures) { append(entry.failures, to: &line, number) }
    }

    private static func append(
        _ zones: [RequestEntry.Zone], to line: inout LineBytes, _ number: (String) -> UInt32
    ) {
        line.count(min(zones.count, listMax))
        for zone in zones.prefix(listMax) {
            var parts: ZoneParts = zone.moreComing ? [.more] : []
            if zone.owner != nil { parts.insert(.owner) }
            if zone.from != nil { parts.insert(.from) }
            if zone.to != nil { parts.insert(.to) }
            line.byte(parts.rawValue)
            line.number(UInt64(number(zone.name)))
            if let owner = zone.owner { line.number(UInt64(number(owner))) }
            if let from = zone.from { line.signed(from) }
            // Most are where they were, or near it.
            if let to = zone.to { line.signed(to &- (zone.from ?? 0)) }
        }
    }

    private static func append(
        _ failures: [RequestEntry.Failures], to line: inout LineBytes,
        _ number: (String) -> UInt32
    ) {
        line.count(min(failures.count, listMax))
        for failed in failures.prefix(listMax) {
            line.number(UInt64(number(failed.code)))
            line.number(failed.reason.map { UInt64(number($0)) + 1 } ?? 0)
            line.count(failed.count)
            line.count(min(failed.records.count, listMax))
            for record in failed.records.prefix(listMax) { line.fixed(record) }
        }
    }

    /// Reads a line.
    ///
    /// - Parameter text: the text of a number.
    static func entry(
        _ line: ArraySlice<UInt8>, since base: Milliseconds,
        text: (UInt32) throws(DamagedLine) -> String
    ) throws(DamagedLine) -> RequestEntry {
        var reader = LineReader(line)
        let parts = Parts(rawValue: try reader.number())
        let time = base &+ (try reader.signed())
        var entry = RequestEntry(time: time, id: Array(try reader.raw(idBytes)))
        try readPlace(try reader.byte(), into: &entry)
        func next(_ part: Parts) throws(DamagedLine) -> String? {
            guard parts.contains(part) else { return nil }
            return try text(number(&reader))
        }
        entry.operation = try next(.operation)
        entry.container = try next(.container)
        entry.user = try next(.user)
        entry.device = try next(.device)
        entry.software = try next(.software).map(software(of:))
        entry.session = try next(.session)
        entry.keyID = try next(.key)
        entry.code = try next(.code)
        entry.reason = try next(.reason)
        entry.status = try reader.count()
        if parts.contains(.date) { entry.dateAheadMilliseconds = try reader.signed() }
        entry.items = try reader.amount()
        entry.records = try reader.amount()
        entry.bytesIn = try reader.amount()
        entry.bytesOut = try reader.amount()
        entry.microseconds.waiting = try reader.count()
        entry.microseconds.reading = try reader.count()
        if parts.contains(.writes) {
            entry.microseconds.deciding = try reader.count()
            entry.microseconds.committing = try reader.count()
        }
        entry.microseconds.sending = try reader.count()
        if parts.contains(.notices) { entry.notices = try reader.count() }
        if parts.contains(.zones) { entry.zones = try zones(&reader, text) }
        if parts.contains(.failures) { entry.failures = try failures(&reader, text) }
        return entry
    }

    private static func number(_ reader: inout LineReader) throws(DamagedLine) -> UInt32 {
        UInt32(try reader.count())
    }

    private static func zones(
        _ reader: inout LineReader, _ text: (UInt32) throws(DamagedLine) -> String
    ) throws(DamagedLine) -> [RequestEntry.Zone] {
        var zones: [RequestEntry.Zone] = []
        for _ in 0..<(try reader.count(max: listMax)) {
            let parts = ZoneParts(rawValue: try reader.byte())
            var zone = RequestEntry.Zone(
                name: try text(number(&reader)), moreComing: parts.contains(.more))
            if parts.contains(.owner) { zone.owner = try text(number(&reader)) }
            if parts.contains(.from) { zone.from = try reader.signed() }
            if parts.contains(.to) { zone.to = (zone.from ?? 0) &+ (try reader.signed()) }
            zones.append(zone)
        }
        return zones
    }

    private static func failures(
        _ reader: inout LineReader, _ text: (UInt32) throws(DamagedLine) -> String
    ) throws(DamagedLine) -> [RequestEntry.Failures] {
        var failures: [RequestEntry.Failures] = []
        for _ in 0..<(try reader.count(max: listMax)) {
            let code = try text(number(&reader))
            let reason = try number(&reader)
            var failed = RequestEntry.Failures(
                code: code, reason: reason > 0 ? try text(reason - 1) : nil,
                count: try reader.count())
            for _ in 0..<(try reader.count(max: listMax)) {
                failed.records.append(try reader.fixed32())
            }
            failures.append(failed)
        }
        return failures
    }

    private static let environments: [Environment?] = [nil, .development, .production]
    private static let databases: [DatabaseScope?] = [nil, .public, .private, .shared]

    private static func place(_ entry: RequestEntry) -> UInt8 {
        let environment = environments.firstIndex(of: entry.environment) ?? 0
        let database = databases.firstIndex(of: entry.database) ?? 0
        return UInt8(environment | database << 2)
    }

    private static func readPlace(
        _ byte: UInt8, into entry: inout RequestEntry
    ) throws(DamagedLine) {
        let (environment, database) = (Int(byte & 3), Int(byte >> 2))
        guard environment < environments.count, database < databases.count else {
            throw DamagedLine()
        }
        (entry.environment, entry.database) = (environments[environment], databases[database])
    }

    /// No part has this character.
    private static let separator: Character = "\u{1f}"

    private static func text(of software: RequestEntry.Software) -> String {
        "\(software.kind)\(separator)\(software.name)\(separator)\(software.version)"
    }

    private static func software(of text: String) -> RequestEntry.Software {
        let parts = text.split(separator: separator, omittingEmptySubsequences: false).map {
            String($0)
        }
        return RequestEntry.Software(
            kind: parts[0], name: parts.count > 1 ? parts[1] : "",
            version: parts.count > 2 ? parts[2] : "")
    }
}
