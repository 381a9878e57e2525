import CloudModel
import Cryptography
import RequestRecords
import WebServices

/// Makes lines of what was observed of requests.
struct RequestConversion {
    /// What clients call their software is the same again and again.
    private var known: [UInt64: RequestEntry.Software] = [:]
    private static let knownMax = 4_096
    private static let textBytesMax = 128

    mutating func entry(of request: RequestObservation, at time: Milliseconds) -> RequestEntry {
        var entry = RequestEntry(
            time: time,
            id: Hexadecimal.decode(request.requestID.utf8.filter { $0 != UInt8(ascii: "-") }) ?? [])
        entry.operation = request.operation
        entry.container = request.container.map {
            String(decoding: $0.utf8.prefix(Self.textBytesMax), as: UTF8.self)
        }
        (entry.environment, entry.database) = (request.environment, request.database)
        entry.user = (request.userRecordName ?? request.claimedUser)?.text
        entry.device = request.sender.device.map {
            String(decoding: $0.utf8.prefix(Self.textBytesMax), as: UTF8.self)
        }
        entry.software = software(of: request.sender)
        entry.session = request.session.map { Hexadecimal.encode($0) }
        entry.keyID = request.keyID
        entry.status = request.status
        entry.code = request.code?.rawValue
        entry.reason = request.refusal.map { "\($0)" } ?? request.reason
        entry.dateAheadMilliseconds = request.dateAheadMilliseconds
        let work = request.work
        entry.zones =
            (work.zone.map { [$0] } ?? []).map(Self.zone)
            + work.furtherZones.map(Self.zone)
        entry.failures = work.failures.map {
            RequestEntry.Failures(
                code: $0.code.rawValue, reason: $0.reason, count: $0.count, records: $0.records)
        }
        (entry.items, entry.records) = (work.items, work.records)
        (entry.bytesIn, entry.bytesOut) = (request.bytesIn, request.bytesOut)
        entry.notices = work.notices
        let stages = request.stages
        func microseconds(_ nanoseconds: UInt64) -> Int {
            Int(min(nanoseconds / 1_000, UInt64(Int32.max)))
        }
        entry.microseconds.waiting = microseconds(stages.waiting)
        entry.microseconds.reading = microseconds(stages.reading)
        entry.microseconds.deciding = microseconds(stages.deciding)
        entry.microseconds.committing = microseconds(stages.committing)
        entry.microseconds.sending = microseconds(stages.sending)
        return entry
    }

    private mutating func software(of sender: RequestSender) -> RequestEntry.Software? {
        let hash = sender.softwareHash
        if let known = known[hash] { return known }
        let software = sender.software
        let made = RequestEntry.Software(
            kind: software.kind.rawValue, name: software.name, version: software.version)
        if known.count >= Self.knownMax { known.removeAll() }
        known[hash] = made
        return made
    }

    private static func zone(_ progress: ZoneProgress) -> RequestEntry.Zone {
        RequestEntry.Zone(
            name: progress.zone.name.text, owner: progress.zone.owner?.text, from: progress.from,
            to: progress.to, moreComing: progress.moreComing)
    }
}
