import Calendar
import Cryptography

/// A message of plain text, from the server to one person.
package struct MailMessage: Sendable {
    package let from: MailAddress
    /// Shown before the sender's address; empty for none.
    package let fromName: String
    package let to: MailAddress
    package let subject: String
    /// Lines end with a line feed.
    package let text: String
    /// Unique among all messages, such as a UUID: what `Message-ID` is made of.
    package let identifier: String
    /// Seconds since 1970.
    package let seconds: Int64

    package init(
        from: MailAddress, fromName: String = "", to: MailAddress, subject: String, text: String,
        identifier: String, seconds: Int64
    ) {
        self.from = from
        self.fromName = fromName
        self.to = to
        self.subject = subject
        self.text = text
        self.identifier = identifier
        self.seconds = seconds
    }

    /// The message as it is handed over (RFC 5322, RFC 2045), lines ending with CR LF.
    ///
    /// All of it is ASCII: the text is in base64, names and subject are encoded words (RFC 2047). So no
    /// text can become a header, however it is made, and no line is over the 998 bytes that one may have.
    package var bytes: [UInt8] {
        let host = String(from.description.split(separator: "@").last ?? "localhost")
        let identifier = self.identifier.filter {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
        }
        let sender =
            fromName.isEmpty
            ? "\(from)" : "\(EncodedWords.encode(fromName, after: 6))\r\n <\(from)>"
        let lines = [
            "Date: \(MailDate(seconds).text)", "From: \(sender)", "To: \(to)",
            "Message-ID: <\(identifier)@\(host)>",
            "Subject: \(EncodedWords.encode(subject, after: 9))",
            // RFC 3834: so that no machine answers it.
            "Auto-Submitted: auto-generated", "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64", "",
        ]
        return Array((lines.joined(separator: "\r\n") + "\r\n").utf8) + encodedText
    }

    /// In lines of 76 characters (RFC 2045 §6.8).
    private var encodedText: [UInt8] {
        var normal: [UInt8] = []
        for byte in text.utf8 where byte != 0x0D {
            if byte == 0x0A { normal.append(0x0D) }
            normal.append(byte)
        }
        let encoded = Array(Base64.encode(normal).utf8)
        var lines: [UInt8] = []
        for start in stride(from: 0, to: encoded.count, by: 76) {
            lines += encoded[start..<min(start + 76, encoded.count)] + [0x0D, 0x0A]
        }
        return lines
    }
}

/// Text of any language in a header (RFC 2047).
enum EncodedWords {
    /// Of one word, with its `=?utf-8?B?` and `?=`.
    private static let wordBytesMax = 75
    private static let overheadBytes = 12

    /// As words of base64, each in a line of its own; every character of the text is in one of them.
    ///
    /// - Parameter after: how many bytes stand before it in its first line.
    static func encode(_ text: String, after: Int) -> String {
        var words: [String] = []
        var piece: [UInt8] = []
        var room = wordBytesMax - overheadBytes - after
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if Base64.encodedBytes(for: piece.count + bytes.count) > room {
                words.append(Base64.encode(piece))
                piece = []
                room = wordBytesMax - overheadBytes
            }
            piece += bytes
        }
        words.append(Base64.encode(piece))
        return words.map { "=?utf-8?B?\($0)?=" }.joined(separator: "\r\n ")
    }
}

/// A time as mail writes it (RFC 5322 §3.3), in UTC.
struct MailDate {
    private let seconds: Int64

    init(_ seconds: Int64) { self.seconds = max(0, min(seconds, 253_402_300_799)) }

    var text: String {
        let time = CivilTime(seconds: seconds)
        return "\(time.dayName), \(time.day) \(time.monthName) \(time.year) \(time.time()) +0000"
    }
}
