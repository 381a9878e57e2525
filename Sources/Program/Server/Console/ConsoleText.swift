/// A file of the console as browsers get it: without what only readers of its source need.
enum ConsoleText {
    /// Leaves out indentation, empty lines, and lines that are comments; of a script also the spaces and line breaks that
    /// its language does not need.
    ///
    /// A text of several lines in a source is markup, in which indentation means nothing, or says by itself where its lines
    /// begin.
    static func served(_ bytes: [UInt8], of name: String) -> [UInt8] {
        guard name.hasSuffix(".js") || name.hasSuffix(".css") else { return bytes }
        var served: [UInt8] = []
        served.reserveCapacity(bytes.count)
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let text = line.drop { $0 == UInt8(ascii: " ") }
            guard !text.isEmpty, !text.starts(with: "//".utf8) else { continue }
            served += text
            served.append(UInt8(ascii: "\n"))
        }
        return name.hasSuffix(".js") ? ScriptText(served).compacted() : served
    }
}
