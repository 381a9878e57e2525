/// A header's value with parameters, such as `form-data; name="files"` (RFC 9110 §5.6.6).
///
/// It is read byte by byte, because a combining mark after a quote in a file's name would form one character
/// with it.
enum HeaderParameters {
    /// The value in lower case, and the parameters by their names in lower case.
    ///
    /// The first parameter of a name counts. A quote that is not closed ends with the text: browsers send
    /// such text for a file name that ends with a backslash.
    static func read(
        _ text: some Sequence<UInt8>
    ) -> (value: String, parameters: [String: String]) {
        var pieces: [[UInt8]] = [[]]
        var isQuoted = false
        var isEscaped = false
        for byte in text {
            if isEscaped {
                pieces[pieces.count - 1].append(byte)
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ";"), !isQuoted {
                pieces.append([])
            } else {
                pieces[pieces.count - 1].append(byte)
            }
        }
        var parameters: [String: String] = [:]
        for piece in pieces.dropFirst() {
            let parts = piece.split(
                separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let name = trimmed(parts[0]).lowercased()
            if parameters[name] == nil { parameters[name] = trimmed(parts[1]) }
        }
        return (trimmed(pieces[0][...]).lowercased(), parameters)
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> String {
        var text = text
        while text.first == 0x20 || text.first == 0x09 { text = text.dropFirst() }
        while text.last == 0x20 || text.last == 0x09 { text = text.dropLast() }
        return String(decoding: text, as: UTF8.self)
    }
}
