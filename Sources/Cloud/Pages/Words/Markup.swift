/// HTML that escapes every text that is put in, so that a name cannot become a tag.
///
/// Written as a literal; what stands in it is ours, what is interpolated is text unless it is markup.
struct Markup: ExpressibleByStringInterpolation, Sendable {
    private(set) var text: String

    init(stringLiteral value: String) { text = value }

    init(stringInterpolation: Interpolation) { text = stringInterpolation.text }

    /// Markup that another part of the program made, with every text in it escaped.
    init(made text: String) { self.text = text }

    /// Pieces one after the other.
    init(_ pieces: [Markup]) { text = pieces.map(\.text).joined() }

    static let nothing: Markup = ""

    struct Interpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity)
        }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ value: String) { text += Markup.escaped(value) }

        mutating func appendInterpolation(_ phrase: Phrase) { text += Markup.escaped(phrase.text) }

        mutating func appendInterpolation(_ value: Int) { text += String(value) }

        mutating func appendInterpolation(_ value: Markup) { text += value.text }

        mutating func appendInterpolation(_ pieces: [Markup]) {
            for piece in pieces { text += piece.text }
        }
    }

    /// Good between tags and within quoted attributes.
    private static func escaped(_ value: String) -> String {
        var escaped = ""
        escaped.reserveCapacity(value.utf8.count)
        for scalar in value.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
