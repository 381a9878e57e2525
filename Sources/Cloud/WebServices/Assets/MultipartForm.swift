import CloudModel
import Platform

/// Finds the only part named `files` in a body of `multipart/form-data` (RFC 7578) while the body arrives.
///
/// It stores only bytes that may begin a delimiter, or a part's head.
struct MultipartForm {
    /// How many bytes everything besides the file may take together.
    static let overheadBytesMax = 65_536
    /// RFC 2046 §5.1.1.
    private static let boundaryBytesMax = 70

    private enum State {
        /// Before the first delimiter.
        case preamble
        /// Behind a delimiter: two hyphens end the body, a line end begins a part.
        case delimiter
        case head
        case file
        /// A part that is not wanted.
        case other
        case epilogue
    }

    /// `CR LF -- boundary`.
    private let delimiter: [UInt8]
    private var state = State.preamble
    private var waiting: [UInt8]
    private var hasFile = false
    private var overhead = 0

    /// Nil for any other type than multipart/form-data: then the whole body is the file.
    ///
    /// - Throws: `Fault` BAD_REQUEST for that type without a usable boundary.
    init?(contentType: String?) throws(Fault) {
        guard let contentType else { return nil }
        let (type, parameters) = HeaderParameters.read(contentType.utf8)
        guard type == "multipart/form-data" else { return nil }
        guard let boundary = parameters["boundary"],
            (1...Self.boundaryBytesMax).contains(boundary.utf8.count)
        else {
            throw .badRequest(
                "Content-Type: multipart/form-data needs a boundary of 1 to 70 characters")
        }
        delimiter = Array("\r\n--\(boundary)".utf8)
        // The first delimiter may stand at the very beginning.
        waiting = [0x0D, 0x0A]
    }

    /// Takes the next piece, and passes on the bytes in it that belong to the file.
    ///
    /// - Throws: `Fault` BAD_REQUEST when this is no such form, and what the closure throws.
    mutating func take(
        _ piece: [UInt8], file: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        waiting += piece
        var rest = waiting[...]
        while try step(&rest, file) {}
        waiting = Array(rest)
    }

    /// - Throws: `Fault` BAD_REQUEST for a form that is cut short or has no part named `files`.
    func finish() throws(Fault) {
        guard state == .epilogue else {
            throw .badRequest("the multipart body ends before its last boundary")
        }
        guard hasFile else {
            throw .badRequest("the multipart body has no part named 'files'")
        }
    }

    /// - Returns: whether the bytes so far allow a further step.
    private mutating func step(
        _ rest: inout ArraySlice<UInt8>, _ file: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        switch state {
        case .preamble, .other:
            let (before, isFound) = split(&rest)
            try count(before.count)
            if isFound { state = .delimiter }
            return isFound
        case .file:
            let (before, isFound) = split(&rest)
            if !before.isEmpty { try before.withUnsafeBytes { try file($0) } }
            if isFound { state = .delimiter }
            return isFound
        case .delimiter: return try stepBehindDelimiter(&rest)
        case .head: return try stepHead(&rest)
        case .epilogue:
            try count(rest.count)
            rest = []
            return false
        }
    }

    private mutating func stepBehindDelimiter(_ rest: inout ArraySlice<UInt8>) throws -> Bool {
        // White space may stand between a delimiter and its line's end.
        let blanks = rest.prefix { $0 == 0x20 || $0 == 0x09 }
        let next = rest.dropFirst(blanks.count)
        guard next.count >= 2 else {
            guard blanks.count < 256 else { throw Self.malformed }
            return false
        }
        if next.starts(with: "--".utf8) {
            state = .epilogue
        } else if next.starts(with: [0x0D, 0x0A]) {
            state = .head
        } else {
            throw Self.malformed
        }
        try count(blanks.count + 2)
        rest = next.dropFirst(2)
        return true
    }

    private mutating func stepHead(_ rest: inout ArraySlice<UInt8>) throws -> Bool {
        guard let end = Self.headEnd(rest) else {
            guard rest.count <= 8_192 else { throw Self.malformed }
            return false
        }
        let lines = Self.lines(rest[..<end])
        try count(end - rest.startIndex)
        rest = rest[end...]
        state = .other
        for line in lines {
            let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1)
            guard parts.count == 2,
                String(decoding: parts[0], as: UTF8.self).lowercased() == "content-disposition"
            else { continue }
            let (kind, parameters) = HeaderParameters.read(parts[1])
            guard kind == "form-data", parameters["name"] == "files" else { continue }
            guard !hasFile else {
                throw Fault.badRequest("the multipart body has two parts named 'files'")
            }
            hasFile = true
            state = .file
        }
        return true
    }

    /// The lines of a head, those that go on in the next one joined.
    private static func lines(_ head: ArraySlice<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for piece in head.split(separator: 0x0A) {
            let line = piece.last == 0x0D ? piece.dropLast() : piece
            if let first = line.first, first == 0x20 || first == 0x09, !lines.isEmpty {
                lines[lines.count - 1] += line
            } else {
                lines.append(Array(line))
            }
        }
        return lines
    }

    /// Where a head's empty line ends; a part without fields begins with it.
    private static func headEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
        if bytes.starts(with: [0x0D, 0x0A]) { return bytes.startIndex + 2 }
        var index = bytes.startIndex
        while index + 3 < bytes.endIndex {
            if bytes[index] == 0x0D, bytes[index + 1] == 0x0A, bytes[index + 2] == 0x0D,
                bytes[index + 3] == 0x0A
            {
                return index + 4
            }
            index += 1
        }
        return nil
    }

    /// Takes what is certainly before the next delimiter, and the delimiter if it is there.
    private func split(
        _ rest: inout ArraySlice<UInt8>
    ) -> (before: ArraySlice<UInt8>, isFound: Bool) {
        let delimiter = delimiter
        let match = rest.withUnsafeBytes { bytes -> (offset: Int, isFound: Bool) in
            guard let base = bytes.baseAddress else { return (0, false) }
            var from = 0
            while from < bytes.count {
                guard let found = memchr(base + from, 0x0D, bytes.count - from) else {
                    return (bytes.count, false)
                }
                let offset = UnsafeRawPointer(found) - base
                let length = min(delimiter.count, bytes.count - offset)
                if memcmp(base + offset, delimiter, length) == 0 {
                    return (offset, length == delimiter.count)
                }
                from = offset + 1
            }
            return (bytes.count, false)
        }
        let middle = rest.startIndex + match.offset
        let before = rest[..<middle]
        rest = rest[(middle + (match.isFound ? delimiter.count : 0))...]
        return (before, match.isFound)
    }

    private mutating func count(_ bytes: Int) throws {
        overhead += bytes
        guard overhead <= Self.overheadBytesMax else {
            throw Fault.badRequest(
                "the multipart body has over \(Self.overheadBytesMax) bytes beside its file")
        }
    }

    private static let malformed = Fault.badRequest("the multipart body is malformed")
}
