import HTTP
import Seeding
import Testing

@Suite("The parser under random input")
struct ParserFuzzTests {
    private func cuts(_ count: Int, _ random: inout SeededRandom) -> [Int] {
        (0..<Int.random(in: 0...6, using: &random))
            .map { _ in Int.random(in: 0...count, using: &random) }.sorted()
    }

    /// A good request, as bytes and as what the parser must say of it.
    private func request(_ random: inout SeededRandom) -> (bytes: [UInt8], event: String) {
        let method =
            ["GET", "POST", "PUT", "DELETE", "HEAD"].randomElement(using: &random) ?? "GET"
        let target = "/" + word(0...40, "abc/%?=&.-_~", &random)
        var head = "\(method) \(target) HTTP/1.1\r\n"
        var fields = ["Host: " + word(1...10, "abc.-", &random)]
        for number in 0..<Int.random(in: 0...5, using: &random) {
            let blank = ["", " ", "\t "].randomElement(using: &random) ?? ""
            fields.append("X\(number):\(blank)\(word(0...30, "abc ;=,\"\t", &random))\(blank)")
        }
        let body = Array(word(0...60, "0123456789\r\n;abcdef", &random).utf8)
        var wire = body
        switch Int.random(in: 0...2, using: &random) {
        case 0 where !body.isEmpty:
            fields.append("Content-Length: \(body.count)")
        case 1:
            fields.append("Transfer-Encoding: chunked")
            wire = chunked(body, &random)
        default:
            wire = []
        }
        fields.shuffle(using: &random)
        head += fields.map { $0 + "\r\n" }.joined() + "\r\n"
        let isEmpty = wire.isEmpty || body.isEmpty
        let text = String(decoding: body, as: UTF8.self)
        return (
            Array(head.utf8) + wire,
            "\(method.lowercased()) \(target)" + (isEmpty ? "" : " [\(text)]")
        )
    }

    private func word(
        _ counts: ClosedRange<Int>, _ letters: String, _ random: inout SeededRandom
    ) -> String {
        let letters = Array(letters)
        return String(
            (0..<Int.random(in: counts, using: &random))
                .map { _ in letters.randomElement(using: &random) ?? "a" })
    }

    private func chunked(_ body: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = body[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...20, using: &random))
            rest = rest.dropFirst(piece.count)
            let zeros = String(repeating: "0", count: Int.random(in: 0...3, using: &random))
            let size =
                zeros + String(piece.count, radix: 16, uppercase: Bool.random(using: &random))
            let hasExtension = Bool.random(using: &random)
            bytes +=
                Array((size + (hasExtension ? ";a=\"b\"" : "") + "\r\n").utf8) + piece + [13, 10]
        }
        return bytes + Array((Bool.random(using: &random) ? "0\r\n\r\n" : "0\r\nT: v\r\n\r\n").utf8)
    }

    @Test("Good requests, however cut, come out as they went in")
    func roundTrip() {
        var random = SeededRandom("roundTrip")
        for _ in 0..<1500 {
            let requests = (0..<Int.random(in: 1...4, using: &random)).map { _ in request(&random) }
            let bytes = requests.flatMap(\.bytes)
            let events = ParserHarness().events(bytes, cutAt: cuts(bytes.count, &random))
            #expect(events == requests.map(\.event))
        }
    }

    @Test("Every split of a good request gives the same request")
    func everySplit() {
        var random = SeededRandom("everySplit")
        for _ in 0..<15 {
            let (bytes, event) = request(&random)
            for cut in 0...bytes.count {
                #expect(ParserHarness().events(bytes, cutAt: [cut]) == [event])
            }
        }
    }

    private static let tokens = [
        "\r\n", "\n", "\r", "\0", " ", "\t", ":", ",", ";", "0", "00", "+", "-", "0x", "_",
        "\r\n\r\n", "Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", "chunked",
        "Host: y\r\n",
        " HTTP/1.1", "HTTP/1.0", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "0\r\n\r\n",
        "ffffffffffffffff",
        "9223372036854775807", "Content-Encoding: gzip\r\n", "Expect: 100-continue\r\n", "\u{a0}",
        "\u{85}",
    ].map { Array($0.utf8) }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededRandom) {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let at = Int.random(in: 0...bytes.count, using: &random)
            let end = min(bytes.count, at + Int.random(in: 0...12, using: &random))
            switch Int.random(in: 0...4, using: &random) {
            case 0 where at < bytes.count:
                bytes[at] = UInt8.random(in: 0...255, using: &random)
            case 1 where at < bytes.count:
                bytes[at] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 2: bytes.removeSubrange(at..<end)
            case 3: bytes.insert(contentsOf: bytes[at..<end], at: at)
            default:
                bytes.insert(contentsOf: Self.tokens.randomElement(using: &random) ?? [], at: at)
            }
        }
    }

    @Test("Broken requests do no harm, and are judged alike however they are cut")
    func mutations() {
        var random = SeededRandom("mutations")
        var limits = WireLimits()
        // Small, so that all of them are met.
        limits.headerBytesMax = 300
        limits.targetBytesMax = 50
        limits.headerCountMax = 8
        limits.bodyBytesMax = 80
        limits.inflatedBodyBytesMax = 100
        let harness = ParserHarness(limits: limits)
        for _ in 0..<4000 {
            var bytes = (0..<Int.random(in: 1...3, using: &random)).flatMap { _ in
                request(&random).bytes
            }
            mutate(&bytes, &random)
            let whole = harness.events(bytes)
            let cuts = cuts(bytes.count, &random)
            let pieces = harness.events(bytes, cutAt: cuts)
            #expect(pieces == whole, "\(String(decoding: bytes, as: UTF8.self)) cut at \(cuts)")
        }
    }

    @Test("A server goes on serving whatever some clients send")
    func liveServer() throws {
        var random = SeededRandom("liveServer")
        try TestServer.run { test in
            for _ in 0..<150 {
                var (bytes, _) = request(&random)
                mutate(&bytes, &random)
                let client = try test.client()
                // The server may close while we still send; that is its right.
                try? client.send(bytes)
                client.endSending()
                _ = try? client.receiveToEnd()
            }
            let client = try test.client()
            try client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            #expect(try client.answer().status == 200)
        }
    }
}
