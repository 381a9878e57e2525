import HTTP
import Network
import Testing

@Suite("What the server itself writes into heads")
struct HeadFieldTests {
    @Test(
        "The date is that of the clock handed in",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
            (1_798_761_599, "Thu, 31 Dec 2026 23:59:59 GMT"),
            (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        ] as [(Int64, String)])
    func date(seconds: Int64, text: String) throws {
        try TestServer.run({ $0.wallSeconds = { seconds } }) { test in
            let client = try test.client()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer()["date"] == text)
        }
    }

    @Test("No two requests have the same id")
    func ids() throws {
        try TestServer.run { test in
            var ids: Set<String> = []
            for _ in 0..<4 {
                let client = try test.client()
                for _ in 0..<250 {
                    try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                    ids.insert(String(try client.answer().text.split(separator: " ")[3]))
                }
            }
            #expect(ids.count == 1000)
        }
    }

    @Test("A field of the responder's that only the connection may write becomes a 500")
    func ownFields() throws {
        for name in ["Content-Length", "transfer-encoding", "Connection", "DATE", "a b", "", "a:"] {
            let server = try HTTPServer(
                HTTPServer.Configuration(addresses: [.tcp(host: "127.0.0.1", port: 0)]),
                responder: FieldResponder(name: name))
            let address = try server.start()[0]
            defer { server.drain(withinSeconds: 0) }
            let client = try RawClient(address)
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().status == 500, "\(name)")
        }
    }

    @Test("A value with a control character becomes a 500, wherever the character stands")
    func controlCharacters() throws {
        let server = try HTTPServer(
            HTTPServer.Configuration(addresses: [.tcp(host: "127.0.0.1", port: 0)]),
            responder: ValueResponder())
        let address = try server.start()[0]
        defer { server.drain(withinSeconds: 0) }
        for (byte, status): (UInt8, Int) in [
            (0x00, 500), (0x0A, 500), (0x0D, 500), (0x1F, 500), (0x7F, 500), (0x09, 200),
            (0x20, 200), (0x7E, 200),
        ] {
            for location in 0..<ValueResponder.length {
                let client = try RawClient(address)
                try client.send("GET /\(location)/\(byte) HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try client.answer().status == status, "\(byte) at \(location)")
            }
        }
    }

    /// Answers `/place/byte` with a field whose value has that byte in that place.
    private struct ValueResponder: Responder {
        static let length = 18

        func respond(to request: HTTPRequest, reply: HTTPReply) {
            let numbers = String(decoding: request.target, as: UTF8.self).split(separator: "/")
                .compactMap { UInt8($0) }
            var value = [UInt8](repeating: 0x61, count: Self.length)
            value[Int(numbers[0])] = numbers[1]
            reply.send(
                HTTPResponse(
                    status: 200, headers: [("x", String(decoding: value, as: UTF8.self))]))
        }
    }

    private struct FieldResponder: Responder {
        let name: String

        func respond(to request: HTTPRequest, reply: HTTPReply) {
            reply.send(HTTPResponse(status: 200, headers: [(name, "1")]))
        }
    }
}
