import XCTest

@testable import LenticularCloudKit

/// Formats as apps write them, with every class of arguments, and what they become on the wire.
final class PredicateCorpusTests: XCTestCase {
    private typealias Row = (format: String, arguments: [Any], filters: String)

    private let date = Date(timeIntervalSince1970: 2)
    private let place = CLLocation(latitude: 1, longitude: 2)
    private let record = CKRecord(
        recordType: "T", recordID: CKRecord.ID(recordName: "r"))
    private lazy var reference = CKRecord.Reference(record: record, action: .none)

    private lazy var arguments: [Row] = [
        ("a = %@", ["x"], "a EQUALS 'x'"), ("a = %@", ["x" as NSString], "a EQUALS 'x'"),
        ("a = %@", [5], "a EQUALS 5"), ("a = %@", [5 as Int64], "a EQUALS 5"),
        ("a = %@", [5 as Int32], "a EQUALS 5"), ("a = %@", [5 as UInt8], "a EQUALS 5"),
        ("a = %@", [NSNumber(value: 5)], "a EQUALS 5"), ("a = %@", [0.5], "a EQUALS 0.5"),
        ("a = %@", [0.5 as Float], "a EQUALS 0.5"),
        ("a = %@", [NSNumber(value: 0.5)], "a EQUALS 0.5"), ("a = %@", [true], "a EQUALS 1"),
        ("a = %@", [NSNumber(value: false)], "a EQUALS 0"), ("a = %@", [date], "a EQUALS at 2000"),
        ("a = %@", [date as NSDate], "a EQUALS at 2000"),
        ("a = %@", [Data([1, 2])], "a EQUALS 2 bytes"),
        ("a = %@", [Data([1]) as NSData], "a EQUALS 1 bytes"),
        ("a = %@", [reference], "a EQUALS -> r"), ("a = %@", [record], "a EQUALS -> r"),
        ("a = %@", [record.recordID], "a EQUALS -> r"),
        ("a IN %@", [["x", "y"] as NSArray], "a IN 2 x STRING"),
        ("a IN %@", [[1, 2, 3]], "a IN 3 x INT64"), ("a IN %@", [[0.5, 1]], "a IN 2 x DOUBLE"),
        ("a IN %@", [[date]], "a IN 1 x TIMESTAMP"),
        ("a IN %@", [[reference]], "a IN 1 x REFERENCE"),
        ("a IN %@", [[record]], "a IN 1 x REFERENCE"),
        ("a IN %@", [[record.recordID]], "a IN 1 x REFERENCE"),
        ("a IN %@", [[Data([1]), Data([2])]], "a IN 2 x BYTES"),
        ("%K = %@", ["a", "x"], "a EQUALS 'x'"), ("%K IN %@", ["a", [1]], "a IN 1 x INT64"),
        ("%K > %K", ["a", "b"], "!two fields"),
    ]

    private lazy var placeholders: [Row] = [
        ("a = %d", [5], "a EQUALS 5"), ("a = %i", [-5], "a EQUALS -5"),
        ("a = %u", [5 as UInt], "a EQUALS 5"), ("a = %ld", [5], "a EQUALS 5"),
        ("a = %lu", [5 as UInt], "a EQUALS 5"), ("a = %lld", [5 as Int64], "a EQUALS 5"),
        ("a = %llu", [5 as UInt64], "a EQUALS 5"), ("a = %f", [2.5], "a EQUALS 2.5"),
        ("a = %lf", [2.5], "a EQUALS 2.5"), ("a = %g", [2.5], "a EQUALS 2.5"),
        (
            "a > %d AND b < %f AND c = %@", [1, 2.0, "x"],
            "a GREATER_THAN 1 & b LESS_THAN 2.0 & c EQUALS 'x'"
        ),
        ("a = '%d'", [], "a EQUALS '%d'"), ("a = \"%@\"", [], "a EQUALS '%@'"),
    ]

