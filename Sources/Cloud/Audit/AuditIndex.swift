import CloudModel
import Platform

/// What lies in which part of a log, so that a search reads only the parts that may hold what it looks for.
///
/// A file beside the log, of blocks (`AuditBlock`) one after another. It is never the truth: a search brings
/// it up to date first, makes it again where it is missing, torn or another log's, and reads the log as a whole where
/// it cannot be kept. What it lets through is read from the log.
struct AuditIndex {
    private static let header: UInt64 = 0x6175_6469_742d_0002
    /// Blocks are written in such runs while a long log is gone through.
    private static let blocksPerWrite = 512

    /// Of all blocks, one after the other.
    private var words: [UInt64] = []
    /// How many of the blocks, from the first on, end where the search still has to look.
    private var remaining = 0

    /// Opens the index of a log and brings it up to date.
    ///
    /// - Parameter log: the log, open for reading.
    /// - Returns: nil where it cannot be kept, as on a disk that is full or read only.
    init?(of path: String, log: Int32) throws(AuditFailure) {
        let descriptor = open("\(path).index", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // Anyone who comes meanwhile waits, and finds it up to date.
        guard flock(descriptor, LOCK_EX) == 0 else { return nil }
        do throws(AuditFailure) { try read(descriptor) } catch { return nil }
        guard try isOfLog(log) || removeAll() else { return nil }
        guard try extend(over: log, keeping: descriptor) else { return nil }
        remaining = blockCount
    }

    private var blockCount: Int { words.count / AuditBlock.wordCount }

    private func block(_ index: Int) -> ArraySlice<UInt64> {
        words[(index * AuditBlock.wordCount)..<((index + 1) * AuditBlock.wordCount)]
    }

    /// Where the lines begin that end at a byte and of which none can be looked for; nil when the line that ends
    /// there has to be read.
    ///
    /// Each call goes on backwards from the one before.
    mutating func start(before end: Int64, withoutAny search: AuditSearch) -> Int64? {
        while remaining > 0, AuditBlock.end(block(remaining - 1)) > end { remaining -= 1 }
        guard remaining > 0, AuditBlock.end(block(remaining - 1)) == end else { return nil }
        var start: Int64?
        while remaining > 0 {
            let last = block(remaining - 1)
            guard !AuditBlock.mayHold(search, last) else { break }
            start = AuditBlock.start(last)
            remaining -= 1
        }
        return start
    }

    // MARK: - The file

    /// Takes over the blocks of the file up to the first one that is not as it was written.
    private mutating func read(_ descriptor: Int32) throws(AuditFailure) {
        let size = Int(lseek(descriptor, 0, SEEK_END))
        let count = (size - MemoryLayout<UInt64>.size) / AuditBlock.byteCount
        guard count > 0 else { return }
        var header: UInt64 = 0
        let isRead = withUnsafeMutableBytes(of: &header) { Self.fill($0, from: descriptor, at: 0) }
        guard isRead, header == Self.header else { return }
        words = [UInt64](repeating: 0, count: count * AuditBlock.wordCount)
        guard words.withUnsafeMutableBytes({ Self.fill($0, from: descriptor, at: 8) }) else {
            throw AuditLog.failure("pread")
        }
        var end: Int64 = 0
        for index in 0..<count {
            let block = block(index)
            guard AuditBlock.isWhole(block), AuditBlock.start(block) == end else {
                words.removeLast((count - index) * AuditBlock.wordCount)
                return
            }
            end = AuditBlock.end(block)
        }
    }

    private static func fill(
        _ bytes: UnsafeMutableRawBufferPointer, from descriptor: Int32, at start: Int
    ) -> Bool {
        var filled = 0
        while filled < bytes.count {
            let count = pread(
                descriptor, bytes.baseAddress?.advanced(by: filled), bytes.count - filled,
                off_t(start + filled))
            if count > 0 {
                filled += count
            } else if count == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Whether the log has what the last block was made of; one that was put in its place has not.
    private func isOfLog(_ log: Int32) throws(AuditFailure) -> Bool {
        guard blockCount > 0 else { return true }
        let last = block(blockCount - 1)
        let end = AuditBlock.end(last)
        guard Int64(lseek(log, 0, SEEK_END)) >= end else { return false }
        let count = AuditBlock.endingBytes(last)
        let bytes = try AuditLog.read(log, from: end - Int64(count), count: count)
        return AuditBlock.ending(bytes[...]) == AuditBlock.ending(of: last)
    }

    private mutating func removeAll() -> Bool {
        words = []
        return true
    }

    /// Adds blocks for all lines that fill one.
    ///
    /// - Returns: false when the file cannot take them.
    private mutating func extend(
        over log: Int32, keeping descriptor: Int32
    ) throws(AuditFailure) -> Bool {
        var written = blockCount
        guard written > 0 || Self.write([Self.header], to: descriptor, at: 0) else { return false }
        var builder = AuditBlockBuilder(
            from: written > 0 ? AuditBlock.end(block(written - 1)) : 0)
        var lines = AuditLinesForward(of: log, from: builder.start)
        while let line = try lines.next() {
            builder.add(line)
            guard builder.isFull else { continue }
            words += builder.finished
            builder = AuditBlockBuilder(following: builder)
            guard blockCount - written >= Self.blocksPerWrite else { continue }
            guard write(from: written, to: descriptor) else { return false }
            written = blockCount
        }
        guard written == blockCount || write(from: written, to: descriptor) else { return false }
        // What is behind was torn, or belonged to another log.
        let size = off_t(8 + words.count * MemoryLayout<UInt64>.size)
        return lseek(descriptor, 0, SEEK_END) == size || ftruncate(descriptor, size) == 0
    }

    private func write(from first: Int, to descriptor: Int32) -> Bool {
        Self.write(
            words[(first * AuditBlock.wordCount)...], to: descriptor,
            at: 8 + first * AuditBlock.byteCount)
    }

    private static func write(
        _ words: ArraySlice<UInt64>, to descriptor: Int32, at start: Int
    ) -> Bool {
        words.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = pwrite(
                    descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent,
                    off_t(start + sent))
                if count > 0 {
                    sent += count
                } else if count == 0 || errno != EINTR {
                    return false
                }
            }
            return true
        }
    }
}
