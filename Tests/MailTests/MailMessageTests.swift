import Cryptography
import Mail
import Seeding
import Testing

@Suite("Messages as they are handed over")
struct MailMessageTests {
    private static let sender = MailAddress("server@example.com")
    private static let reader = MailAddress("reader@example.org")

    static func message(
        subject: String = "Hello", text: String = "text\n", name: String = ""
    ) throws -> MailMessage {
        MailMessage(
            from: try #require(sender), fromName: name, to: try #require(reader),
            subject: subject, text: text, identifier: "1b4e28ba-2fa1-11d2-883f-0016d3cca427",
            seconds: 1_700_000_000)
    }

    private func lines(_ message: MailMessage) -> [String] {
        String(decoding: message.bytes, as: UTF8.self).replacing("\r\n", with: "\n")
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test("Headers say who, to whom, when and how, and the text follows in base64")
    func headers() throws {
        let lines = lines(try Self.message(subject: "Grüße", text: "Hallo\nWelt", name: "Ö"))
        #expect(
            lines == [
                "Date: Tue, 14 Nov 2023 22:13:20 +0000", "From: =?utf-8?B?w5Y=?=",
                " <server@example.com>", "To: reader@example.org",
                "Message-ID: <1b4e28ba-2fa1-11d2-883f-0016d3cca427@example.com>",
                "Subject: =?utf-8?B?R3LDvMOfZQ==?=", "Auto-Submitted: auto-generated",
                "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
                "Content-Transfer-Encoding: base64", "",
                Base64.encode(Array("Hallo\r\nWelt".utf8)), "",
            ])
    }

    @Test("No text becomes a header, whatever it is, and no line is too long")
    func injection() throws {
        var random = SeededRandom("mail headers")
        let pieces = [
            "\r\n", "\n", "\r", "Bcc: x@example.net", "=?", "?=", "ü", "👩‍👩‍👧", ".", "\u{0}", " ",
            String(repeating: "long", count: 30), "\u{2028}", "\u{85}",
        ]
        for _ in 0..<2_000 {
            let text = (0..<random.below(9)).map { _ in random.one(of: pieces) }.joined()
            let message = try Self.message(subject: text, text: text, name: "x" + text)
            let bytes = message.bytes
            #expect(bytes.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0D || $0 == 0x0A })
            let lines = lines(message)
            #expect(lines.allSatisfy { $0.utf8.count <= 78 })
            let end = try #require(lines.firstIndex(of: ""))
            let names = lines[..<end].filter { !$0.hasPrefix(" ") }.map {
                String($0.prefix { $0 != ":" })
            }
            #expect(
                names == [
                    "Date", "From", "To", "Message-ID", "Subject", "Auto-Submitted",
                    "MIME-Version", "Content-Type", "Content-Transfer-Encoding",
                ])
        }
    }

    @Test(
        "Addresses of the common form are taken",
        arguments: [
            "a@b", "first.last+tag@sub.example.com", "o'brien@example.com",
            "x@xn--bcher-kva.example",
        ])
    func taken(address: String) {
        #expect(MailAddress(address)?.description == address)
    }

    @Test(
        "What could end a line, a command or an address is none",
        arguments: [
            "", "a", "@b", "a@", "a b@c", "a@b\r\nRCPT TO:<x@y>", "a@b>", "<a@b", "\"a\"@b", "a@b.",
            "a..b@c", ".a@b", "a@-b", "a@b-", "a@b c", "a@[127.0.0.1]", "ä@b", "a@b,c@d", "a@b@c@",
            "a\u{0}@b", "a@b\n", String(repeating: "a", count: 65) + "@b",
            "a@" + String(repeating: "b.", count: 130) + "c",
        ])
    func refused(address: String) {
        #expect(MailAddress(address) == nil)
    }
}
