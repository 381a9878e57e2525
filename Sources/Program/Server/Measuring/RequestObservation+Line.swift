import CloudModel
import RequestRecords
import WebServices

extension RequestObservation {
    /// What clients call something may be longer.
    private static let textBytesMax = 128

    /// Makes the line that is kept of it.
    ///
    /// - Parameter software: what sent it.
    func write(to line: inout LineDraft, at time: Milliseconds, software: String) {
        line.begin(at: time, environment, database)
        line.id(requestID)
        line.text(.operation, operation)
        line.text(.container, container, max: Self.textBytesMax)
        line.text(.user, (userRecordName ?? claimedUser)?.text)
        sender.withDevice { line.text(.device, $0, max: Self.textBytesMax) }
        line.text(.software, software)
        line.text(.session, digitsOf: session)
        line.text(.key, keyID)
        line.text(.code, code?.rawValue)
        line.text(.reason, refusal.map { "\($0)" } ?? reason)
        line.numbers(
            LineNumbers(
                status: status, dateAheadMilliseconds: dateAheadMilliseconds, items: work.items,
                records: work.records, bytesIn: bytesIn, bytesOut: bytesOut,
                microseconds: RequestEntry.Stages(stages), notices: work.notices))
        if let zone = work.zone { Self.write(zone, to: &line) }
        for zone in work.furtherZones { Self.write(zone, to: &line) }
        for failed in work.failures {
            line.failures(
                failed.code.rawValue, reason: failed.reason, count: failed.count,
                records: failed.records)
        }
        line.saved(work.saved)
    }

    private static func write(_ progress: ZoneProgress, to line: inout LineDraft) {
        line.zone(
            progress.zone.name.text, owner: progress.zone.owner?.text, from: progress.from,
            to: progress.to, moreComing: progress.moreComing)
    }
}

extension RequestEntry.Stages {
    fileprivate init(_ stages: RequestStages) {
        func microseconds(_ nanoseconds: UInt64) -> Int {
            Int(min(nanoseconds / 1_000, UInt64(Int32.max)))
        }
        self.init()
        waiting = microseconds(stages.waiting)
        reading = microseconds(stages.reading)
        deciding = microseconds(stages.deciding)
        committing = microseconds(stages.committing)
        sending = microseconds(stages.sending)
    }
}

/// What clients call their software, as lines have it: the same again and again.
struct SoftwareTexts {
    private var hashes: [UInt64] = Array(repeating: 0, count: Self.count)
    private var texts: [String] = Array(repeating: "", count: Self.count)
    /// A power of two.
    private static let count = 256

    mutating func text(of sender: RequestSender) -> String {
        let hash = sender.softwareHash
        let slot = Int(truncatingIfNeeded: hash) & (Self.count - 1)
        if hashes[slot] == hash, !texts[slot].isEmpty { return texts[slot] }
        let software = sender.software
        let text = RequestEntry.Software(
            kind: software.kind.rawValue, name: software.name, version: software.version
        ).lineText
        (hashes[slot], texts[slot]) = (hash, text)
        return text
    }
}
