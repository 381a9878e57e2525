import JSON
import Storage

/// What a command has to say once it is done.
package struct CommandOutput: Sendable {
    /// A value of the JSON object that `--json` prints.
    package enum Value: Sendable {
        case text(String)
        case texts([String])
        case flag(Bool)
        case number(Int64)
        case object([(key: String, value: Value)])
        case objects([[(key: String, value: Value)]])
        /// Objects that are JSON already, as clients of the protocol get them.
        case encoded([[UInt8]])
    }

    /// What people read; may be several lines.
    package var text: String
    package var values: [(key: String, value: Value)]
    /// 0, or 1 when the command ran and its answer is bad news.
    package var status: Int32
    /// What goes to the file that the command was given for it; nil for none.
    package var file: [UInt8]?
    /// Whether nothing was done yet: the command, run again with `--yes`, does what it says here.
    package var asks = false
    /// Whether it is the last line where the command has streamed lines before; else these were all.
    package var endsStream = false

    package init(
        _ text: String = "", values: [(key: String, value: Value)] = [], status: Int32 = 0
    ) {
        self.text = text
        self.values = values
        self.status = status
    }

    /// One page of a list: a line for each item, and how to go on where there are more.
    ///
    /// - Parameter empty: what people read when there is nothing.
    package static func page(
        lines: [String], values: [(key: String, value: Value)], next: ListCursor?,
        empty: String = ""
    ) -> CommandOutput {
        let more = next.map { ["more: --after \($0.text)"] } ?? []
        return CommandOutput(
            lines.isEmpty && more.isEmpty ? empty : (lines + more).joined(separator: "\n"),
            values: values + (next.map { [("after", .text($0.text))] } ?? []))
    }

    /// What goes to standard output, with the line's end.
    package func rendered(asJSON: Bool) -> [UInt8] {
        guard asJSON else { return text.isEmpty ? [] : Array((text + "\n").utf8) }
        var line = JSONLine()
        line.object(values)
        return line.bytes + [UInt8(ascii: "\n")]
    }
}

extension JSONLine {
    fileprivate mutating func object(_ members: [(key: String, value: CommandOutput.Value)]) {
        beginObject()
        for (key, value) in members {
            self.key(key)
            self.value(value)
        }
        endObject()
    }

    private mutating func value(_ value: CommandOutput.Value) {
        switch value {
        case .text(let text): self.text(text)
        case .flag(let flag): self.flag(flag)
        case .number(let number): self.number(number)
        case .texts(let texts):
            beginArray()
            for text in texts { self.text(text) }
            endArray()
        case .object(let members): object(members)
        case .encoded(let values):
            beginArray()
            for value in values { encoded(value) }
            endArray()
        case .objects(let objects):
            beginArray()
            for members in objects { object(members) }
            endArray()
        }
    }
}
