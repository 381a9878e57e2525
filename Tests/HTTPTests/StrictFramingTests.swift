import HTTP
import Testing

/// One way to write a message that two servers could read in two ways, or that is simply none.
struct FramingCase: CustomTestStringConvertible, Sendable {
    var name: String
    var input: String
    var status: Int

    init(_ name: String, _ input: String, _ status: Int = 400) {
        self.name = name
        self.input = input
        self.status = status
    }

    /// A whole request with a body announced by these fields, and a second one behind it.
    static func fields(_ name: String, _ fields: String, _ status: Int = 400) -> FramingCase {
        FramingCase(
            name,
            "POST / HTTP/1.1\r\nHost: x\r\n\(fields)\r\n\r\n0\r\n\r\nGET /evil HTTP/1.1\r\nHost: x\r\n\r\n",
            status)
    }

    /// A chunked body.
    static func chunks(_ name: String, _ body: String, _ status: Int = 400) -> FramingCase {
        FramingCase(
            name,
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n\(body)", status)
    }

    /// A request line alone before a good Host.
    static func line(_ name: String, _ line: String, _ status: Int = 400) -> FramingCase {
        FramingCase(name, "\(line)\r\nHost: x\r\n\r\n", status)
    }

    var testDescription: String { name }
}

@Suite("Framing that is not beyond doubt")
struct StrictFramingTests {
    static let lengths: [FramingCase] = [
        .fields("length and chunked", "Content-Length: 5\r\nTransfer-Encoding: chunked"),
        .fields("chunked and length", "Transfer-Encoding: chunked\r\nContent-Length: 5"),
        .fields("chunked and a length of zero", "Transfer-Encoding: chunked\r\nContent-Length: 0"),
        .fields("two lengths that differ", "Content-Length: 5\r\nContent-Length: 6"),
        .fields("two lengths that agree", "Content-Length: 5\r\nContent-Length: 5"),
        .fields("a list of lengths", "Content-Length: 5, 5"),
        .fields("no length", "Content-Length:"),
        .fields("a blank length", "Content-Length: \t"),
        .fields("a sign", "Content-Length: +5"),
        .fields("a negative length", "Content-Length: -5"),
        .fields("hexadecimal", "Content-Length: 0x5"),
        .fields("a point", "Content-Length: 5.0"),
        .fields("an exponent", "Content-Length: 5e0"),
        .fields("an underscore", "Content-Length: 1_0"),
        .fields("space within", "Content-Length: 5 5"),
        .fields("quotes", "Content-Length: \"5\""),
        .fields("other digits", "Content-Length: \u{0665}"),
        .fields("a semicolon", "Content-Length: 5;"),
        .fields("a no-break space", "Content-Length: \u{a0}5"),
        .fields("digits without end", "Content-Length: " + String(repeating: "0", count: 200)),
        .fields("beyond 64 bits", "Content-Length: 18446744073709551621", 413),
        .fields("beyond 63 bits", "Content-Length: 9223372036854775808", 413),
        .fields("the last of 63 bits", "Content-Length: 9223372036854775807", 413),
    ]

