import CZlib

/// Makes one gzip stream after another.
final class Deflater {
    /// How much is tried to make the output small.
    enum Effort: Int32 {
        /// For what is made for one answer.
        case least = 1
        case most = 9
    }

    private var stream = z_stream()
    private let isReady: Bool

    init(_ effort: Effort = .least) {
        // 15 is the largest window, 16 asks for gzip; 8 is zlib's own choice of memory.
        isReady =
            deflateInit2_(
                &stream, effort.rawValue, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
    }

    deinit { if isReady { deflateEnd(&stream) } }

    /// A bound on what so many bytes can become, header and trailer included.
    func outputBytesMax(_ inputBytes: Int) -> Int {
        Int(deflateBound(&stream, UInt(inputBytes))) + 64
    }

    /// Compresses a piece of the stream, and the end of it with the last one.
    ///
    /// - Parameter output: at least `outputBytesMax` of the input in size.
    /// - Returns: the bytes written; nil when zlib failed.
    func deflate(
        _ input: UnsafeRawBufferPointer, isLast: Bool, into output: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard isReady else { return nil }
        let source = input.bindMemory(to: UInt8.self)
        let target = output.bindMemory(to: UInt8.self)
        stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
        stream.avail_in = UInt32(source.count)
        stream.next_out = target.baseAddress
        stream.avail_out = UInt32(target.count)
        let result = CZlib.deflate(&stream, isLast ? Z_FINISH : Z_NO_FLUSH)
        guard result == (isLast ? Z_STREAM_END : Z_OK), stream.avail_in == 0 else { return nil }
        if isLast { deflateReset(&stream) }
        return target.count - Int(stream.avail_out)
    }
}

/// A large body that is compressed piece by piece, as the client takes it.
final class GzipBody {
    /// The input of one piece: what one turn of the loop compresses.
    static let pieceBytes = 32 * 1024
    /// The length of a chunk is written in so many digits.
    private static let sizeDigits = 5

    private let body: [UInt8]
    private var position = 0
    private let deflater = Deflater()

    init(_ body: [UInt8]) { self.body = body }

    /// The next piece as a chunk, the last with the end of the chunked coding.
    ///
    /// - Returns: nil when zlib failed or nothing is left.
    func nextPiece() -> [UInt8]? {
        // A piece that zlib keeps back whole would be a chunk of no bytes, which means the end.
        while position < body.count {
            let start = position
            position = min(start + Self.pieceBytes, body.count)
            guard let piece = compress(start..<position) else { return nil }
            if !piece.isEmpty { return piece }
        }
        return nil
    }

    var isAtEnd: Bool { position == body.count }

    private func compress(_ range: Range<Int>) -> [UInt8]? {
        let isLast = range.upperBound == body.count
        let headBytes = Self.sizeDigits + 2
        let tail: StaticString = isLast ? "\r\n0\r\n\r\n" : "\r\n"
        // What was held back of the piece before comes with this one.
        let capacity = deflater.outputBytesMax(range.count + Self.pieceBytes)
        var hasFailed = false
        let piece = [UInt8](
            unsafeUninitializedCapacity: headBytes + capacity + tail.utf8CodeUnitCount
        ) { storage, initialized in
            let bytes = UnsafeMutableRawBufferPointer(storage)
            let output = UnsafeMutableRawBufferPointer(
                rebasing: bytes[headBytes..<headBytes + capacity])
            let count = body.withUnsafeBytes { body in
                deflater.deflate(
                    UnsafeRawBufferPointer(rebasing: body[range]), isLast: isLast, into: output)
            }
            hasFailed = count == nil
            guard let count, count > 0 else { return }
            initialized = Self.frame(bytes, count, headBytes, tail)
        }
        return hasFailed ? nil : piece
    }

    /// Writes length and line ends around the bytes of a chunk.
    private static func frame(
        _ bytes: UnsafeMutableRawBufferPointer, _ count: Int, _ headBytes: Int, _ tail: StaticString
    ) -> Int {
        for digit in 0..<sizeDigits {
            let value = UInt8(truncatingIfNeeded: count >> ((sizeDigits - 1 - digit) * 4)) & 15
            bytes[digit] = value < 10 ? 48 + value : 87 + value
        }
        bytes[sizeDigits] = 0x0D
        bytes[sizeDigits + 1] = 0x0A
        for index in 0..<tail.utf8CodeUnitCount {
            bytes[headBytes + count + index] = tail.utf8Start[index]
        }
        return headBytes + count + tail.utf8CodeUnitCount
    }
}
