import CloudKitWire
import XCTest

final class JSONTapeTests: XCTestCase {
    private func view(_ text: String) throws -> JSONView { try JSONTape(Array(text.utf8)).root }

    func testMembersAndElementsComeInTheirOrder() throws {
        let view = try view(#"{"a":[1,{"b":null},"c"],"d":true}"#)
        XCTAssertEqual(view.members.map { $0.name.string }, ["a", "d"])
        XCTAssertEqual(view["a"]?.elements.map(\.int64), [1, nil, nil])
        XCTAssertEqual(view["a"]?.elements.compactMap(\.string), ["c"])
        XCTAssertEqual(view["d"]?.bool, true)
        XCTAssertNil(view["e"])
    }

    func testWholeNumbersAreExactOver64Bits() throws {
        for number in [Int64.max, .min, 0, -1, 9_007_199_254_740_993] {
            XCTAssertEqual(try view("[\(number)]").elements.first { _ in true }?.int64, number)
        }
        XCTAssertNil(try view("9223372036854775808").int64)
        XCTAssertEqual(try view("9223372036854775808").double, 9_223_372_036_854_775_808)
        XCTAssertNil(try view("1.0").int64)
        XCTAssertEqual(try view("-1.5e3").double, -1500)
        XCTAssertNil(try view("1e999").double)
    }

    func testEscapesAndSurrogatesAreUndone() throws {
        XCTAssertEqual(
            try view(#""a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é""#).string,
            "a\"\\/\u{8}\u{c}\n\r\té😀é")
        XCTAssertEqual(try view(#""\ud83d""#).string, "\u{FFFD}")
    }

    func testWhatIsNotJSONIsRefusedWithItsPlace() {
        let refused: [(String, Int)] = [
            ("", 0), ("{", 1), ("[1,]", 3), (#"{"a" 1}"#, 5), (#"{"a":1,}"#, 7), ("01", 1),
            ("1.", 2), ("-", 1), ("tru", 3), ("[1] 2", 4), ("\"\u{1}\"", 1), (#""\x""#, 1),
            (#""\u12g4""#, 1), ("nul", 3), ("[1 2]", 3), ("{1:2}", 1), ("+1", 0), ("1e", 2),
        ]
        for (text, offset) in refused {
            XCTAssertThrowsError(try view(text), text) {
                XCTAssertEqual(($0 as? JSONTape.Malformed)?.offset, offset, text)
            }
        }
    }

    func testDeepNestingIsRefusedWithoutUsingUpTheStack() {
        XCTAssertNoThrow(
            try view(
                String(repeating: "[", count: 128)
                    + String(repeating: "]", count: 128)))
        XCTAssertThrowsError(try view(String(repeating: "[", count: 1_000_000)))
    }

    func testWhatIsWrittenIsReadBack() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let text = String(
                String.UnicodeScalarView(
                    (0..<8).compactMap { _ in
                        Unicode.Scalar(UInt32.random(in: 0..<0x3000, using: &random))
                    }))
            let number = Int64.random(in: .min ... .max, using: &random)
            let fraction = Double.random(in: -1e18...1e18, using: &random)
            var json = JSONText()
            json.object { json in
                json.member(text, text)
                json.key("n")
                json.array {
                    $0.int64(number)
                    $0.double(fraction)
                    $0.bool(false)
                    $0.null()
                }
            }
            let view = try JSONTape(json.bytes).root
            XCTAssertEqual(view[text]?.string, text)
            let list = Array(try XCTUnwrap(view["n"]).elements)
            XCTAssertEqual(list[0].int64, number)
            XCTAssertEqual(list[1].double, fraction)
            XCTAssertEqual(list[2].bool, false)
            XCTAssertTrue(list[3].isNull)
            XCTAssertEqual(Array(view.text), json.bytes)
        }
    }

    func testCutAndChangedTextsNeverTrap() {
        let text = Array(#"{"a":[1,-2.5e+3,"x\u00e9",{"b":null,"c":[true,false]}],"d":{}}"#.utf8)
        for end in 0..<text.count { _ = try? JSONTape(Array(text[..<end])) }
        for index in text.indices {
            for bit in 0..<8 {
                var changed = text
                changed[index] ^= 1 << bit
                guard let tape = try? JSONTape(changed) else { continue }
                XCTAssertFalse(tape.root.text.isEmpty)
            }
        }
    }
}
