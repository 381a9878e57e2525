import HTTPClient
import Seeding
import Testing

/// What the parser says of bytes, cut at places: head, body, and whether it is whole.
struct Parsed: Equatable {
    var status = 0
    var header: String?
    var body: [UInt8] = []
    var isWhole = false
    var keepsAlive = false
    var refusal: ClientFailure?

    init(_ bytes: [UInt8], method: String = "GET", cuts: [Int] = []) {
        var parser = ResponseParser(method: method)
        var start = 0
        for end in cuts + [bytes.count] where refusal == nil && !isWhole {
            take(Array(bytes[start..<max(start, end)]), &parser)
            start = max(start, end)
        }
        guard refusal == nil, !isWhole else { return }
        do throws(ClientFailure) {
            try parser.finish()
            isWhole = true
        } catch {
            refusal = error
        }
    }

    private mutating func take(_ piece: [UInt8], _ parser: inout ResponseParser) {
        var position = 0
        piece.withUnsafeBytes { bytes in
            do throws(ClientFailure) {
                while true {
                    switch try parser.next(bytes, at: &position) {
                    case .needsMore: return
                    case .head(let head):
                        status = head.status
                        header = head.headers["x-test"]
                        keepsAlive = head.keepsAlive
                    case .data(let range): body += bytes[range]
                    case .end:
                        isWhole = true
                        return
                    }
                }
            } catch {
                refusal = error
            }
        }
    }
}

@Suite("Answers, as the client reads them")
struct ResponseParserTests {
    private func parse(_ text: String, method: String = "GET") -> Parsed {
        Parsed(Array(text.utf8), method: method)
    }

    @Test("A body ends by its length, its chunks or the connection, and some answers have none")
    func framing() {
        var parsed = parse("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-Test:  a b \r\n\r\nabc")
        #expect(parsed.status == 200 && parsed.body == Array("abc".utf8) && parsed.isWhole)
        #expect(parsed.header == "a b" && parsed.keepsAlive)
        parsed = parse(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n")
        #expect(parsed.body == Array("abc".utf8) && parsed.isWhole && parsed.keepsAlive)
        parsed = parse("HTTP/1.1 200\r\n\r\nabc")
        #expect(parsed.body == Array("abc".utf8) && parsed.isWhole && !parsed.keepsAlive)
        parsed = parse("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", method: "HEAD")
        #expect(parsed.body.isEmpty && parsed.isWhole)
        parsed = parse("HTTP/1.1 204 No Content\r\n\r\n")
        #expect(parsed.isWhole)
        parsed = parse("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(parsed.status == 200 && parsed.isWhole)
        parsed = parse("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n")
        #expect(parsed.isWhole && !parsed.keepsAlive)
        parsed = parse("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n")
        #expect(parsed.isWhole && !parsed.keepsAlive)
    }

    @Test(
        "What could be read in two ways, or is no answer, is refused",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n", "HTTP/1.1 200 OK\r\nName : a\r\n\r\n",
            "HTTP/1.1 200 OK\r\n folded: a\r\n\r\n", "HTTP/1.1 200 OK\r\nname\r\n\r\n",
            "HTTP/1.1 200 OK\r\nname: a\u{1}\r\n\r\n", "HTTP/1.1 200 OK\nname: a\r\n\r\n",
            "HTTP/2 200\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
            "HTTP/1.1 099 OK\r\n\r\n", "HTTP/1.1 101 Switching\r\n\r\n", "\r\n\r\n",
            "SSH-2.0-server\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n",
            String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 9),
            "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 201) + "\r\n",
            "HTTP/1.1 200 OK\r\na: " + String(repeating: "b", count: 70_000),
        ])
    func refusals(_ text: String) {
        let parsed = parse(text)
        guard case .malformed = parsed.refusal else {
            Issue.record("\(parsed)")
            return
        }
    }

    @Test(
        "An end in the middle is noticed",
        arguments: [
            "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n",
        ])
    func truncated(_ text: String) {
        guard case .broken = parse(text).refusal else {
            Issue.record("\(parse(text))")
            return
        }
    }

    private func answer(_ random: inout SeededRandom) -> (bytes: [UInt8], body: [UInt8]) {
        let body = (0..<Int.random(in: 0...80, using: &random)).map { _ in
            Array("ab\r\n0;".utf8).randomElement(using: &random) ?? 0
        }
        var head = "HTTP/1.1 \(Int.random(in: 200...599, using: &random)) Some\r\n"
        for _ in 0..<Int.random(in: 0...4, using: &random) { head += "X-Test: value\r\n" }
        if Bool.random(using: &random) {
            return (Array((head + "Content-Length: \(body.count)\r\n\r\n").utf8) + body, body)
        }
        var bytes = Array((head + "Transfer-Encoding: chunked\r\n\r\n").utf8)
        var rest = body[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...20, using: &random))
            bytes += Array("\(String(piece.count, radix: 16))\r\n".utf8) + piece + [13, 10]
            rest = rest.dropFirst(piece.count)
        }
        return (bytes + Array("0\r\n\r\n".utf8), body)
    }

    private func cuts(_ count: Int, _ random: inout SeededRandom) -> [Int] {
        (0..<Int.random(in: 0...8, using: &random))
            .map { _ in Int.random(in: 0...count, using: &random) }.sorted()
    }

    @Test("Wherever an answer is cut, it is read the same")
    func cutting() {
        var random = SeededRandom("cutting")
        for _ in 0..<3_000 {
            let (bytes, body) = answer(&random)
            let whole = Parsed(bytes)
            // 204 and 304 have no body, whatever their fields say.
            if ![204, 304].contains(whole.status) { #expect(whole.body == body) }
            #expect(whole.isWhole && whole.refusal == nil)
            #expect(Parsed(bytes, cuts: cuts(bytes.count, &random)) == whole)
        }
    }

    @Test("Random and changed bytes are read or refused, the same however they are cut")
    func mutation() {
        var random = SeededRandom("mutation")
        for round in 0..<6_000 {
            var bytes = answer(&random).bytes
            if round % 3 == 0 {
                bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
            } else {
                for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
                    let location = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0...2, using: &random) {
                    case 0: bytes[location] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.remove(at: location)
                    default: bytes.insert(bytes[location], at: location)
                    }
                }
            }
            #expect(Parsed(bytes, cuts: cuts(bytes.count, &random)) == Parsed(bytes))
        }
    }
}
