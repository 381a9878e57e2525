import CloudModel
import JSON

/// How weighty an event is.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
    case info, warning, error

    /// More for what is graver.
    var weight: Int {
        switch self {
        case .info: 0
        case .warning: 1
        case .error: 2
        }
    }

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.weight < right.weight }
}

/// How events are written.
package enum LogFormat: String, Sendable, CaseIterable {
    /// One JSON object a line.
    case json
    /// One line of `key=value` for people.
    case text
}

/// A value beside an event's message.
package enum LogValue: Sendable, Equatable {
    case text(String)
    case number(Int64)
    case flag(Bool)
    /// A duration, written in milliseconds with three decimals.
    case microseconds(Int64)
}

/// One thing that happened: a message that is always the same, and fields that vary.
///
/// No field ever holds a record's contents, a token, a signature or a query string.
package struct LogEvent: Sendable {
    package let level: LogLevel
    package let message: StaticString
    package var fields: [(key: StaticString, value: LogValue)]

    package init(
        _ level: LogLevel, _ message: StaticString,
        _ fields: [(key: StaticString, value: LogValue)] = []
    ) {
        self.level = level
        self.message = message
        self.fields = fields
    }

    /// The line for the event, with its end.
    func line(at time: Milliseconds, as format: LogFormat) -> [UInt8] {
        format == .json ? jsonLine(at: time) : textLine(at: time)
    }

    private func jsonLine(at time: Milliseconds) -> [UInt8] {
        var line = JSONLine(reserving: 448)
        line.beginObject()
        line.key("time")
        line.text(Timestamp(time).text)
        line.key("level")
        line.text(level.rawValue)
        line.key("message")
        line.text(message.description)
        for (key, value) in fields {
            line.key(key)
            switch value {
            case .text(let text): line.text(text)
            case .number(let number): line.number(number)
            case .flag(let flag): line.flag(flag)
            case .microseconds(let number): line.thousandths(number)
            }
        }
        line.endObject()
        line.lineEnd()
        return line.bytes
    }

    private func textLine(at time: Milliseconds) -> [UInt8] {
        var text = "\(Timestamp(time).text) \(level.rawValue) \(message)"
        for (key, value) in fields {
            text += " \(key)="
            switch value {
            case .text(let value): text += LogEvent.shown(value)
            case .number(let number): text += String(number)
            case .flag(let flag): text += String(flag)
            case .microseconds(let number):
                let tenths = (number + 50) / 100
                text += "\(tenths / 10).\(tenths % 10)"
            }
        }
        return Array((text + "\n").utf8)
    }

    /// Text as it is when that is one plain word, otherwise as a JSON string.
    private static func shown(_ text: String) -> String {
        let isPlain =
            !text.isEmpty
            && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x5c }
        if isPlain { return text }
        var line = JSONLine()
        line.text(text)
        return String(decoding: line.bytes, as: UTF8.self)
    }
}
