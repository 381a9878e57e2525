import CChecksum
import CloudModel
import Files
import Platform

/// The bytes of one segment, as they are read: of a file some at a time; never beyond its end.
final class SegmentBytes {
    /// Nil where all are in memory.
    private let descriptor: Int32?
    let byteCount: Int
    /// What was read last, and where it begins.
    private var window: (start: Int, bytes: [UInt8]) = (0, [])

    /// The usual line, with some of those behind it.
    private static let windowBytes = 1_024

    /// - Returns: nil where the file is not there any more.
    init?(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
        byteCount = max(0, Int(lseek(descriptor, 0, SEEK_END)))
    }

    init(_ bytes: [UInt8]) {
        descriptor = nil
        byteCount = bytes.count
        window = (0, bytes)
    }

    deinit { if let descriptor { close(descriptor) } }

    /// Reads all of it at once, for those who go through it.
    func readWhole() throws(DamagedLine) {
        guard window.bytes.count < byteCount else { return }
        window = (0, try read(0, byteCount))
    }

    func bytes(at start: Int, count: Int) throws(DamagedLine) -> ArraySlice<UInt8> {
        guard start >= 0, count >= 0, start <= byteCount - count else { throw DamagedLine() }
        let end = window.start + window.bytes.count
        if start < window.start || start + count > end {
            let wanted = min(max(count, Self.windowBytes), byteCount - start)
            window = (start, try read(start, wanted))
        }
        return window.bytes[start - window.start..<start - window.start + count]
    }

    private func read(_ start: Int, _ count: Int) throws(DamagedLine) -> [UInt8] {
        guard let descriptor else { throw DamagedLine() }
        var isWhole = true
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = pread(
                    descriptor, buffer.baseAddress.map { $0 + filled }, count - filled,
                    off_t(start + filled))
                if got > 0 {
                    filled += got
                } else if got == 0 || errno != EINTR {
                    isWhole = false
                    return
                }
            }
        }
        guard isWhole else { throw DamagedLine() }
        return bytes
    }

    /// What begins at a place: a text or a line, and where the next begins.
    func item(
        at offset: Int
    ) throws(DamagedLine) -> (
        kind: SegmentForm.Item, bytes: ArraySlice<UInt8>, end: Int
    ) {
        guard offset < byteCount else { throw DamagedLine() }
        let head = try bytes(at: offset, count: min(10, byteCount - offset))
        var reader = LineReader(head)
        let count = try reader.count(max: SegmentForm.itemBytesMax)
        let start = offset + reader.offset - head.startIndex
        let item = try bytes(at: start, count: count)
        guard let first = item.first, let kind = SegmentForm.Item(rawValue: first) else {
            throw DamagedLine()
        }
        return (kind, item.dropFirst(), start + count)
    }
}

/// How a segment is laid out: a head, blocks with a checksum each, and, once it is full, an index and a tail.
package enum SegmentForm {
    /// What a block consists of.
    enum Item: UInt8 {
        case text = 1
        case line = 2
    }

    /// The version of the form is its last byte.
    static let magic = Array("LENTREQ".utf8) + [1]
    static let endMagic = Array("LENTEND".utf8) + [1]
    static let headBytes = 16
    static let blockHeadBytes = 8
    static let tailBytes = 16
    static let itemBytesMax = 65_536
    /// An item's length and its kind.
    static let itemHeadBytesMax = 4
    static let blockBytesMax = 8 << 20
    /// A text has its length in one byte while it waits.
    package static let textBytesMax = 255

    static func head(base: Milliseconds) -> [UInt8] {
        var out = LineBytes()
        out.raw(magic)
        out.fixed(UInt64(bitPattern: base))
        return out.bytes
    }

    /// Leaves room for what stands before a block's items.
    static func begin(_ block: inout GrowingBytes) {
        block.append(atMost: blockHeadBytes) { _ in blockHeadBytes }
    }

    /// Says of a block's items how many bytes they are, and their checksum.
    static func end(_ block: inout GrowingBytes) {
        // Nothing holds the memory when it is written to: it would be copied.
        let sum = checksum(block.memory[blockHeadBytes..<block.count])
        block.set(UInt32(block.count - blockHeadBytes), at: 0)
        block.set(sum, at: 4)
    }

    static func tail(indexAt offset: Int) -> [UInt8] {
        var out = LineBytes()
        out.fixed(UInt64(offset))
        out.raw(endMagic)
        return out.bytes
    }

    static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.withUnsafeBytes { checksum_crc32c(0, $0.baseAddress, $0.count) }
    }
}
