import Awaiting
import Foundation
import HTTP
import Network
import Testing

@Suite("Bodies that stream in and out")
struct StreamTests {
    private static func post(_ target: String, _ body: [UInt8], fields: String = "") -> [UInt8] {
        Array(
            "POST \(target) HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.count)\r\n\(fields)\r\n"
                .utf8) + body
    }

    private static func chunked(_ body: [UInt8], by size: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var start = 0
        while start < body.count {
            let end = min(start + size, body.count)
            bytes += Array("\(String(end - start, radix: 16))\r\n".utf8) + body[start..<end]
            bytes += [13, 10]
            start = end
        }
        return bytes + Array("0\r\n\r\n".utf8)
    }

    /// A file of a pattern, gone with the closure.
    private func withFile(_ count: Int, _ body: (String, [UInt8]) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(
            path: "stream-\(UUID().uuidString)"
        ).path
        let bytes = TestResponder.bytes(count)
        try Data(bytes).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path, bytes)
    }

    @Test("A body beyond the limit of memory reaches its sink whole, with a length and in chunks")
    func whole() throws {
        try TestServer.run({ $0.limits.bodyBytesMax = 1_000 }) { test in
            let client = try test.client()
            let body = TestResponder.bytes(3_000_001)
            try client.send(Self.post("/sink/echo", body))
            #expect(try client.answer().body == body)
            let head = "PUT /sink/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            try client.send(Array(head.utf8) + Self.chunked(body, by: 70_001))
            #expect(try client.answer().body == body)
            // The connection goes on, and other targets keep the limit.
            try client.send("GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().status == 200)
            try client.send(Self.post("/echo", body))
            #expect(try client.answer().status == 413)
            #expect(test.responder.sinks.events == ["end", "end"])
        }
    }

    @Test("Requests behind a streamed body on the same connection are answered in order")
    func pipelined() throws {
        try TestServer.run { test in
            let client = try test.client()
            let bodies = (0..<5).map { TestResponder.bytes($0 * 40_000 + 1) }
            try client.send(
                bodies.flatMap {
                    Self.post("/sink/echo", $0)
                        + Array("GET /size/3 HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
                })
            for body in bodies {
                #expect(try client.answer().body == body)
                #expect(try client.answer().body.count == 3)
            }
        }
    }

    @Test("A sink that miscounts costs its own connection, and the operator is told")
    func miscounted() throws {
        try TestServer.run(isSound: false) { test in
            let (client, other) = (try test.client(), try test.client())
            try client.send(
                "POST /sink/wrong HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
            #expect(try client.isClosedByPeer())
            #expect(test.rejections.broken.count == 1)
            #expect(test.rejections.broken.first?.contains("than it was given") == true)
            #expect(test.responder.sinks.events == ["abort"])
            try other.send("GET /size/3 HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try other.answer().body.count == 3)
        }
    }

    @Test("However the bytes are cut, a streamed body is the same")
    func cuts() {
        let body = TestResponder.bytes(40)
        let request =
            Self.post("/a", body)
            + Array("POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
            + Self.chunked(body, by: 7)
            + Array("GET /c HTTP/1.1\r\nHost: x\r\n\r\n".utf8)
        let whole = ParserHarness(streams: true).events(request)
        #expect(whole.count == 3)
        #expect(whole == ParserHarness().events(request))
        for cut in 1..<request.count {
            #expect(ParserHarness(streams: true).events(request, cutAt: [cut]) == whole, "\(cut)")
        }
        #expect(
            ParserHarness(streams: true).events(request, cutAt: Array(1..<request.count)) == whole)
    }

    @Test("A sink that is behind stops the receiving, and goes on where it stopped")
    func backPressure() throws {
        try TestServer.run { test in
            let client = try test.client()
            let body = TestResponder.bytes(16_000_000)
            let sending = DispatchQueue(label: "sending")
            let sent = DispatchSemaphore(value: 0)
            let bytes = Self.post("/sink/held", body)
            let descriptor = client.descriptor
            sending.async {
                var done = 0
                while done < bytes.count {
                    let count = bytes[done...].withUnsafeBytes {
                        write(descriptor, $0.baseAddress, $0.count)
                    }
                    if count <= 0 { break }
                    done += count
                }
                sent.signal()
            }
            let sinks = test.responder.sinks
            try test.until { sinks.heldBytes >= BodyStream.windowBytes }
            // Another connection is served meanwhile, on the same loop too.
            for _ in 0..<4 {
                let other = try test.client()
                try other.send("GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try other.answer().status == 200)
            }
            // One read of the socket at most may come on top.
            #expect(sinks.heldBytes <= BodyStream.windowBytes + 64 * 1024)
            // However long the sink takes, the client is not to blame.
            test.clock.advance(seconds: 3_600)
            test.server.checkDeadlines()
            sinks.release()
            #expect(try client.answer().body == body)
            #expect(sent.wait(timeout: .now() + .seconds(Wait.seconds)) == .success)
        }
    }

    @Test("100 Continue comes when the body is wanted, and a refusal in its place when it is not")
    func expectation() throws {
        try TestServer.run { test in
            let expecting = "Content-Length: 5\r\nExpect: 100-continue\r\n\r\n"
            let client = try test.client()
            try client.send("POST /sink/echo HTTP/1.1\r\nHost: x\r\n\(expecting)")
            #expect(try client.answer().status == 100)
            try client.send("hello")
            #expect(try client.answer().text == "hello")
            for target in ["/sink/refuse", "/sink/later"] {
                let client = try test.client()
                try client.send("POST \(target) HTTP/1.1\r\nHost: x\r\n\(expecting)")
                let answer = try client.answer()
                #expect(answer.status == 413)
                #expect(answer["connection"] == "close")
                #expect(try client.isClosedByPeer())
            }
        }
    }

    @Test("An early refusal reaches a client that is still sending, and the connection ends")
    func early() throws {
        try TestServer.run { test in
            for target in ["/sink/stop/100000", "/sink/refuse"] {
                let client = try test.client()
                // Less than the sockets hold, so that sending does not wait for reading.
                try client.send(
                    "POST \(target) HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
                try client.send(TestResponder.bytes(200_000))
                let answer = try client.answer()
                #expect(answer.status == 413)
                #expect(answer["connection"] == "close")
                client.endSending()
                #expect(try client.isClosedByPeer())
            }
            #expect(test.responder.sinks.events.isEmpty)
        }
    }

    @Test("A sink hears of a client that goes, breaks the framing or is too slow, once")
    func aborted() throws {
        try TestServer.run { test in
            let sinks = test.responder.sinks
            let gone = try test.client()
            try gone.send("POST /sink/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc")
            gone.endSending()
            try test.until { sinks.events.count == 1 }
            let broken = try test.client()
            try broken.send(
                "POST /sink/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd"
            )
            #expect(try broken.answer().status == 400)
            try test.until { sinks.events.count == 2 }
            let slow = try test.client()
            try slow.send("POST /sink/held HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc")
            try test.until { sinks.heldBytes == 3 }
            test.clock.advance(seconds: 31)
            test.server.checkDeadlines()
            #expect(try slow.answer().status == 408)
            try test.until { sinks.events.count == 3 }
            #expect(sinks.events == ["abort", "abort", "abort"])
        }
    }

    @Test("A body that is stored as it comes may not be compressed")
    func compressed() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send(Self.post("/sink/echo", [1], fields: "Content-Encoding: gzip\r\n"))
            #expect(try client.answer().status == 415)
            #expect(test.responder.sinks.events.isEmpty)
        }
    }

    @Test("Files, parts of files and bytes made on the way go out whole, one after another")
    func files() throws {
        try TestServer.run { test in
            for count in [0, 1, 70_000, 5_000_000] {
                try withFile(
                    count,
                    { path, bytes in
                        let client = try test.client()
                        for _ in 0..<2 {
                            try client.send(
                                "GET /stream/file\(path) HTTP/1.1\r\nHost: x\r\n\r\n"
                                    + "GET /stream/parts\(path) HTTP/1.1\r\nHost: x\r\n\r\n"
                                    + "HEAD /stream/file\(path) HTTP/1.1\r\nHost: x\r\n\r\n"
                                    + "GET /stream/made/\(count) HTTP/1.1\r\nHost: x\r\n\r\n"
                                    + "GET /size/9 HTTP/1.1\r\nHost: x\r\n\r\n")
                            #expect(try client.answer().body == bytes)
                            let half = count / 2
                            #expect(
                                try client.answer().body == Array("<".utf8) + bytes[..<half]
                                    + Array("|".utf8) + bytes[half...] + Array(">".utf8))
                            #expect(try client.answer(toHead: true)["content-length"] == "\(count)")
                            #expect(try client.answer().body == bytes)
                            #expect(try client.answer().body.count == 9)
                        }
                    })
            }
        }
    }

    @Test("What cannot be made in the middle of an answer ends the connection")
    func missing() throws {
        try TestServer.run { test in
            let client = try test.client()
            try client.send("GET /stream/short/1000000 HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(throws: RawClient.Failure.self) { _ = try client.answer() }
        }
    }

    @Test("A file is looked at before it is sent, and the connection ends before what is not sound")
    func checked() throws {
        try withFile(1_000_000) { path, bytes in
            try TestServer.run { test in
                for sound in [1_000_000, 999_999, 600_000, 262_144, 65_536, 65_535, 0] {
                    let client = try test.client()
                    try client.send(
                        "GET /stream/checked/\(sound)\(path) HTTP/1.1\r\nHost: x\r\n"
                            + "Connection: close\r\n\r\n")
                    let all = try client.receiveToEnd()
                    let text = Data(all)
                    let head = try #require(text.range(of: Data("\r\n\r\n".utf8)))
                    let body = Array(all[head.upperBound...])
                    #expect(body == Array(bytes[..<body.count]))
                    if sound == bytes.count {
                        #expect(body.count == sound)
                    } else {
                        // Stretches are of 256 KiB, to where a part ends.
                        #expect(body.count <= sound && body.count > sound - 262_144, "\(sound)")
                    }
                }
            }
        }
    }

    @Test(
        "A reader of a file that takes nothing is closed in time, one that reads slowly is served")
    func slowReaders() throws {
        try withFile(8_000_000) { path, bytes in
            try TestServer.run { test in
                let slow = try RawClient(test.address, receiveBufferBytes: 4_096)
                try slow.send("GET /stream/file\(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                _ = try slow.receiveMore()
                // The server gets on until the buffers between them are full.
                try test.until {
                    test.clock.advance(seconds: 31)
                    test.server.checkDeadlines()
                    return test.server.counts().connectionsOpen == 0
                }
                #expect(throws: RawClient.Failure.self) { _ = try slow.answer() }
                let steady = try RawClient(test.address, receiveBufferBytes: 65_536)
                try steady.send("GET /stream/file\(path) HTTP/1.1\r\nHost: x\r\n\r\n")
                #expect(try steady.answer().body == bytes)
            }
        }
    }

    @Test("Over TLS bodies stream in and files stream out")
    func tls() throws {
        let certificate = try TestCertificate(name: "one")
        let context = try TLSContext(
            certificateFile: certificate.certificateFile, keyFile: certificate.keyFile)
        try TestServer.run({
            $0.endpoints = [.init(.tcp(host: "127.0.0.1", port: 0), tls: context)]
        }) { test in
            try withFile(3_000_000) { path, bytes in
                let client = try TLSClient(test.client())
                for request in [
                    Self.post("/sink/echo", bytes),
                    Array("GET /stream/file\(path) HTTP/1.1\r\nHost: x\r\n\r\n".utf8),
                    Array("GET /stream/made/3000000 HTTP/1.1\r\nHost: x\r\n\r\n".utf8),
                ] {
                    try client.send(request)
                    let answer = try client.receive {
                        guard let end = $0.firstRange(of: Array("\r\n\r\n".utf8)) else {
                            return false
                        }
                        return $0.count - end.upperBound >= bytes.count
                    }
                    let end = try #require(answer.firstRange(of: Array("\r\n\r\n".utf8)))
                    #expect(Array(answer[end.upperBound...]) == bytes)
                }
            }
        }
    }
}
