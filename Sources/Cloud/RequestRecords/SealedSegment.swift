import CloudModel

/// A full segment in memory: lines as they are stored together where there are no files.
package struct SealedSegment {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// - Parameters:
    ///   - lines: at least one.
    ///   - base: the time that they are told from.
    /// - Returns: the segment, and hashes of the users and devices whose lines it has.
    package static func make(
        of lines: WaitingLines, base: Milliseconds
    ) -> (segment: SealedSegment, keys: [UInt64]) {
        var encoder = LineEncoder(SegmentIndex(base: base))
        var bytes = SegmentForm.head(base: base)
        withUnsafeTemporaryAllocation(
            byteCount: LineDraft.bytesMax, alignment: MemoryLayout<UInt64>.alignment
        ) { scratch in
            guard let line = scratch.baseAddress else { return }
            encoder.append(lines, from: bytes.count, by: line) { block in
                bytes += block.memory.prefix(block.count)
            }
        }
        let indexAt = bytes.count
        bytes += encoder.index.bytes
        bytes += SegmentForm.tail(indexAt: indexAt)
        return (SealedSegment(bytes), encoder.index.keys.sorted())
    }

    /// Hands over the lines that a filter takes, the newest first; none of a damaged segment.
    ///
    /// - Parameter number: the segment's, in the location of each.
    /// - Returns: whether to go on with the segment before: false once `body` returned it.
    package func visit(
        _ filter: RequestFilter, as number: UInt64,
        _ body: (RequestLocation, RequestEntry) throws -> Bool
    ) rethrows -> Bool {
        guard let segment = Segment(full: SegmentBytes(bytes)) else { return true }
        return try segment.visit(filter, as: number, body)
    }

    /// Its lines but for those of a person, and how many those are; what is damaged goes as a whole.
    ///
    /// - Returns: nil where none is theirs.
    package func lines(
        without person: RequestFilter.Person
    ) -> (others: WaitingLines, erased: Int)? {
        guard let segment = Segment(full: SegmentBytes(bytes)) else { return (WaitingLines(), 1) }
        return segment.lines(without: person)
    }
}
