import CloudModel
import Cryptography
import JSON
import RequestRecords

/// A line of a request as JSON: what `logs --json` and a person's export show.
package enum RequestJSON {
    /// One object.
    package static func object(_ entry: RequestEntry) -> [UInt8] {
        var writer = JSONWriter(reserving: 512)
        append(entry, to: &writer)
        return writer.bytes
    }

    /// The same with a line end.
    package static func line(of entry: RequestEntry) -> [UInt8] { object(entry) + [0x0A] }

    private static func append(_ entry: RequestEntry, to writer: inout JSONWriter) {
        writer.raw("{\"time\":")
        writer.string(Timestamp(entry.time).text)
        writer.member("request", id(entry))
        for (key, value) in texts(of: entry) {
            if let value { writer.member(key, value) }
        }
        writer.member("status", entry.status)
        if let code = entry.code { writer.member("code", code) }
        if let reason = entry.reason { writer.member("reason", reason) }
        if let ahead = entry.dateAheadMilliseconds {
            writer.member("dateAheadMilliseconds", Int(clamping: ahead))
        }
        if !entry.zones.isEmpty {
            writer.raw(",\"zones\":[")
            for (index, zone) in entry.zones.enumerated() {
                if index > 0 { writer.raw(",") }
                append(zone, to: &writer)
            }
            writer.raw("]")
        }
        if !entry.failures.isEmpty {
            writer.raw(",\"failed\":[")
            for (index, failed) in entry.failures.enumerated() {
                if index > 0 { writer.raw(",") }
                writer.raw("{\"code\":")
                writer.string(failed.code)
                if let reason = failed.reason { writer.member("reason", reason) }
                writer.member("count", failed.count)
                writer.raw("}")
            }
            writer.raw("]")
        }
        for (key, value) in numbers(of: entry) { writer.member(key, value) }
        writer.raw("}")
    }

    private static func append(_ zone: RequestEntry.Zone, to writer: inout JSONWriter) {
        writer.raw("{\"zoneName\":")
        writer.string(zone.name)
        if let owner = zone.owner { writer.member("ownerRecordName", owner) }
        if let from = zone.from { writer.member("from", Int(clamping: from)) }
        if let to = zone.to { writer.member("to", Int(clamping: to)) }
        if zone.moreComing { writer.raw(",\"moreComing\":true") }
        writer.raw("}")
    }

    /// The id of a request, as its answer showed it.
    package static func id(_ entry: RequestEntry) -> String {
        let digits = Array(Hexadecimal.encode(entry.id))
        guard digits.count == 32 else { return String(digits) }
        return [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]]
            .map { String($0) }.joined(separator: "-")
    }

    /// What is said of a request in words, by key; in the order in which it is shown.
    private static func texts(of entry: RequestEntry) -> [(StaticString, String?)] {
        [
            ("operation", entry.operation), ("container", entry.container),
            ("environment", entry.environment?.rawValue), ("database", entry.database?.rawValue),
            ("user", entry.user), ("keyID", entry.keyID), ("clientId", entry.device),
            ("app", entry.software.map(\.text)), ("session", entry.session),
        ]
    }

    /// Its counts and times, by key.
    private static func numbers(of entry: RequestEntry) -> [(StaticString, Int)] {
        let times = entry.microseconds
        return [
            ("items", entry.items), ("records", entry.records), ("bytesIn", entry.bytesIn),
            ("bytesOut", entry.bytesOut), ("notices", entry.notices),
            ("waitingMicroseconds", times.waiting), ("readingMicroseconds", times.reading),
            ("decidingMicroseconds", times.deciding),
            ("committingMicroseconds", times.committing),
            ("sendingMicroseconds", times.sending),
        ]
    }
}