    private lazy var literals: [Row] = [
        ("a = 1.5e3", [], "a EQUALS 1500.0"), ("a = -0.5", [], "a EQUALS -0.5"),
        ("a = 9223372036854775807", [], "a EQUALS 9223372036854775807"),
        ("a = ''", [], "a EQUALS ''"), ("a = 'ä\u{1F375}'", [], "a EQUALS 'ä\u{1F375}'"),
        ("a = \"it's\"", [], "a EQUALS 'it's'"), ("a = YES", [], "a EQUALS 1"),
        ("a = false", [], "a EQUALS 0"), ("  a   =1", [], "a EQUALS 1"),
        ("a\n=\t1", [], "a EQUALS 1"), ("_a1 = 1", [], "_a1 EQUALS 1"),
        ("a IN {'x'}", [], "a IN 1 x STRING"), ("a IN {1.5, 2.5}", [], "a IN 2 x DOUBLE"),
        ("a IN {%@, %@}", ["x", "y"], "a IN 2 x STRING"), ("a IN {1, 'x'}", [], "!several types"),
    ]

    private lazy var comparisons: [Row] = [
        ("a==1", [], "a EQUALS 1"), ("a!=1", [], "a NOT_EQUALS 1"),
        ("a <> 1", [], "a NOT_EQUALS 1"), ("a>=1", [], "a GREATER_THAN_OR_EQUALS 1"),
        ("1 = a", [], "a EQUALS 1"), ("1 != a", [], "a NOT_EQUALS 1"),
        ("1 <= a", [], "a GREATER_THAN_OR_EQUALS 1"), ("1 >= a", [], "a LESS_THAN_OR_EQUALS 1"),
        ("1 > a", [], "a LESS_THAN 1"), ("%@ = a", ["x"], "a EQUALS 'x'"),
        ("a between {1, 2}", [], "a GREATER_THAN_OR_EQUALS 1 & a LESS_THAN_OR_EQUALS 2"),
        (
            "a BETWEEN {%@, %@}", [date, date],
            "a GREATER_THAN_OR_EQUALS at 2000 & a LESS_THAN_OR_EQUALS at 2000"
        ),
        ("a BETWEEN {1, 2, 3}", [], "!BETWEEN"), ("a BETWEEN 1", [], "!BETWEEN"),
        ("NOT a = 1", [], "a NOT_EQUALS 1"), ("not (a < 1)", [], "a GREATER_THAN_OR_EQUALS 1"),
        ("!(a > 1)", [], "a LESS_THAN_OR_EQUALS 1"), ("! a >= 1", [], "a LESS_THAN 1"),
        ("NOT a BETWEEN {1, 2}", [], "!NOT"), ("NOT TRUEPREDICATE", [], "nothing"),
        ("NOT FALSEPREDICATE", [], ""), ("truepredicate", [], ""),
        ("a = 1 and b = 2 && c = 3", [], "a EQUALS 1 & b EQUALS 2 & c EQUALS 3"),
        ("a = 1 AND TRUEPREDICATE", [], "a EQUALS 1"),
        ("a = 1 || b = 2", [], "!OR"), ("a = 1 AND (b = 2 OR c = 3)", [], "!OR"),
        ("a BEGINSWITH %@", ["x"], "a BEGINS_WITH 'x'"),
        ("NOT a BEGINSWITH 'x'", [], "a NOT_BEGINS_WITH 'x'"),
        ("a like 'x'", [], "!LIKE"), ("a matches 'x'", [], "!MATCHES"),
        ("a endswith 'x'", [], "!ENDSWITH"), ("a = null", [], "!nil"), ("a.b = 1", [], "!key path"),
        ("%K = 1", ["a.b"], "!key path"),
    ]