    static let codings: [FramingCase] = [
        .fields("chunked twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        .fields("chunked, chunked", "Transfer-Encoding: chunked, chunked"),
        .fields("gzip, chunked", "Transfer-Encoding: gzip, chunked"),
        .fields("chunked, identity", "Transfer-Encoding: chunked, identity"),
        .fields("identity", "Transfer-Encoding: identity"),
        .fields("an unknown coding", "Transfer-Encoding: xchunked"),
        .fields("a comma before", "Transfer-Encoding: ,chunked"),
        .fields("a comma behind", "Transfer-Encoding: chunked,"),
        .fields("quotes", "Transfer-Encoding: \"chunked\""),
        .fields("a parameter", "Transfer-Encoding: chunked;q=1"),
        .fields("empty", "Transfer-Encoding:"),
        .fields("vertical tab", "Transfer-Encoding: \u{b}chunked"),
        .fields("form feed", "Transfer-Encoding: chunked\u{c}"),
        .fields("no-break space", "Transfer-Encoding: \u{a0}chunked"),
        .fields("next line", "Transfer-Encoding: chunked\u{85}"),
        .fields("NUL behind", "Transfer-Encoding: chunked\0"),
        .fields("space before the colon", "Transfer-Encoding : chunked"),
        .fields("tab before the colon", "Transfer-Encoding\t: chunked"),
        .fields("folded", "Transfer-Encoding:\r\n chunked"),
        .fields("folded by a tab", "X: y\r\n\tTransfer-Encoding: chunked"),
        .fields("space before the name", " Transfer-Encoding: chunked"),
        .fields("a bare CR in the value", "X: y\rTransfer-Encoding: chunked"),
        .fields("a bare LF in the value", "X: y\nTransfer-Encoding: chunked"),
        .fields("CR CR LF", "Transfer-Encoding: chunked\r"),
        FramingCase(
            "chunked in HTTP/1.0",
            "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ]

    static let fields: [FramingCase] = [
        .fields("no colon", "Xy"),
        .fields("no name", ": y"),
        .fields("space in a name", "X Y: z"),
        .fields("a name of other letters", "X\u{e9}: z"),
        .fields("a bracket in a name", "X(: z"),
        .fields("NUL in a name", "X\0: z"),
        .fields("NUL in a value", "X: \0"),
        .fields("delete in a value", "X: \u{7f}"),
        .fields("escape in a value", "X: \u{1b}[0m"),
        FramingCase("no Host", "GET / HTTP/1.1\r\n\r\n"),
        FramingCase("an empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
        FramingCase("two Hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n"),
        FramingCase("two Hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n"),
        FramingCase("a list of Hosts", "GET / HTTP/1.1\r\nHost: x, y\r\n\r\n"),
        FramingCase("a user in Host", "GET / HTTP/1.1\r\nHost: a@x\r\n\r\n"),
        FramingCase("a path in Host", "GET / HTTP/1.1\r\nHost: x/y\r\n\r\n"),
        FramingCase("space in Host", "GET / HTTP/1.1\r\nHost: x y\r\n\r\n"),
        .fields("an unknown expectation", "Expect: 200-ok", 417),
        .fields("an unknown encoding", "Content-Encoding: br\r\nContent-Length: 5", 415),
        .fields("gzip twice", "Content-Encoding: gzip, gzip\r\nContent-Length: 5", 415),
    ]

    static let requestLines: [FramingCase] = [
        .line("two spaces", "GET  / HTTP/1.1"),
        .line("a space before", " GET / HTTP/1.1"),
        .line("a space behind", "GET / HTTP/1.1 "),
        .line("a tab", "GET\t/ HTTP/1.1"),
        .line("a tab before the version", "GET /\tHTTP/1.1"),
        .line("no target", "GET HTTP/1.1"),
        .line("no version", "GET /"),
        .line("an empty version", "GET / "),
        .line("a small version name", "GET / http/1.1"),
        .line("three parts of version", "GET / HTTP/1.1.1"),
        .line("a long minor version", "GET / HTTP/1.10"),
        .line("a long major version", "GET / HTTP/11.1"),
        .line("a comma in the version", "GET / HTTP/1,1"),
        .line("a sign in the version", "GET / HTTP/1.-1"),
        .line("HTTP/0.9", "GET / HTTP/0.9", 505),
        .line("HTTP/1.2", "GET / HTTP/1.2", 505),
        .line("HTTP/2", "PRI * HTTP/2.0", 505),
        .line("an empty method", " / HTTP/1.1"),
        .line("a method that is no token", "G(T / HTTP/1.1"),
        .line("a method without end", String(repeating: "M", count: 33) + " / HTTP/1.1"),
        .line("a target without a slash", "GET a HTTP/1.1"),
        .line("a fragment", "GET /a#b HTTP/1.1"),
        .line("raw letters beyond ASCII", "GET /\u{e9} HTTP/1.1"),
        .line("NUL in the target", "GET /\0 HTTP/1.1"),
        .line("an authority", "CONNECT x:80 HTTP/1.1"),
        .line("a star for another method", "GET * HTTP/1.1"),
        .line("a star and more", "OPTIONS *x HTTP/1.1"),
        .line("another host's URL", "GET http://y/ HTTP/1.1"),
        .line("a URL without a host", "GET http:/// HTTP/1.1"),
        .line("a URL of another scheme", "GET ftp://x/ HTTP/1.1"),
        .line("a URL without a path", "GET http://x HTTP/1.1"),
        .line("a URL with a user", "GET http://a@x/ HTTP/1.1"),
        FramingCase("a bare LF", "GET / HTTP/1.1\nHost: x\n\n"),
        FramingCase("a bare LF at the end", "GET / HTTP/1.1\r\nHost: x\r\n\n"),
        FramingCase("a bare CR", "GET / HTTP/1.1\rHost: x\r\r"),
        FramingCase("two empty lines before", "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
        FramingCase("a line feed before", "\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
        FramingCase("a space before the first field", "GET / HTTP/1.1\r\n Host: x\r\n\r\n"),
        FramingCase("a TLS hello", "\u{16}\u{3}\u{1}\0\0"),
    ]

    static let chunks: [FramingCase] = [
        .chunks("no size", "\r\nabc\r\n0\r\n\r\n"),
        .chunks("a size that is no number", "g\r\n"),
        .chunks("a prefix", "0x3\r\nabc\r\n0\r\n\r\n"),
        .chunks("a sign", "+3\r\nabc\r\n0\r\n\r\n"),
        .chunks("a negative size", "-3\r\n"),
        .chunks("an underscore", "1_0\r\n"),
        .chunks("a space before", " 3\r\nabc\r\n0\r\n\r\n"),
        .chunks("a space behind", "3 \r\nabc\r\n0\r\n\r\n"),
        .chunks("a space before the extension", "3 ;a\r\nabc\r\n0\r\n\r\n"),
        .chunks("zeros without end", "00000000000000003\r\nabc\r\n0\r\n\r\n"),
        .chunks("beyond 64 bits", "10000000000000003\r\nabc\r\n0\r\n\r\n", 413),
        .chunks("the last of 64 bits", "ffffffffffffffff\r\n", 413),
        .chunks("negative in 64 bits", "8000000000000000\r\n", 413),
        .chunks("a bare LF behind the size", "3\nabc\r\n0\r\n\r\n"),
        .chunks("a bare CR behind the size", "3\rabc\r\n0\r\n\r\n"),
        .chunks("a bare LF behind the data", "3\r\nabc\n0\r\n\r\n"),
        .chunks("nothing behind the data", "3\r\nabc0\r\n\r\n"),
        .chunks("more data than said", "3\r\nabcd\r\n0\r\n\r\n"),
        .chunks("an X for the line end", "3\r\nabcX\n0\r\n\r\n"),
        .chunks("a bare LF in an extension", "3;a\nabc\r\n0\r\n\r\n"),
        .chunks("a bare CR in an extension", "3;a\rb\r\nabc\r\n0\r\n\r\n"),
        .chunks("NUL in an extension", "3;\0\r\nabc\r\n0\r\n\r\n"),
        .chunks("a bare LF at the end", "0\r\n\n"),
        .chunks("a bare CR at the end", "0\r\n\rX"),
        .chunks("a trailer without a colon", "0\r\nX\r\n\r\n"),
        .chunks("a folded trailer", "0\r\nX: y\r\n z\r\n\r\n"),
        .chunks("a trailer without a name", "0\r\n: y\r\n\r\n"),
        .chunks("a space before a trailer's colon", "0\r\nX : y\r\n\r\n"),
        .chunks("a bare LF in a trailer", "0\r\nX: y\n\r\n"),
        .chunks("a second request as trailer", "0\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ]

    static let all = lengths + codings + fields + requestLines + chunks

    @Test("Is refused, and nothing behind it is looked at", arguments: all)
    func isRefused(row: FramingCase) {
        let events = ParserHarness().events(row.input)
        #expect(events.count == 1)
        #expect(events.first?.hasPrefix("\(row.status) ") == true, "\(events)")
    }

    @Test("Is refused in the same way wherever its bytes are cut", arguments: all)
    func isRefusedHoweverCut(row: FramingCase) {
        let bytes = Array(row.input.utf8)
        let whole = ParserHarness().events(bytes)
        for cut in 0...bytes.count {
            #expect(ParserHarness().events(bytes, cutAt: [cut]) == whole)
        }
        #expect(ParserHarness().events(bytes, cutAt: Array(0..<bytes.count)) == whole)
    }

    @Test("Gets one answer over a socket, and the connection ends")
    func endsTheConnection() throws {
        try TestServer.run { test in
            for row in Self.all {
                let client = try test.client()
                // Half the cases would wait for more: the end of sending closes those.
                try client.send(row.input)
                let answer = try client.answer()
                #expect(answer.status == row.status, "\(row.name)")
                #expect(answer["connection"] == "close", "\(row.name)")
                #expect(try client.isClosedByPeer(), "\(row.name)")
            }
        }
    }
}
