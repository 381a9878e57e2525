import CSQLite

/// A database as it is at one moment, in the bytes of a file without a log; writes go on meanwhile.
///
/// Bytes of a page that hold nothing may differ from one reading to the next: on their way from the log to the file they
/// are overwritten by zeros.
///
/// It reads pages where they lie, in the file or in its log, while a snapshot keeps checkpoints from bringing newer
/// ones into the file. So nobody needs room for a copy. What the log looks like is SQLite's documented format
/// (https://www.sqlite.org/walformat.html). Used by one thread, and only within `Connection.image`.
package final class DatabaseImage {
    package let byteCount: Int64
    private let connection: Connection
    private let pageBytes: Int
    /// Where in the log the last committed version of a page lies; a page that is not here lies in the file.
    private var logged: [UInt32: Int64] = [:]
    /// The header of the log that `logged` speaks of.
    private var header: [UInt8]

    private static let headerBytes = 32
    private static let frameHeaderBytes = 24

    /// - Precondition: the connection is in a snapshot.
    fileprivate init(_ connection: Connection) throws {
        self.connection = connection
        pageBytes = try connection.number("PRAGMA page_size")
        var log = LogScan(connection, pageBytes: pageBytes)
        // A log that was wholly in the file may be begun again during the scan, but then only once.
        for _ in 0..<2 where try log.isStale() { try log.run() }
        header = log.header
        logged = log.locations
        let pages = log.pageCount == 0 ? try connection.number("PRAGMA page_count") : log.pageCount
        byteCount = Int64(pages) * Int64(pageBytes)
    }

    /// Up to `count` bytes from an offset on; fewer only at the end.
    ///
    /// - Throws: `SQLiteError` when a page cannot be read.
    package func read(at offset: Int64, count: Int) throws -> [UInt8] {
        let end = min(byteCount, offset + Int64(count))
        guard offset < end else { return [] }
        let bytes = Result { try pages(offset, end) }
        guard try !logged.isEmpty && connection.logHeader() != header else {
            return try bytes.get()
        }
        // The log was begun again, which happens only when all of it is in the file.
        logged = [:]
        return try pages(offset, end)
    }

    private func pages(_ offset: Int64, _ end: Int64) throws -> [UInt8] {
        let size = Int64(pageBytes)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Int(end - offset) + pageBytes)
        for page in offset / size...(end - 1) / size {
            let location = logged[UInt32(page + 1)]
            bytes += try connection.file(
                location == nil ? .database : .log, location ?? page * size, count: pageBytes)
        }
        let skipped = Int(offset % size)
        if skipped == 0, bytes.count == Int(end - offset) { return bytes }
        return Array(bytes[skipped..<skipped + Int(end - offset)])
    }

    /// Reads through a log: which version of each page is its last committed one.
    private struct LogScan {
        let connection: Connection
        let pageBytes: Int
        var header: [UInt8] = []
        var locations: [UInt32: Int64] = [:]
        /// Pages of the database after the last commit; 0 where the log has none.
        var pageCount = 0
        private var wasRun = false

        init(_ connection: Connection, pageBytes: Int) {
            self.connection = connection
            self.pageBytes = pageBytes
        }

        func isStale() throws -> Bool { try !wasRun || connection.logHeader() != header }

        mutating func run() throws {
            (locations, pageCount, wasRun) = ([:], 0, true)
            header = try connection.logHeader()
            guard var sum = LogChecksum(header: header) else { return }
            var open: [UInt32: Int64] = [:]
            var offset = Int64(DatabaseImage.headerBytes)
            let end = connection.fileBytes(.log)
            let frameBytes = DatabaseImage.frameHeaderBytes + pageBytes
            while offset + Int64(frameBytes) <= end {
                // NB: a log that was begun again meanwhile may be shorter; then it is gone through again.
                guard let frame = try? connection.file(.log, offset, count: frameBytes) else {
                    guard try isStale() else { throw SQLiteError.unreadableLog }
                    return
                }
                // What follows the last frame is of an earlier log, or was never committed.
                guard frame[8..<16] == header[16..<24] else { break }
                sum.add(frame[..<8])
                sum.add(frame[DatabaseImage.frameHeaderBytes...])
                guard sum.matches(frame[16..<24]) else { break }
                open[LogChecksum.number(frame[..<4])] =
                    offset + Int64(DatabaseImage.frameHeaderBytes)
                let pages = LogChecksum.number(frame[4..<8])
                if pages > 0 {
                    locations.merge(open) { $1 }
                    open = [:]
                    pageCount = Int(pages)
                }
                offset += Int64(frameBytes)
            }
        }
    }
}

extension SQLiteError {
    fileprivate static var unreadableLog: SQLiteError {
        SQLiteError(code: SQLITE_IOERR, message: "cannot read the log")
    }
}

/// The sum that goes on from frame to frame of a log.
private struct LogChecksum {
    private var (first, second): (UInt32, UInt32) = (0, 0)
    private let isBigEndian: Bool

    /// Nil for what heads no log.
    init?(header: [UInt8]) {
        guard header.count == 32 else { return nil }
        let magic = Self.number(header[..<4])
        guard magic & ~1 == 0x377F_0682 else { return nil }
        isBigEndian = magic & 1 == 1
        add(header[..<24])
        guard matches(header[24...]) else { return nil }
    }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { bytes in
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                let words = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                var (low, high) = (UInt32(truncatingIfNeeded: words), UInt32(words >> 32))
                if isBigEndian { (low, high) = (low.byteSwapped, high.byteSwapped) }
                first &+= low &+ second
                second &+= high &+ first
            }
        }
    }

    func matches(_ bytes: ArraySlice<UInt8>) -> Bool {
        Self.number(bytes.prefix(4)) == first && Self.number(bytes.dropFirst(4)) == second
    }

    static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}

extension Connection {
    /// Has `body` read the database's bytes as they are at one moment.
    ///
    /// - Throws: whatever `body` throws; `SQLiteError` where the files cannot be read.
    package func image<Value>(_ body: (DatabaseImage) throws -> Value) throws -> Value {
        try snapshot { connection in
            // A snapshot begins with its first look.
            _ = try connection.number("SELECT count(*) FROM sqlite_schema")
            return try body(DatabaseImage(connection))
        }
    }

    fileprivate enum FilePart: Int32 { case database, log }

    fileprivate func number(_ sql: String) throws -> Int {
        try prepare(sql).first { Int($0.int64(0)) } ?? 0
    }

    fileprivate func logHeader() throws -> [UInt8] {
        guard fileBytes(.log) >= 32 else { return [] }
        return try file(.log, 0, count: 32)
    }

    fileprivate func fileBytes(_ part: FilePart) -> Int64 {
        lenticular_file_bytes(handle, part.rawValue)
    }

    fileprivate func file(_ part: FilePart, _ offset: Int64, count: Int) throws -> [UInt8] {
        var code = SQLITE_OK
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
            code = lenticular_read_file(
                handle, part.rawValue, bytes.baseAddress, Int32(count), offset)
            initialized = code == SQLITE_OK ? count : 0
        }
        guard code == SQLITE_OK else {
            throw SQLiteError(code: code, message: "cannot read \(path)")
        }
        return bytes
    }
}