    private lazy var listsWordsAndPlaces: [Row] = [
        ("%@ IN tags", ["x"], "tags LIST_CONTAINS 'x'"),
        ("NOT %@ IN tags", ["x"], "tags NOT_LIST_CONTAINS 'x'"),
        ("tags contains 'x'", [], "tags LIST_CONTAINS 'x'"),
        ("any tags = 5", [], "tags LIST_CONTAINS 5"),
        ("SOME tags BEGINSWITH 'x'", [], "tags LIST_MEMBER_BEGINS_WITH 'x'"),
        ("NOT ANY tags BEGINSWITH 'x'", [], "tags NOT_LIST_MEMBER_BEGINS_WITH 'x'"),
        ("ANY tags IN {'x', 'y'}", [], "tags LIST_CONTAINS_ANY 2 x STRING"),
        ("NOT ANY tags IN {'x', 'y'}", [], "tags NOT_LIST_CONTAINS_ANY 2 x STRING"),
        ("all tags = 'x'", [], "!ALL"), ("none tags = 'x'", [], "!NONE"),
        ("SELF CONTAINS %@", ["tea"], " CONTAINS_ANY_TOKENS 'tea'"),
        ("self contains 'tea' AND a = 1", [], " CONTAINS_ANY_TOKENS 'tea' & a EQUALS 1"),
        ("self = 'tea'", [], "!self"), ("NOT (self CONTAINS 'tea')", [], "!NOT"),
        (
            "self CONTAINS tokenize:using:(%@, 'Cdl')", ["green tea"],
            " CONTAINS_ALL_TOKENS 'green tea'"
        ),
        ("text CONTAINS tokenize:using:('a b', 'Cdl')", [], "text CONTAINS_ALL_TOKENS 'a b'"),
        (
            "distanceToLocation:fromLocation:(spot, %@) <= 5", [place], "spot NEAR a place 5m"
        ),
        (
            "distanceToLocation:fromLocation:(%K, %@) < %f", ["spot", place, 12.0],
            "spot NEAR a place 12m"
        ),
        ("DISTANCETOLOCATION:FROMLOCATION:(%@, spot) < 7", [place], "spot NEAR a place 7m"),
        ("distanceToLocation:fromLocation:(spot, 'x') < 7", [], "!a distance"),
        ("recordID = %@", [reference], "recordID EQUALS -> r"),
        ("creationDate > %@", [date], "creationDate GREATER_THAN at 2000"),
        ("creatorUserRecordID = %@", [reference], "creatorUserRecordID EQUALS -> r"),
    ]

    func testEveryFormatBecomesItsFiltersOrIsRefusedByName() throws {
        let rows =
            arguments + placeholders + literals + comparisons
            + listsWordsAndPlaces
        for row in rows {
            let predicate = NSPredicate(format: row.format, argumentArray: row.arguments)
            guard row.filters.hasPrefix("!") else {
                XCTAssertEqual(try predicate.filterText(), row.filters, row.format)
                continue
            }
            XCTAssertThrowsError(try predicate.filterText(), row.format) { error in
                XCTAssertEqual((error as? CKError)?.code, .invalidArguments, row.format)
                let word = String(row.filters.dropFirst())
                XCTAssertTrue(error.localizedDescription.contains(word), "\(row.format): \(error)")
            }
        }
        XCTAssertGreaterThanOrEqual(rows.count, 110)
    }

    func testNowIsTheMomentWhenTheQueryRuns() throws {
        let before = Date()
        let query = CKQuery(recordType: "T", predicate: NSPredicate(format: "a < now()"))
        let filter = try XCTUnwrap(try query.filters()?.first)
        guard case .timestamp(let moment) = filter.value else { return XCTFail("no date") }
        XCTAssertGreaterThanOrEqual(moment, before)
    }

    func testWhatIsNoFormatSaysWhereAndWhatWasExpected() {
        let table = [
            ("a = ", "a key or a value"), ("a", "a comparison"), ("= 1", "a key or a value"),
            ("a = 1 b", "the end"), ("(a = 1", "\")\""), ("a = %z", "%@"), ("a = 'x", "closing"),
            ("a = 1 AND", "a key or a value"), ("a IN {1", "\",\""),
            ("a = %@", "one more argument"),
            ("%K = 1", "one more argument"), ("a = 1;", "a word, value or sign"),
            ("distanceToLocation:(a, b) < 1", "fromLocation"), ("a = 1.2.3", "a number"),
        ]
        for (format, expected) in table {
            XCTAssertThrowsError(try PredicateParser.parse(format, []), format) { error in
                XCTAssertTrue("\(error)".contains(expected), "\(format): \(error)")
                XCTAssertTrue("\(error)".contains("at character"), "\(error)")
            }
        }
    }
}
