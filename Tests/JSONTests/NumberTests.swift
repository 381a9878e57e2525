import Seeding
import Testing

@testable import JSON

@Suite("Numbers")
struct NumberTests {
    private func number(_ text: String) throws -> JSONValue {
        try JSONDocument(parsing: Array(text.utf8)).root
    }

    @Test(
        "Integers are exact over the whole range of 64 bits, and nil beyond",
        arguments: [
            ("0", 0), ("-0", 0), ("1", 1), ("-1", -1), ("9007199254740993", 9_007_199_254_740_993),
            ("9223372036854775807", .max), ("9223372036854775806", .max - 1),
            ("-9223372036854775808", .min), ("-9223372036854775807", .min + 1),
            ("9223372036854775808", nil), ("-9223372036854775809", nil),
            ("18446744073709551616", nil), ("99999999999999999999999", nil),
            ("92233720368547758070", nil), ("-92233720368547758080", nil),
            ("1.0", nil), ("1e0", nil), ("1E2", nil), ("-0.0", nil), ("\"1\"", nil), ("true", nil),
        ] as [(String, Int64?)])
    func int64(text: String, value: Int64?) throws {
        #expect(try number(text).int64 == value)
    }

    @Test("A number is an integer when it has neither fraction nor exponent")
    func isInteger() throws {
        for text in ["0", "-0", "12", "99999999999999999999999"] {
            #expect(try number(text).isInteger)
        }
        for text in ["0.0", "1e1", "-1E+0", "\"1\"", "null"] {
            #expect(try !number(text).isInteger)
        }
    }

    @Test(
        "Doubles are the nearest ones",
        arguments: [
            ("0", 0), ("3", 3), ("3.0", 3), ("0.1", 0.1), ("1e22", 1e22), ("1e23", 1e23),
            ("-1.5e-7", -1.5e-7), ("123456789012345678", 123_456_789_012_345_680),
            ("9007199254740992", 9_007_199_254_740_992),
            ("9007199254740993", 9_007_199_254_740_992),
            ("9007199254740993.0000000001", 9_007_199_254_740_994),
            ("2.2250738585072009e-308", .leastNormalMagnitude.nextDown),
            ("2.2250738585072014e-308", .leastNormalMagnitude),
            ("4.9e-324", .leastNonzeroMagnitude),
            ("2.4703282292062328e-324", .leastNonzeroMagnitude),
            ("2.4703282292062327e-324", 0), ("1e-400", 0), ("0e999999999999", 0),
            ("1.7976931348623157e308", .greatestFiniteMagnitude),
            ("1.7976931348623158e308", .greatestFiniteMagnitude),
            ("1.7976931348623159e308", nil), ("1e309", nil), ("-1e400", nil),
            ("1e999999999999999999999999", nil), ("1e-999999999999999999999999", 0),
            ("48.85341", 48.85341), ("0.30000000000000004", 0.1 + 0.2),
            ("\"1\"", nil), ("null", nil),
        ] as [(String, Double?)])
    func double(text: String, value: Double?) throws {
        #expect(try number(text).double == value)
    }

    @Test("Minus zero stays minus zero as a double")
    func minusZero() throws {
        for text in ["-0", "-0.0", "-0e5", "-1e-400"] {
            #expect(try number(text).double?.sign == .minus)
        }
    }

    @Test("A number of a million digits is read in time")
    func long() throws {
        let digits = String(repeating: "7", count: 1_000_000)
        #expect(try number(digits).double == nil)
        #expect(try number(digits).int64 == nil)
        #expect(try number("0." + digits).double == 0.7777777777777778)
        #expect(try number("1e-" + digits).double == 0)
    }

    @Test("What JSON has no number for is null")
    func endless() {
        for value in [Double.infinity, -.infinity, .nan] {
            var writer = JSONWriter()
            writer.double(value)
            #expect(writer.bytes == Array("null".utf8))
        }
    }

    @Test("Every finite double reads back as written")
    func roundTrip() throws {
        var random = SeededRandom("number")
        for _ in 0..<20_000 {
            let value = Double(bitPattern: random.next())
            guard value.isFinite else { continue }
            var writer = JSONWriter()
            writer.double(value)
            let read = try JSONDocument(parsing: writer.bytes).root.double
            #expect(read?.bitPattern == value.bitPattern, "seed \(random.seed)")
        }
    }

    @Test("Short decimals read as the standard library reads them")
    func shortDecimals() throws {
        var random = SeededRandom("number")
        for _ in 0..<20_000 {
            let digits = random.next() >> UInt64.random(in: 0..<64, using: &random)
            let exponent = Int.random(in: -30...30, using: &random)
            let text = "\(digits)e\(exponent)"
            #expect(try number(text).double == Double(text), "seed \(random.seed): \(text)")
        }
    }
}
