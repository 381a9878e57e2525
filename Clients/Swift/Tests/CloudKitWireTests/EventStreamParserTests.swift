import XCTest

@testable import CloudKitWire

final class EventStreamParserTests: XCTestCase {
    private func events(_ text: String) throws -> [String] {
        var parser = EventStreamParser()
        return try parser.take(Array(text.utf8)).map(Self.line)
    }

    private static func line(_ event: EventStreamParser.Event) -> String {
        "\(event.id ?? "-") \(String(decoding: event.data, as: UTF8.self))"
    }

    func testEventsEndAtEmptyLinesHoweverLinesEnd() throws {
        XCTAssertEqual(try events("data: a\n\ndata:b\r\n\r\ndata: c\r\r"), ["- a", "- b", "- c"])
        XCTAssertEqual(try events("data: a\ndata: b\n\n"), ["- a\nb"])
        XCTAssertEqual(try events("data\n\ndata:  x\n\n"), ["- ", "-  x"])
        XCTAssertEqual(try events("\u{FEFF}data: a\n\n"), ["- a"])
        XCTAssertEqual(try events(": only a comment\n\nevent: x\n\nretry: 5\n\n"), [])
        XCTAssertEqual(try events("data: cut off\n"), [])
    }

    func testAnIdHoldsUntilTheNext() throws {
        XCTAssertEqual(
            try events("id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\nid: x\0y\ndata: d\n\n"),
            ["1 a", "1 b", " c", " d"])
    }

    func testAnEventThatIsTooLargeIsRefused() {
        var parser = EventStreamParser()
        let large = [UInt8](repeating: 0x61, count: EventStreamParser.eventBytesMax + 1)
        XCTAssertThrowsError(try parser.take(large))
        var lines = EventStreamParser()
        let line = Array("data: \(String(repeating: "x", count: 1_000))\n".utf8)
        XCTAssertThrowsError(try { for _ in 0..<2_000 { _ = try lines.take(line) } }())
    }

    func testPiecesOfAnySizeGiveTheSameEvents() throws {
        var random = SystemRandomNumberGenerator()
        let parts = [
            "data: x", "id: 5", ":c", "\n", "\r", "\r\n", "\n\n", "da", "ta", ":", " ", "ü",
        ]
        for _ in 0..<300 {
            let text = (0..<Int.random(in: 0..<40, using: &random))
                .compactMap { _ in parts.randomElement(using: &random) }.joined()
            let bytes = Array(text.utf8)
            let whole = try events(text)
            var parser = EventStreamParser()
            var found: [String] = []
            for byte in bytes { found += try parser.take([byte]).map(Self.line) }
            XCTAssertEqual(found, whole, "\(bytes)")
        }
    }

    func testHowSoonToComeBackIsTheLastNumberThatWasSaid() throws {
        var parser = EventStreamParser()
        XCTAssertNil(parser.retrySeconds)
        _ = try parser.take("retry: 1000\n\nretry: soon\nretry: -5\nretry:\n".utf8)
        XCTAssertEqual(parser.retrySeconds, 1)
        _ = try parser.take("data: a\n\nretry:0\n\n".utf8)
        XCTAssertEqual(parser.retrySeconds, 0)
    }
}
