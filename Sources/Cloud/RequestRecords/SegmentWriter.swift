import CloudModel
import Files
import Platform

/// Writes one segment, block after block; one thread at a time.
final class SegmentWriter {
    let path: String
    private let descriptor: Int32
    private(set) var byteCount: Int
    private(set) var index: SegmentIndex
    private var encoder = LineEncoder()

    /// Begins a segment.
    ///
    /// - Parameter base: the time that its lines are told from.
    init(new path: String, base: Milliseconds) throws(FileSystemFailure) {
        self.path = path
        descriptor = try FileSystem.openNew(path)
        index = SegmentIndex(base: base)
        byteCount = 0
        let head = SegmentForm.head(base: base)
        try write(head)
    }

    /// Goes on with a segment that was not full when its writer ended.
    ///
    /// What a crash has cut short is cut off: blocks up to the first that is not whole stay.
    /// - Returns: nil for a file that is no segment, or of another version.
    init?(goingOnWith path: String) throws(FileSystemFailure) {
        guard let file = SegmentFile(path), let read = Self.read(file) else { return nil }
        self.path = path
        (index, encoder, byteCount) = read
        descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileSystemFailure("open \(path)", code: errno) }
        guard ftruncate(descriptor, off_t(byteCount)) == 0 else {
            throw FileSystemFailure("ftruncate \(path)", code: errno)
        }
    }

    deinit { close(descriptor) }

    private static func read(
        _ file: SegmentFile
    ) -> (SegmentIndex, LineEncoder, Int)? {
        do throws(DamagedLine) {
            try file.readWhole()
            var head = LineReader(try file.bytes(at: 0, count: SegmentForm.headBytes))
            guard try head.raw(8).elementsEqual(SegmentForm.magic) else { return nil }
            var index = SegmentIndex(base: Int64(bitPattern: try head.fixed64()))
            var encoder = LineEncoder()
            var texts: [String] = []
            let end = try Segment.forEachItem(of: file, through: file.byteCount) {
                kind, bytes, offset throws(DamagedLine) in
                switch kind {
                case .text:
                    encoder.note(bytes)
                    texts.append(String(decoding: bytes, as: UTF8.self))
                    index.texts.append(UInt32(truncatingIfNeeded: offset))
                case .line:
                    let entry = try LineCodec.entry(bytes, since: index.base) {
                        number throws(DamagedLine) in
                        guard Int(number) < texts.count else { throw DamagedLine() }
                        return texts[Int(number)]
                    }
                    index.note(
                        entry.time, user: entry.user.map { SegmentIndex.key(user: $0) },
                        device: entry.device.map { SegmentIndex.key(device: $0) }, at: offset)
                }
            }
            return (index, encoder, end)
        } catch {
            return nil
        }
    }

    /// Appends lines, in blocks.
    ///
    /// - Throws: `FileSystemFailure`; then this writer is of no use any more, and the segment may be torn.
    func append(_ lines: WaitingLines) throws(FileSystemFailure) {
        var payload = LineBytes()
        payload.reserve(Self.blockBytes + LineDraft.bytesMax)
        var blocks: [LineBytes] = []
        var start = byteCount + SegmentForm.blockHeadBytes
        lines.forEach { line in
            encoder.append(line, to: &payload, at: start, &index)
            guard payload.count >= Self.blockBytes else { return }
            blocks.append(payload)
            start += payload.count + SegmentForm.blockHeadBytes
            payload = LineBytes()
        }
        if payload.count > 0 { blocks.append(payload) }
        for block in blocks { try write(SegmentForm.block(block.bytes)) }
    }

    /// A block ends with so many bytes.
    private static let blockBytes = 262_144

    /// Adds the index: nothing is written to the segment from now on.
    func seal() throws(FileSystemFailure) {
        let offset = byteCount
        try write(index.bytes)
        try write(SegmentForm.tail(indexAt: offset))
        guard fsync(descriptor) == 0 else {
            throw FileSystemFailure("fsync \(path)", code: errno)
        }
    }

    private func write(_ bytes: [UInt8]) throws(FileSystemFailure) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                pwrite(
                    descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent,
                    off_t(byteCount + sent))
            }
            if count > 0 {
                sent += count
            } else if errno != EINTR {
                throw FileSystemFailure("write \(path)", code: errno)
            }
        }
        byteCount += bytes.count
    }
}
