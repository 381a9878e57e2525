import CloudModel

/// Reads lines: which parts they have, their numbers, and their texts by their numbers in the segment.
enum LineCodec {
    static let idBytes = 16
    static let listMax = 64

    /// Reads a line.
    ///
    /// - Parameter text: the text of a number.
    static func entry(
        _ line: ArraySlice<UInt8>, since base: Milliseconds,
        text: (UInt32) throws(DamagedLine) -> String
    ) throws(DamagedLine) -> RequestEntry {
        var reader = LineReader(line)
        let parts = LineParts(rawValue: UInt16(truncatingIfNeeded: try reader.number()))
        let time = base &+ (try reader.signed())
        var entry = RequestEntry(time: time, id: Array(try reader.raw(idBytes)))
        try readPlace(try reader.byte(), into: &entry)
        func next(_ part: LineParts) throws(DamagedLine) -> String? {
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
        if parts.contains(.saved) { entry.saved = try hashes(&reader) }
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
            let parts = LineZoneParts(rawValue: try reader.byte())
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
            failed.records = try hashes(&reader)
            failures.append(failed)
        }
        return failures
    }

    private static func hashes(_ reader: inout LineReader) throws(DamagedLine) -> [UInt32] {
        var hashes: [UInt32] = []
        for _ in 0..<(try reader.count(max: listMax)) { hashes.append(try reader.fixed32()) }
        return hashes
    }

    private static let environments: [Environment?] = [nil, .development, .production]
    private static let databases: [DatabaseScope?] = [nil, .public, .private, .shared]

    static func place(_ environment: Environment?, _ database: DatabaseScope?) -> UInt8 {
        let first: UInt8 =
            switch environment {
            case nil: 0
            case .development: 1
            case .production: 2
            }
        let second: UInt8 =
            switch database {
            case nil: 0
            case .public: 1
            case .private: 2
            case .shared: 3
            }
        return first | second << 2
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

    private static func software(of text: String) -> RequestEntry.Software {
        let parts = text.split(
            separator: RequestEntry.Software.separator, omittingEmptySubsequences: false
        ).map { String($0) }
        return RequestEntry.Software(
            kind: parts[0], name: parts.count > 1 ? parts[1] : "",
            version: parts.count > 2 ? parts[2] : "")
    }
}
