import Platform

/// The lines of a log from one of them to the first, in pieces of the file.
struct AuditLinesBackward {
    private static let pieceBytes: Int64 = 65_536

    /// Behind the line that comes next.
    private(set) var end: Int64
    private let descriptor: Int32
    /// What lies before `end`, as far as it was read.
    private var piece: ArraySlice<UInt8> = []

    /// - Throws: as `AuditPage`.
    init(of descriptor: Int32, before end: Int64?) throws(AuditFailure) {
        self.descriptor = descriptor
        let size = Int64(lseek(descriptor, 0, SEEK_END))
        guard size >= 0 else { throw AuditLog.failure("lseek") }
        if let end {
            guard (1...max(size, 1)).contains(end) else { throw .locationUnknown }
            self.end = end
            guard size > 0, try readPiece(), piece.last == 0x0A else { throw .locationUnknown }
        } else {
            self.end = size
            // What is behind the last line end is being written, or was when the machine stopped.
            while try isFilled(), piece.last != 0x0A {
                piece.removeLast()
                self.end -= 1
            }
        }
    }

    /// The line before, without its line end; nil at the beginning of the file.
    ///
    /// A line that is longer than any may be comes cut, and longer than `AuditLine.bytesMax`.
    mutating func next() throws(AuditFailure) -> [UInt8]? {
        guard try isFilled() else { return nil }
        while true {
            let line = piece.dropLast()
            if let before = line.lastIndex(of: 0x0A) { return cut(after: before, line) }
            if line.count > AuditLine.bytesMax {
                let last = cut(after: nil, line)
                try skipLine()
                return last
            }
            guard try readPiece() else { return cut(after: nil, line) }
        }
    }

    /// Takes what lies behind a line's end away from the piece.
    private mutating func cut(after lineEnd: Int?, _ line: ArraySlice<UInt8>) -> [UInt8] {
        let kept = lineEnd.map { piece[...$0] } ?? []
        end -= Int64(piece.count - kept.count)
        piece = kept
        return Array(line[max(kept.endIndex, line.startIndex)...])
    }

    /// Goes to the beginning of a line of which the end is taken away.
    private mutating func skipLine() throws(AuditFailure) {
        while piece.isEmpty {
            guard try readPiece() else { return }
            _ = cut(after: piece.lastIndex(of: 0x0A), piece)
        }
    }

    /// Whether anything lies before `end`; then some of it was read.
    private mutating func isFilled() throws(AuditFailure) -> Bool {
        if !piece.isEmpty { return true }
        return try readPiece()
    }

    /// Puts the bytes before it in front of the piece; false when there are none.
    private mutating func readPiece() throws(AuditFailure) -> Bool {
        let start = end - Int64(piece.count)
        let wanted = Int(min(start, Self.pieceBytes))
        guard wanted > 0 else { return false }
        let bytes = try AuditLog.read(
            descriptor, from: start - Int64(wanted), count: wanted)
        piece = (bytes + piece)[...]
        return true
    }
}

/// The lines of a log from one of them to the last that is whole, in pieces of the file.
struct AuditLinesForward {
    private static let pieceBytes = 1 << 20

    private let descriptor: Int32
    private var offset: Int64
    private var piece: ArraySlice<UInt8> = []

    init(of descriptor: Int32, from start: Int64) {
        self.descriptor = descriptor
        offset = start
    }

    /// The next line with its line end; nil where none ends.
    mutating func next() throws(AuditFailure) -> [UInt8]? {
        var searched = piece.startIndex
        while true {
            if let end = piece[searched...].firstIndex(of: 0x0A) {
                let line = Array(piece[...end])
                piece = piece[(end + 1)...]
                return line
            }
            let count = piece.count
            guard try readPiece() else { return nil }
            searched = piece.startIndex + count
        }
    }

    private mutating func readPiece() throws(AuditFailure) -> Bool {
        var bytes = [UInt8](repeating: 0, count: Self.pieceBytes)
        var count = pread(descriptor, &bytes, bytes.count, off_t(offset))
        while count < 0, errno == EINTR {
            count = pread(descriptor, &bytes, bytes.count, off_t(offset))
        }
        guard count >= 0 else { throw AuditLog.failure("pread") }
        offset += Int64(count)
        piece = (Array(piece) + bytes[..<count])[...]
        return count > 0
    }
}
