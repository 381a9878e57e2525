import CloudModel
import RequestRecords
import WebServices

extension RequestObservation {
    /// Makes the line that is kept of it.
    ///
    /// - Parameter head: of it, or of another one that was the same request.
    func write(to line: inout LineDraft, at time: Milliseconds, _ head: LineHead) {
        line.begin(at: time, environment, database)
        line.id(requestID)
        line.head(head)
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
