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

    /// Appends what the bytes hold.
    ///
    /// - Throws: 413 when the output would pass the limit, 400 for what is no gzip and for bytes
    ///   behind its end.
    func inflate(
        _ bytes: UnsafeRawBufferPointer, into output: inout [UInt8], outputBytesMax: Int
    ) throws(WireFault) {
        guard isReady else { throw .malformedGzip }
        if bytes.isEmpty { return }
        hasInput = true
        if isFinished { throw .malformedGzip }
        let source = bytes.bindMemory(to: UInt8.self)
        stream.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
        stream.avail_in = UInt32(source.count)
        var fault: WireFault?
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.pieceBytes) { piece in
            do throws(WireFault) {
                repeat {
                    try inflatePiece(piece, into: &output, outputBytesMax: outputBytesMax)
                } while stream.avail_in > 0 || (stream.avail_out == 0 && !isFinished)
            } catch {
                fault = error
            }
        }
        if let fault { throw fault }
    }

    private func inflatePiece(
        _ piece: UnsafeMutableBufferPointer<UInt8>, into output: inout [UInt8], outputBytesMax: Int
    ) throws(WireFault) {
        if isFinished { throw .malformedGzip }
        stream.next_out = piece.baseAddress
        stream.avail_out = UInt32(piece.count)
        let result = CZlib.inflate(&stream, Z_NO_FLUSH)
        let produced = piece.count - Int(stream.avail_out)
        if output.count + produced > outputBytesMax { throw .bodyTooLarge }
        output.append(contentsOf: UnsafeBufferPointer(rebasing: piece[..<produced]))
        switch result {
        case Z_STREAM_END: isFinished = true
        case Z_OK: break
        // Nothing left to do with what is there is no fault yet.
        case Z_BUF_ERROR where stream.avail_in == 0: break
        default: throw .malformedGzip
        }
    }
}
