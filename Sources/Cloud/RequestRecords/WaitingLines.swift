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
        let head = LineHead { texts in
            texts.append(.operation, entry.operation)
            texts.append(.container, entry.container)
            texts.append(.user, entry.user)
            texts.append(.device, entry.device)
            texts.append(.software, entry.software?.lineText)
            texts.append(.session, entry.session)
            texts.append(.key, entry.keyID)
            texts.append(.code, entry.code)
            texts.append(.reason, entry.reason)
            if let zone = entry.zone { texts.append(zone: zone.name, owner: zone.owner) }
        }
        append { draft in
            draft.begin(at: entry.time, entry.environment, entry.database)
            draft.id(entry.id)
            draft.head(head)
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

    /// Adds lines behind these.
    package mutating func append(_ others: WaitingLines) {
        bytes.append(atMost: others.byteCount) { start in
            others.bytes.memory.withUnsafeBytes { memory in
                if let base = memory.baseAddress {
                    start.copyMemory(from: base, byteCount: others.byteCount)
                }
            }
            return others.byteCount
        }
        count += others.count
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
    func forEach<Failure>(_ body: (WaitingLine) throws(Failure) -> Void) throws(Failure) {
        try bytes.memory.withUnsafeBufferPointer { buffer throws(Failure) in
            guard let base = UnsafeRawPointer(buffer.baseAddress) else { return }
            var offset = 0
            while offset < bytes.count {
                let line = WaitingLine(start: base + offset)
                try body(line)
                offset += line.byteCount
            }
        }
    }
}
