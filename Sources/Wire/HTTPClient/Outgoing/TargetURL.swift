/// A URL that users or configurations name for the server to send something to, read strictly.
///
/// One reading serves the check and the connection, so that both speak of the same host and port.
package struct TargetURL: Sendable, Equatable, CustomStringConvertible {
    package static let bytesMax = 2_048

    package let origin: HTTPOrigin
    /// Path and query; `/` where there is no path.
    package let target: String

    /// Reads `https://HOST[:PORT][/PATH][?QUERY]`, or the same with `http`.
    ///
    /// Nil for anything else: a user's name, a fragment, a character that must be escaped, port 0, or
    /// more than `bytesMax` bytes.
    package init?(_ text: String, bytesMax: Int = TargetURL.bytesMax) {
        let isPlain = text.utf8.allSatisfy {
            0x21...0x7E ~= $0 && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "\\")
        }
        guard isPlain, text.utf8.count <= bytesMax, let scheme = text.firstRange(of: "://")
        else { return nil }
        let end = text[scheme.upperBound...].firstIndex { $0 == "/" || $0 == "?" } ?? text.endIndex
        guard let origin = HTTPOrigin(String(text[..<end])), origin.port > 0 else { return nil }
        self.origin = origin
        target = (text[end...].first == "/" ? "" : "/") + text[end...]
    }

    /// A path of our own at an origin.
    ///
    /// - Parameter target: begins with `/`, and holds nothing that must be escaped.
    package init(_ origin: HTTPOrigin, _ target: String) {
        self.origin = origin
        self.target = target
    }

    package var description: String { origin.text + target }
}
