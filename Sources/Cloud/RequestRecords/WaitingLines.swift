/// Lines of requests that wait to be written, in the order they came.
///
/// All in one buffer, each with its numbers as a segment has them and its texts as they are. Taking a line allocates
/// nothing once the buffer is large enough.
package struct WaitingLines: Sendable {
    private var bytes = GrowingBytes()
    package private(set) var count = 0

    package init() {}

    /// Adds a line.
    ///
    /// - Parameter write: says what the line has, in the order of the draft's methods.
    package mutating func append(_ write: (inout LineDraft) -> Void) {
        bytes.append(atMost: LineDraft.bytesMax) { start in
            var draft = LineDraft(at: start)
            write(&draft)
            return draft.end()
        }
        count += 1
    }

    /// Adds a line that was read back.
    package mutating func append(_ entry: RequestEntry) {
        append { draft in
            draft.begin(at: entry.time, entry.environment, entry.database)
            draft.id(entry.id)
            draft.text(.operation, entry.operation)
            draft.text(.container, entry.container)
            draft.text(.user, entry.user)
            draft.text(.device, entry.device)
            draft.text(.software, entry.software?.lineText)
            draft.text(.session, entry.session)
            draft.text(.key, entry.keyID)
            draft.text(.code, entry.code)
            draft.text(.reason, entry.reason)
            draft.numbers(
                LineNumbers(
                    status: entry.status, dateAheadMilliseconds: entry.dateAheadMilliseconds,
                    items: entry.items, records: entry.records, bytesIn: entry.bytesIn,
                    bytesOut: entry.bytesOut, microseconds: entry.microseconds,
                    notices: entry.notices))
            for zone in entry.zones {
                draft.zone(
                    zone.name, owner: zone.owner, from: zone.from, to: zone.to,
                    moreComing: zone.moreComing)
            }
            for failed in entry.failures {
                draft.failures(
                    failed.code, reason: failed.reason, count: failed.count,
                    records: failed.records)
            }
            draft.saved(entry.saved)
        }
    }

    /// Forgets all, and keeps the memory for those that follow.
    package mutating func removeAll() {
        bytes.removeAll()
        count = 0
    }

    package var byteCount: Int { bytes.count }

    /// Bytes of memory.
    package var capacity: Int { bytes.memory.count }

    /// Visits each, in their order.
    func forEach(_ body: (WaitingLine) -> Void) {
        bytes.memory.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress else { return }
            var offset = 0
            while offset < bytes.count {
                let line = WaitingLine(start: base + offset)
                body(line)
                offset += line.byteCount
            }
        }
    }
}
