import CloudModel
import Files
import Platform

/// Writes one segment, block after block; one thread at a time.
final class SegmentWriter {
    let path: String
    private let descriptor: Int32
    private(set) var byteCount: Int
    private var encoder: LineEncoder
    private var scratch = [UInt8](repeating: 0, count: LineDraft.bytesMax)

    /// Where its lines are, so far.
    var index: SegmentIndex { encoder.index }

    /// Begins a segment.
    ///
    /// - Parameter base: the time that its lines are told from.
    init(new path: String, base: Milliseconds) throws(FileSystemFailure) {
        self.path = path
        descriptor = try FileSystem.openNew(path)
        encoder = LineEncoder(SegmentIndex(base: base))
        byteCount = 0
        let head = SegmentForm.head(base: base)
        try write(head)
    }

    /// Goes on with a segment that was not full when its writer ended.
    ///
    /// What a crash has cut short is cut off: blocks up to the first that is not whole stay.
    /// - Returns: nil for a file that is no segment, or of another version.
    init?(goingOnWith path: String) throws(FileSystemFailure) {
        guard let file = SegmentBytes(path), let read = Self.read(file) else { return nil }
        self.path = path
        (encoder, byteCount) = read
        descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileSystemFailure("open \(path)", code: errno) }
        guard ftruncate(descriptor, off_t(byteCount)) == 0 else {
            throw FileSystemFailure("ftruncate \(path)", code: errno)
        }
    }

    deinit { close(descriptor) }

    private static func read(_ file: SegmentBytes) -> (LineEncoder, Int)? {
        do throws(DamagedLine) {
            try file.readWhole()
            var head = LineReader(try file.bytes(at: 0, count: SegmentForm.headBytes))
            guard try head.raw(8).elementsEqual(SegmentForm.magic) else { return nil }
            let base = Int64(bitPattern: try head.fixed64())
            var encoder = LineEncoder(SegmentIndex(base: base))
            var texts: [String] = []
            let end = try Segment.forEachItem(of: file, through: file.byteCount) {
                kind, bytes, offset throws(DamagedLine) in
                switch kind {
                case .text:
                    encoder.note(bytes, at: offset)
                    texts.append(String(decoding: bytes, as: UTF8.self))
                case .line:
                    let entry = try LineCodec.entry(bytes, since: base) {
                        number throws(DamagedLine) in
                        guard Int(number) < texts.count else { throw DamagedLine() }
                        return texts[Int(number)]
                    }
                    encoder.index.note(
                        entry.time, user: entry.user.map { SegmentIndex.key(user: $0) },
                        device: entry.device.map { SegmentIndex.key(device: $0) }, at: offset)
                }
            }
            return (encoder, end)
        } catch {
            return nil
        }
    }

    /// Appends lines, in blocks.
    ///
    /// - Throws: `FileSystemFailure`; then this writer is of no use any more, and the segment may be torn.
    func append(_ lines: WaitingLines) throws(FileSystemFailure) {
        try scratch.withUnsafeMutableBufferPointer { scratch throws(FileSystemFailure) in
            guard let line = scratch.baseAddress else { return }
            try encoder.append(lines, from: byteCount, by: UnsafeMutableRawPointer(line)) {
                block throws(FileSystemFailure) in
                try write(block.memory, count: block.count)
            }
        }
    }

    /// Adds the index: nothing is written to the segment from now on.
    func seal() throws(FileSystemFailure) {
        let offset = byteCount
        try write(index.bytes)
        try write(SegmentForm.tail(indexAt: offset))
        guard fsync(descriptor) == 0 else {
            throw FileSystemFailure("fsync \(path)", code: errno)
        }
    }

    /// - Parameter count: how many of the bytes; nil for all.
    private func write(_ bytes: [UInt8], count: Int? = nil) throws(FileSystemFailure) {
        let count = count ?? bytes.count
        var sent = 0
        while sent < count {
            let taken = bytes.withUnsafeBytes {
                pwrite(
                    descriptor, $0.baseAddress.map { $0 + sent }, count - sent,
                    off_t(byteCount + sent))
            }
            if taken > 0 {
                sent += taken
            } else if errno != EINTR {
                throw FileSystemFailure("write \(path)", code: errno)
            }
        }
        byteCount += count
    }
}
