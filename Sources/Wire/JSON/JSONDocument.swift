/// A checked JSON text and the index over its bytes.
///
/// Never changes once made, so its values may be read from any thread.
@usableFromInline
package final class JSONDocument: Sendable {
    @usableFromInline let bytes: [UInt8]
    @usableFromInline let tape: JSONTape

    /// Checks a text and indexes it.
    ///
    /// - Parameters:
    ///   - bytes: one JSON text by RFC 8259 in UTF-8, white space around it allowed; at most 1 GiB.
    ///   - depthMax: how deep containers may be nested.
    /// - Throws: `JSONError` at the first place that is not JSON or is beyond a limit, at a key that its
    ///   object already has, or at a surrogate without its other half.
    package init(parsing bytes: [UInt8], depthMax: Int = 64) throws(JSONError) {
        self.bytes = bytes
        var tape = JSONTape(forTextOf: bytes.count)
        try bytes.withUnsafeBufferPointer { (text) throws(JSONError) in
            guard let start = text.baseAddress else {
                throw JSONError(at: 0, in: text, reason: "expected a value")
            }
            let parser = JSONParser(text: text, depthMax: depthMax, start: start)
            do throws(JSONRefusal) {
                try parser.parse(into: &tape)
            } catch { throw error.error(in: text, depthMax: depthMax) }
        }
        self.tape = tape
    }

    /// What the index over a text takes at most, in bytes.
    package static func indexBytesMax(for bytes: [UInt8]) -> Int {
        var wordCount = 1
        bytes.withUnsafeBufferPointer { bytes in
            // As many bytes as can be counted in one, so that many are looked at in one step.
            for start in stride(from: 0, to: bytes.count, by: 127) {
                var count: UInt8 = 0
                for byte in bytes[start..<min(start + 127, bytes.count)] {
                    // Each value stands behind one of these, and a container has a second word.
                    let isSeparator = byte == UInt8(ascii: ",") || byte == UInt8(ascii: ":")
                    let isOpening = byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
                    count &+= (isSeparator ? 1 : 0) &+ (isOpening ? 2 : 0)
                }
                wordCount += Int(count)
            }
        }
        return JSONTape.bytesMax(forWords: wordCount, textBytes: bytes.count)
    }

    /// As `init(parsing:depthMax:)`, for bytes that belong to someone else.
    package convenience init(
        copying bytes: UnsafeRawBufferPointer, depthMax: Int = 64
    ) throws(JSONError) {
        try self.init(parsing: [UInt8](bytes), depthMax: depthMax)
    }

    /// The value that the text is.
    @inlinable package var root: JSONValue { JSONValue(document: self, index: 0) }
}
