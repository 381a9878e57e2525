import CZlib

/// One stream of deflate (RFC 1951) without a frame around it.
final class RawDeflater {
    private static let pieceBytes = 65_536

    private var stream = z_stream()

    /// Nil without memory.
    init?() {
        // A negative size of the window asks for no frame.
        let result = deflateInit2_(
            &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
            Int32(MemoryLayout<z_stream>.size))
        guard result == Z_OK else { return nil }
    }

    deinit { deflateEnd(&stream) }

    /// What the bytes become, as far as it is known already; with the last ones, all that is left.
    func deflate(_ input: ArraySlice<UInt8>, isLast: Bool) -> [UInt8]? {
        var packed: [UInt8] = []
        var rest = input
        repeat {
            let piece = rest.prefix(1 << 30)
            rest = rest.dropFirst(piece.count)
            let isEnd = isLast && rest.isEmpty
            guard deflatePiece(piece, isLast: isEnd, into: &packed) else { return nil }
        } while !rest.isEmpty
        return packed
    }

    private func deflatePiece(
        _ input: ArraySlice<UInt8>, isLast: Bool, into packed: inout [UInt8]
    ) -> Bool {
        var output = [UInt8](repeating: 0, count: Self.pieceBytes)
        return input.withUnsafeBufferPointer { input in
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.avail_in = UInt32(input.count)
            while true {
                let (result, count) = output.withUnsafeMutableBufferPointer { output in
                    stream.next_out = output.baseAddress
                    stream.avail_out = UInt32(output.count)
                    let result = CZlib.deflate(&stream, isLast ? Z_FINISH : Z_NO_FLUSH)
                    return (result, output.count - Int(stream.avail_out))
                }
                packed += output[..<count]
                switch result {
                case Z_STREAM_END: return true
                // No progress is possible: there was nothing to do.
                case Z_BUF_ERROR: return !isLast
                case Z_OK: if !isLast, stream.avail_in == 0, count < output.count { return true }
                default: return false
                }
            }
        }
    }
}
