/// An address that mail can be sent to or from, in the form that goes on the wire unchanged.
///
/// The common part of RFC 5321 §4.1.2: a dot-atom and a host's name, in ASCII. Nothing in it can end a
/// line, a header or a command.
package struct MailAddress: Sendable, Hashable, CustomStringConvertible {
    package static let bytesMax = 254
    private static let localBytesMax = 64
    private static let punctuation = Array("!#$%&'*+-/=?^_`{|}~".utf8)

    package let description: String

    /// Nil for anything else: quotes, comments, white space, letters beyond ASCII.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.bytesMax, let at = text.lastIndex(of: "@") else { return nil }
        let (local, host) = (text[..<at], text[text.index(after: at)...])
        guard local.utf8.count <= Self.localBytesMax, Self.isDotAtom(local), Self.isHost(host)
        else { return nil }
        description = text
    }

    private static func isDotAtom(_ text: Substring) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            !part.isEmpty
                && part.utf8.allSatisfy { isAlphanumeric($0) || punctuation.contains($0) }
        }
    }

    private static func isHost(_ text: Substring) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && label.utf8.count <= 63 && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
