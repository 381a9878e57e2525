import HTTP
import Network
import Testing

@Suite("The address that a client counts as")
struct ClientAddressTests {
    @Test(
        "Addresses of one client are one block",
        arguments: [
            ("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"),
            ("::FFFF:c000:207", "192.0.2.7"), ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"),
            ("::1", "::2"), ("fe80::1", "FE80:0:0:0:1::"),
        ])
    func same(_ first: String, _ second: String) throws {
        #expect(try #require(AddressBlock(first)) == #require(AddressBlock(second)))
    }

    @Test(
        "Addresses of different clients are different blocks",
        arguments: [
            ("192.0.2.7", "192.0.2.8"), ("2001:db8:1:2::1", "2001:db8:1:3::1"),
            ("192.0.2.7", "::192.0.2.7"), ("0.0.0.0", "::"), ("0.0.0.1", "0:0:0:1::"),
        ])
    func different(_ first: String, _ second: String) throws {
        #expect(try #require(AddressBlock(first)) != #require(AddressBlock(second)))
    }

    @Test(
        "What is no numeric address is no block",
        arguments: [
            "", "unix", "localhost", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "192.0.2.7 ",
            "[::1]", "::1%eth0", "1.2.3.4:80", ":::", "1.2.3.4\0", "::ffff:1.2.3.4.5",
            String(repeating: "1", count: 46),
        ])
    func none(_ text: String) { #expect(AddressBlock(text) == nil) }

    /// One line of the table: who called, what the fields say, whom that counts as.
    struct Case: Sendable, CustomTestStringConvertible {
        var says: String
        var lines: [String]
        var counts: String
        var testDescription: String { says }

        init(_ says: String, _ lines: [String], _ counts: String) {
            (self.says, self.lines, self.counts) = (says, lines, counts)
        }
    }

    private static let many = (0..<10_000).map { _ in "198.51.100.1" }.joined(separator: ",")

    /// The peer is 127.0.0.1, which is trusted, as is 10.0.0.0/8.
    @Test(
        "A trusted proxy says whom a request came from",
        arguments: [
            Case("nothing said", [], "127.0.0.1"),
            Case("one client", ["192.0.2.7"], "192.0.2.7"),
            Case("spoofed before the proxy's own entry", ["203.0.113.1, 192.0.2.7"], "192.0.2.7"),
            Case("spoofed as a trusted address", ["10.0.0.1, 192.0.2.7"], "192.0.2.7"),
            Case("spoofed on a line of its own", ["203.0.113.1", "192.0.2.7"], "192.0.2.7"),
            Case("several trusted hops", ["192.0.2.7, 10.0.0.2,10.0.0.1"], "192.0.2.7"),
            Case("hops on two lines", ["192.0.2.7,10.0.0.2", "10.0.0.1"], "192.0.2.7"),
            Case("nobody but proxies", ["10.0.0.2, 10.0.0.1"], "10.0.0.2"),
            Case("IPv6", ["2001:db8::1"], "2001:db8::2"),
            Case("IPv6 with a port", ["[2001:db8::1]:443"], "2001:db8::"),
            Case("IPv4 with a port", ["192.0.2.7:5000"], "192.0.2.7"),
            Case("IPv4 in IPv6", ["::ffff:192.0.2.7"], "192.0.2.7"),
            Case("a proxy as IPv4 in IPv6", ["192.0.2.7, ::ffff:10.0.0.1"], "192.0.2.7"),
            Case("blanks", [" \t192.0.2.7\t "], "192.0.2.7"),
            Case("garbage", ["192.0.2.7, unknown"], "127.0.0.1"),
            Case("garbage behind a proxy", ["192.0.2.7, _hidden, 10.0.0.1"], "10.0.0.1"),
            Case("an empty entry", ["192.0.2.7,"], "127.0.0.1"),
            Case("nothing but commas", [",,,,"], "127.0.0.1"),
            Case("an open bracket", ["[2001:db8::1"], "2001:db8::1"),
            Case("empty", [""], "127.0.0.1"),
            Case("10,000 entries", [many], "198.51.100.1"),
            Case(
                "10,000 proxies before a client",
                [many.replacing("198.51.100.1", with: "10.0.0.1")],
                "10.0.0.1"),
        ])
    func trusted(_ line: Case) throws {
        try TestServer.run(configure: true) { test in
            let client = try test.client()
            let fields = line.lines.map { "X-Forwarded-For: \($0)\r\n" }.joined()
            try client.send("GET /client HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
            let counts = try #require(AddressBlock(line.counts))
            #expect(try client.answer().text == "\(counts)")
        }
    }

    @Test("Nobody else is believed")
    func untrusted() throws {
        try TestServer.run(configure: false) { test in
            let client = try test.client()
            try client.send("GET /client HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n")
            let own = try #require(AddressBlock("127.0.0.1"))
            #expect(try client.answer().text == "\(own)")
        }
    }
}

extension TestServer {
    fileprivate static func run(
        configure isTrusting: Bool, _ body: (TestServer) throws -> Void
    ) throws {
        try run(
            { configuration in
                configuration.limits.headerBytesMax = 1 << 20
                guard isTrusting else { return }
                configuration.isTrustedProxy = { address in
                    address == "127.0.0.1" || address.hasPrefix("10.")
                        || address.hasPrefix("::ffff:10.")
                }
            }, body)
    }
}
