/// Where and why a text is not the JSON that this server takes.
///
/// The reason says what was expected and never repeats what was received, so it may be logged
/// and shown to the caller.
package struct JSONError: Error, Equatable, Sendable {
    /// Bytes before the place of the error.
    package let offset: Int
    /// Counted from 1; lines end with LF.
    package let line: Int
    /// Counted from 1, in Unicode scalars.
    package let column: Int
    /// What was expected, as a phrase without a capital or a full stop.
    package let reason: String

    /// Makes an error with its place counted in the text it belongs to.
    package init(at offset: Int, in text: UnsafeBufferPointer<UInt8>, reason: String) {
        let position = JSONPosition(of: offset, in: text)
        self.offset = offset
        self.line = position.line
        self.column = position.column
        self.reason = reason
    }
}

extension JSONError: CustomStringConvertible {
    package var description: String { "line \(line), column \(column): \(reason)" }
}

/// A place in a text for people: line and column, counted from 1.
package struct JSONPosition: Equatable, Sendable {
    package let line: Int
    package let column: Int

    /// Counts lines and Unicode scalars up to a byte; an offset past the end means the end.
    package init(of offset: Int, in text: UnsafeBufferPointer<UInt8>) {
        var line = 1
        var column = 1
        for byte in text.prefix(offset) {
            if byte == 0x0A {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        self.line = line
        self.column = column
    }
}
