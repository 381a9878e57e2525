import CZlib

/// Undoes gzip piece by piece, never beyond a limit.
final class Inflater {
    private static let pieceBytes = 64 * 1024

    private var stream = z_stream()
    private var isReady: Bool
    /// Whether any byte has come, and whether the last one has.
    private(set) var hasInput = false
    private(set) var isFinished = false

    init() {
        // 15 is the largest window, 16 says gzip and nothing else.
        isReady =
            inflateInit2_(
                &stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    }

    deinit { if isReady { inflateEnd(&stream) } }

    /// The last call stopped with output left to make of bytes that it took.
    private(set) var hasMoreOutput = false

    /// Makes what the bytes hold, until so much of it is made.
    ///
    /// - Parameter take: gets the output piece by piece.
    /// - Returns: how many bytes were used; fewer than there are only where enough output was made.
    /// - Throws: 400 for what is no gzip and for bytes behind its end; what `take` throws.
    func inflate(
        _ bytes: UnsafeRawBufferPointer, outputBytes: Int,
        _ take: (UnsafeRawBufferPointer) throws(WireFault) -> Void
    ) throws(WireFault) -> Int {
        guard isReady else { throw .malformedGzip }
        if bytes.isEmpty && !hasMoreOutput { return 0 }
        if !bytes.isEmpty {
            hasInput = true
            if isFinished { throw .malformedGzip }
        }
        let source = bytes.bindMemory(to: UInt8.self)
        stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
        stream.avail_in = UInt32(source.count)
        var fault: WireFault?
        withUnsafeTemporaryAllocation(byteCount: Self.pieceBytes, alignment: 16) { piece in
            do throws(WireFault) {
                var made = 0
                repeat {
                    made += try inflatePiece(piece, take)
                } while made < outputBytes && (stream.avail_in > 0 || hasMoreOutput)
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
        return source.count - Int(stream.avail_in)
    }

    private func inflatePiece(
        _ piece: UnsafeMutableRawBufferPointer,
        _ take: (UnsafeRawBufferPointer) throws(WireFault) -> Void
    ) throws(WireFault) -> Int {
        if isFinished { throw .malformedGzip }
        stream.next_out = piece.bindMemory(to: UInt8.self).baseAddress
        stream.avail_out = UInt32(piece.count)
        let result = CZlib.inflate(&stream, Z_NO_FLUSH)
        let produced = piece.count - Int(stream.avail_out)
        try take(UnsafeRawBufferPointer(rebasing: piece[..<produced]))
        switch result {
        case Z_STREAM_END: isFinished = true
        case Z_OK: break
        // Nothing left to do with what is there is no fault yet.
        case Z_BUF_ERROR where stream.avail_in == 0: break
        default: throw .malformedGzip
        }
        hasMoreOutput = stream.avail_out == 0 && !isFinished
        return produced
    }
}
