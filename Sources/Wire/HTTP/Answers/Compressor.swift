/// Decides which answers are worth compressing, and compresses the small ones.
///
/// On its loop's thread only.
final class Compressor {
    /// An answer's body as it goes out.
    enum Outcome {
        case plain
        case whole([UInt8])
        case pieces(GzipBody)
    }

    /// Larger bodies are compressed in pieces, so that no turn of the loop takes long.
    static let wholeBytesMax = 32 * 1024
    /// Streams at a time, each holding its own window; more answers go out plain.
    static let streamCountMax = 64

    private var deflater: Deflater?
    /// How many streams are under way.
    var streamCount = 0

    /// True for text in any of its forms, when the responder has not encoded it already.
    static func isWorthIt(_ response: HTTPResponse, bodyBytesMin: Int) -> Bool {
        guard response.body.count >= bodyBytesMin, response.status == 200 || response.status >= 400
        else { return false }
        var isText = false
        for field in response.headers {
            var name = field.name
            if name.withUTF8({ ResponseSerializer.isText($0, "content-encoding") }) { return false }
            if name.withUTF8({ ResponseSerializer.isText($0, "content-type") }) {
                isText = isTextual(field.value)
            }
        }
        return isText
    }

    private static func isTextual(_ type: String) -> Bool {
        let type = type.lowercased()
        return type.hasPrefix("text/") || type.hasPrefix("application/json")
            || type.hasPrefix("application/javascript") || type.hasPrefix("image/svg+xml")
    }

    func compress(_ body: [UInt8]) -> Outcome {
        if body.count > Self.wholeBytesMax {
            return streamCount < Self.streamCountMax ? .pieces(GzipBody(body)) : .plain
        }
        let deflater = deflater ?? Deflater()
        self.deflater = deflater
        let capacity = deflater.outputBytesMax(body.count)
        var isWhole = false
        let compressed = [UInt8](unsafeUninitializedCapacity: capacity) { storage, initialized in
            let count = body.withUnsafeBytes {
                deflater.deflate($0, isLast: true, into: UnsafeMutableRawBufferPointer(storage))
            }
            isWhole = count != nil
            initialized = count ?? 0
        }
        guard isWhole else {
            // Whatever went wrong with this one stays with it.
            self.deflater = nil
            return .plain
        }
        return compressed.count < body.count ? .whole(compressed) : .plain
    }
}
