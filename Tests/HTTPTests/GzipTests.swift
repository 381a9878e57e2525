import CZlib
import HTTP
import Network
import Testing

/// zlib in one go, as the other side of what the server does in pieces.
enum Gzip {
    static func compress(_ bytes: [UInt8]) -> [UInt8] {
        var stream = z_stream()
        deflateInit2_(
            &stream, 6, Z_DEFLATED, 31, 8, 0, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { deflateEnd(&stream) }
        return run(&stream, bytes, bytes.count + 1000) { deflate($0, Z_FINISH) }
    }

    static func expand(_ bytes: [UInt8], _ capacity: Int) -> [UInt8] {
        var stream = z_stream()
        inflateInit2_(&stream, 31, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
        defer { inflateEnd(&stream) }
        return run(&stream, bytes, capacity) { inflate($0, Z_FINISH) }
    }

    private static func run(
        _ stream: inout z_stream, _ bytes: [UInt8], _ capacity: Int,
        _ step: (UnsafeMutablePointer<z_stream>) -> Int32
    ) -> [UInt8] {
        var input = bytes
        var output = [UInt8](repeating: 0, count: capacity)
        let result = input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                return step(&stream)
            }
        }
        return result == Z_STREAM_END ? Array(output[..<Int(stream.total_out)]) : []
    }
}

@Suite("gzip on the wire")
struct GzipTests {
    static func post(_ body: [UInt8], chunkBytes: Int? = nil) -> [UInt8] {
        let head = "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\n"
        guard let chunkBytes else {
            return Array("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body
        }
        var request = Array("\(head)Transfer-Encoding: chunked\r\n\r\n".utf8)
        for start in stride(from: 0, to: body.count, by: chunkBytes) {
            let piece = body[start..<min(start + chunkBytes, body.count)]
            request += Array(String(piece.count, radix: 16).utf8) + [13, 10] + piece + [13, 10]
        }
        return request + Array("0\r\n\r\n".utf8)
    }

    @Test("A compressed request arrives as it was", arguments: [0, 1, 10_000, 3_000_000])
    func expandsRequests(size: Int) throws {
        try TestServer.run { test in
            let client = try test.client()
            let body = TestResponder.bytes(size)
            for chunkBytes in [nil, 1000] {
                try client.send(Self.post(Gzip.compress(body), chunkBytes: chunkBytes))
                #expect(try client.answer().body == body)
            }
        }
    }

    @Test("A body that expands beyond the limit is refused, with little memory used")
    func refusesBombs() throws {
        try TestServer.run({ $0.limits.inflatedBodyBytesMax = 100_000 }) { test in
            let zeros = Gzip.compress([UInt8](repeating: 0, count: 100_001))
            for bomb in [zeros, Gzip.compress([UInt8](repeating: 0, count: 50_000_000))] {
                let client = try test.client()
                try client.send(Self.post(bomb))
                #expect(try client.answer().status == 413)
            }
            let client = try test.client()
            try client.send(Self.post(Gzip.compress([UInt8](repeating: 0, count: 100_000))))
            #expect(try client.answer().body.count == 100_000)
        }
    }

    @Test("What is not one whole gzip stream is refused")
    func refusesBrokenStreams() throws {
        try TestServer.run { test in
            let good = Gzip.compress(TestResponder.bytes(5000))
            var wrongSum = good
            wrongSum[good.count - 6] ^= 1
            var wrongData = good
            wrongData[good.count / 2] ^= 1
            for body in [
                Array(good.dropLast()), good + [0], good + good, wrongSum, wrongData,
                Array("plain".utf8), [0x1F], Array(good.prefix(10)),
            ] {
                for chunkBytes in [nil, 100] {
                    let client = try test.client()
                    try client.send(Self.post(body, chunkBytes: chunkBytes))
                    #expect(try client.answer().status == 400)
                }
            }
        }
    }

    private func get(_ client: RawClient, _ path: String, _ fields: String) throws -> RawAnswer {
        try client.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
        return try client.answer()
    }

    @Test(
        "An answer is compressed in one piece or in many",
        arguments: [1024, 30_000, 32_768, 32_769, 1_000_000])
    func compressesAnswers(size: Int) throws {
        try TestServer.run({ $0.gzip = .on }) { test in
            let client = try test.client()
            for _ in 0..<3 {
                let answer = try get(client, "/size/\(size)", "Accept-Encoding: gzip\r\n")
                #expect(answer["content-encoding"] == "gzip")
                #expect(answer["vary"] == "Accept-Encoding")
                #expect((answer["transfer-encoding"] == "chunked") == (size > 32_768))
                #expect(answer.body.count < size)
                #expect(Gzip.expand(answer.body, size + 10) == TestResponder.bytes(size))
            }
        }
    }

    @Test("An answer goes out plain when it is short, no text, or gzip was not asked for")
    func leavesPlain() throws {
        try TestServer.run({ $0.gzip = .on }) { test in
            let client = try test.client()
            #expect(try get(client, "/size/5000", "")["content-encoding"] == nil)
            let accepts = "Accept-Encoding: gzip\r\n"
            #expect(try get(client, "/size/1023", accepts)["content-encoding"] == nil)
            #expect(try get(client, "/peer", accepts)["content-encoding"] == nil)
            try client.send("GET /size/5000 HTTP/1.0\r\n\(accepts)\r\n")
            #expect(try client.answer()["content-encoding"] == nil)
        }
    }

    @Test("HEAD tells no length where GET would be compressed")
    func leavesLengthOut() throws {
        try TestServer.run({ $0.gzip = .on }) { test in
            let client = try test.client()
            try client.send("HEAD /size/5000 HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
            let answer = try client.answer(toHead: true)
            #expect(answer["content-length"] == nil)
            #expect(answer["vary"] == "Accept-Encoding")
            #expect(try get(client, "/echo", "").status == 200)
        }
    }

    @Test("By default a peer on this machine gets gzip only through a proxy; off means never")
    func followsThePolicy() throws {
        let accepts = "Accept-Encoding: gzip\r\n"
        try TestServer.run { test in
            let client = try test.client()
            #expect(try get(client, "/size/5000", accepts)["content-encoding"] == nil)
            for field in ["X-Forwarded-For: 192.0.2.1\r\n", "Forwarded: for=192.0.2.1\r\n"] {
                let answer = try get(client, "/size/5000", accepts + field)
                #expect(answer["content-encoding"] == "gzip")
            }
        }
        try TestServer.run({ $0.gzip = .off }) { test in
            let client = try test.client()
            let answer = try get(client, "/size/5000", accepts + "Forwarded: for=x\r\n")
            #expect(answer["content-encoding"] == nil)
        }
    }

    @Test("A client that stops reading a compressed answer holds one piece of it")
    func boundsCompressedOutput() throws {
        try TestServer.run({ $0.gzip = .on }) { test in
            let client = try RawClient(test.address, receiveBufferBytes: 4096)
            try client.send(
                "GET /random/8000000 HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
            try test.until { test.server.counts().bytesOut > 0 }
            let answer = try client.answer()
            #expect(answer["transfer-encoding"] == "chunked")
            #expect(Gzip.expand(answer.body, 8_000_010).count == 8_000_000)
        }
    }
}
