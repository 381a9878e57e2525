import HTTP
import Testing

@Suite("The request parser")
struct RequestParserTests {
    let harness = ParserHarness()

    @Test("A byte that has no place in a target is refused wherever it stands")
    func bytesOfTargets() {
        let cases: [(byte: UInt8, isAllowed: Bool)] = [
            (0x21, true), (0x22, true), (0x24, true), (0x25, true), (0x7E, true), (0x1F, false),
            (0x09, false), (0x23, false), (0x7F, false), (0x80, false), (0xA1, false),
            (0xFF, false),
        ]
        for count in [1, 7, 8, 9, 16, 23] {
            for location in 0..<count {
                for (byte, isAllowed) in cases {
                    var target = [UInt8](repeating: 0x61, count: count)
                    target[location] = byte
                    let events = harness.events(
                        Array("GET /".utf8) + target + Array(" HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
                    #expect(
                        events.count == 1 && events[0].hasPrefix("400 ") != isAllowed,
                        "\(byte) at \(location) of \(count): \(events)")
                }
            }
        }
    }

    @Test(
        "Reads what the standard allows",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "get /"),
            ("\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", "get /"),
            ("GET /%00?a=/%zz HTTP/1.1\r\nHOST:x:80\r\n\r\n", "get /%00?a=/%zz"),
            ("GET / HTTP/1.0\r\n\r\n", "get / 1.0 close"),
            ("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "get / 1.0"),
            ("OPTIONS * HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "options *"),
            ("GET http://X/a?b HTTP/1.1\r\nHost: x\r\n\r\n", "get /a?b"),
            ("GET https://x/ HTTP/1.1\r\nHost: x\r\n\r\n", "get /"),
            ("PURGE / HTTP/1.1\r\nHost: x\r\n\r\n", "other(\"PURGE\") /"),
            ("get / HTTP/1.1\r\nHost: x\r\n\r\n", "other(\"get\") /"),
            ("GET / HTTP/1.1\r\nHost: x\r\nA:\r\nB: \t \r\n\r\n", "get /"),
            ("GET / HTTP/1.1\r\nHost: x\r\nA: caf\u{e9}\tb\r\n\r\n", "get /"),
            ("GET / HTTP/1.1\r\nHost: x\r\nConnection: ,close ,x\r\n\r\n", "get / close"),
            ("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 003\r\n\r\nabc", "put / [abc]"),
            ("DELETE / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", "delete /"),
            (
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
                    + "3\r\nabc\r\n00a;x=\"y\";z\r\n0123456789\r\n0;q\r\nT: v\r\nU:\r\n\r\n",
                "post / [abc0123456789]"
            ),
            (
                "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                "post /"
            ),
        ])
    func reads(input: String, event: String) {
        #expect(harness.events(input) == [event])
    }

    @Test("Reads pipelined requests one by one, whatever follows the last")
    func readsPipelined() {
        let one = "POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
        let two =
            "POST /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nz\r\n0\r\n\r\n"
        let three = "GET /3 HTTP/1.1\r\nHost: x\r\n\r\n"
        #expect(
            harness.events(one + two + three + "GET") == [
                "post /1 [abc]", "post /2 [z]", "get /3", "incomplete",
            ])
    }

    @Test("A field is found by its lower-case name; the first of several counts")
    func findsFields() throws {
        let text =
            "GET / HTTP/1.1\r\nHoSt: x\r\nX-CloudKit-ID:  a b \t\r\nx-cloudkit-id: c\r\nE:\r\n\r\n"
        var parser = RequestParser()
        var position = 0
        let event = Array(text.utf8).withUnsafeBytes {
            parser.next($0, at: &position, limits: WireLimits())
        }
        guard case .request(let request) = event else {
            Issue.record("no request: \(event)")
            return
        }
        let headers = request.head.headers
        #expect(headers.count == 4)
        #expect(headers["x-cloudkit-id"] == "a b")
        #expect(headers["host"] == "x")
        #expect(headers["e"]?.isEmpty == true)
        #expect(headers["x-cloudkit"] == nil)
        #expect(headers.withValue("x-cloudkit-id") { $0.count } == 3)
    }

    @Test("Fields made by hand are found as those off the wire")
    func findsFieldsMadeByHand() {
        let headers = HTTPHeaders([("Content-Type", "a"), ("X", ""), ("content-type", "b")])
        #expect(headers["content-type"] == "a")
        #expect(headers["x"]?.isEmpty == true)
        #expect(headers["y"] == nil)
        #expect(HTTPHeaders([])["x"] == nil)
    }

    @Test(
        "Forwarding fields are noticed",
        arguments: ["X-Forwarded-For: 1.2.3.4", "forwarded: for=x"])
    func noticesForwarding(field: String) {
        #expect(head("GET / HTTP/1.1\r\nHost: x\r\n\(field)\r\n\r\n")?.isForwarded == true)
        #expect(head("GET / HTTP/1.1\r\nHost: x\r\n\r\n")?.isForwarded == false)
    }

    @Test(
        "Gzip is accepted where it is named with a weight above zero",
        arguments: [
            ("gzip", true), ("deflate, GZIP ;q=0.5", true), ("*", true), ("br, gzip;q=1.0", true),
            ("gzip;q=0", false), ("gzip; q=0.000", false), ("br", false), ("", false),
            ("xgzip", false), ("gzip;q=", false),
        ])
    func readsAcceptEncoding(value: String, isAccepted: Bool) {
        let text = "GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: \(value)\r\n\r\n"
        #expect(head(text)?.acceptsGzip == isAccepted)
    }

    private func head(_ text: String) -> RequestHead? {
        var parser = RequestParser()
        var position = 0
        let event = Array(text.utf8).withUnsafeBytes {
            parser.next($0, at: &position, limits: WireLimits())
        }
        if case .request(let request) = event { return request.head }
        return nil
    }
}
