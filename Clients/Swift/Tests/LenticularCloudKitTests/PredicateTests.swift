import XCTest

@testable import LenticularCloudKit

final class PredicateTests: XCTestCase {
    private let place = CLLocation(latitude: 1, longitude: 2)
    private let reference = CKRecord.Reference(
        recordID: CKRecord.ID(recordName: "r"), action: .none)

    private var comparisons: [(NSPredicate, String)] {
        let date = Date(timeIntervalSince1970: 1)
        return [
            (NSPredicate(value: true), ""), (NSPredicate(value: false), "nothing"),
            (NSPredicate(format: "TRUEPREDICATE"), ""),
            (NSPredicate(format: "a = 1 AND FALSEPREDICATE"), "nothing"),
            (NSPredicate(format: "a == %@", "x"), "a EQUALS 'x'"),
            (NSPredicate(format: "a = %d", 5), "a EQUALS 5"),
            (NSPredicate(format: "a = %ld && b = %f", 5, 0.5), "a EQUALS 5 & b EQUALS 0.5"),
            (NSPredicate(format: "a != 'x'"), "a NOT_EQUALS 'x'"),
            (NSPredicate(format: "a <> \"x\""), "a NOT_EQUALS 'x'"),
            (NSPredicate(format: "%K < 5", "size"), "size LESS_THAN 5"),
            (NSPredicate(format: "a <= -5"), "a LESS_THAN_OR_EQUALS -5"),
            (NSPredicate(format: "a =< 5"), "a LESS_THAN_OR_EQUALS 5"),
            (NSPredicate(format: "a > 5.5"), "a GREATER_THAN 5.5"),
            (NSPredicate(format: "a => 5"), "a GREATER_THAN_OR_EQUALS 5"),
            (NSPredicate(format: "5 < a"), "a GREATER_THAN 5"),
            (NSPredicate(format: "a = TRUE"), "a EQUALS 1"),
            (NSPredicate(format: "a = no"), "a EQUALS 0"),
            (NSPredicate(format: "when > %@", date as NSDate), "when GREATER_THAN at 1000"),
            (NSPredicate(format: "r = %@", reference), "r EQUALS -> r"),
            (
                NSPredicate(
                    format: "r = %@", CKRecord(recordType: "T", recordID: reference.recordID)),
                "r EQUALS -> r"
            ),
        ]
    }

    private var listsAndPlaces: [(NSPredicate, String)] {
        [
            (NSPredicate(format: "a IN %@", ["x", "y"]), "a IN 2 x STRING"),
            (NSPredicate(format: "a in {1, 2, 3}"), "a IN 3 x INT64"),
            (NSPredicate(format: "NOT (a IN {1, 2})"), "a NOT_IN 2 x INT64"),
            (NSPredicate(format: "'x' IN tags"), "tags LIST_CONTAINS 'x'"),
            (NSPredicate(format: "tags CONTAINS %@", "x"), "tags LIST_CONTAINS 'x'"),
            (NSPredicate(format: "NOT tags CONTAINS 'x'"), "tags NOT_LIST_CONTAINS 'x'"),
            (NSPredicate(format: "ANY tags = 'x'"), "tags LIST_CONTAINS 'x'"),
            (
                NSPredicate(format: "SOME tags IN %@", ["x", "y"]),
                "tags LIST_CONTAINS_ANY 2 x STRING"
            ),
            (NSPredicate(format: "ANY tags BEGINSWITH 'x'"), "tags LIST_MEMBER_BEGINS_WITH 'x'"),
            (NSPredicate(format: "a beginswith 'x'"), "a BEGINS_WITH 'x'"),
            (NSPredicate(format: "!(a BEGINSWITH 'x')"), "a NOT_BEGINS_WITH 'x'"),
            (
                NSPredicate(format: "a BETWEEN {1, 9}"),
                "a GREATER_THAN_OR_EQUALS 1 & a LESS_THAN_OR_EQUALS 9"
            ),
            (
                NSPredicate(format: "a BETWEEN %@", [1, 9]),
                "a GREATER_THAN_OR_EQUALS 1 & a LESS_THAN_OR_EQUALS 9"
            ),
            (
                NSPredicate(
                    format: "distanceToLocation:fromLocation:(spot, %@) < %f", place, 500.0),
                "spot NEAR a place 500m"
            ),
            (NSPredicate(format: "self CONTAINS 'green tea'"), " CONTAINS_ANY_TOKENS 'green tea'"),
            (
                NSPredicate(format: "title CONTAINS tokenize:using:('green tea', 'Cdl')"),
                "title CONTAINS_ALL_TOKENS 'green tea'"
            ),
            (NSPredicate(format: "___recordID = %@", reference), "___recordID EQUALS -> r"),
            (NSPredicate(format: "((a = 1) AND (b = 2))"), "a EQUALS 1 & b EQUALS 2"),
            (NSPredicate(format: "NOT NOT a = 1"), "a EQUALS 1"),
            (NSPredicate(format: "a = 'it\\'s'"), "a EQUALS 'it's'"),
            (
                NSPredicate(format: "a = %@ AND b = %@", argumentArray: [1, "x"]),
                "a EQUALS 1 & b EQUALS 'x'"
            ),
        ]
    }

    func testFormatsBecomeTheProtocolsFilters() throws {
        for (index, (predicate, expected)) in (comparisons + listsAndPlaces).enumerated() {
            XCTAssertEqual(try predicate.filterText(), expected, "row \(index)")
        }
    }

    func testWhatNoServerCanAnswerIsToldWhenTheQueryRunsAndNamed() throws {
        let table: [(NSPredicate, String)] = [
            (NSPredicate(format: "a = 1 OR b = 2"), "OR"),
            (NSPredicate(format: "a LIKE 'x*'"), "LIKE"),
            (NSPredicate(format: "a MATCHES 'x'"), "MATCHES"),
            (NSPredicate(format: "a ENDSWITH 'x'"), "ENDSWITH"),
            (NSPredicate(format: "ALL tags = 'x'"), "ALL"),
            (NSPredicate(format: "NONE tags = 'x'"), "NONE"),
            (NSPredicate(format: "owner.name = 'x'"), "key path"),
            (NSPredicate(format: "NOT (a = 1 AND b = 2)"), "NOT"),
            (NSPredicate(format: "a = b"), "two fields"),
            (NSPredicate(format: "a = nil"), "nil"),
            (NSPredicate(block: { _, _ in true }), "block"),
            (
                NSPredicate(format: "distanceToLocation:fromLocation:(spot, %@) > 5", place),
                "radius"
            ),
        ]
        for (predicate, word) in table {
            XCTAssertThrowsError(try CKQuery(recordType: "T", predicate: predicate).filters(), word)
            { error in
                XCTAssertEqual((error as? CKError)?.code, .invalidArguments)
                XCTAssertTrue(error.localizedDescription.contains(word), "\(error)")
            }
        }
    }

    func testCompoundsKeepThePredicatesThatFormatsMade() throws {
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "a = 1"), NSPredicate(format: "b = 2"),
        ])
        XCTAssertEqual(try both.filterText(), "a EQUALS 1 & b EQUALS 2")
        let not = NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "a = 1"))
        XCTAssertEqual(try not.filterText(), "a NOT_EQUALS 1")
    }

    func testSortsByKeyAreRead() throws {
        let query = CKQuery(recordType: "T", predicate: NSPredicate(value: true))
        query.sortDescriptors = [
            NSSortDescriptor(key: "a", ascending: false),
            NSSortDescriptor(key: "creationDate", ascending: true),
            CKLocationSortDescriptor(key: "spot", relativeLocation: place),
        ]
        XCTAssertEqual(
            try query.sorts(),
            [
                CKQuery.Sort("a", ascending: false), CKQuery.Sort("creationDate"),
                CKQuery.Sort("spot", distanceFrom: place),
            ])
    }

    func testNoFormatIsReadForEver() {
        var random = SystemRandomNumberGenerator()
        let words = [
            "a", "=", "(", ")", "NOT", "AND", "OR", "{", "}", ",", "1", "'x'", "%@", "ANY", "IN",
            "self", "distanceToLocation:fromLocation:", ".", "-", "!", "BETWEEN", "\"",
        ]
        for _ in 0..<5_000 {
            let format = (0..<Int.random(in: 0..<14, using: &random))
                .compactMap { _ in words.randomElement(using: &random) }.joined(separator: " ")
            _ = try? PredicateParser.parse(format, ["x", 1, "y"])
        }
        XCTAssertThrowsError(
            try PredicateParser.parse(String(repeating: "(", count: 100_000), []))
    }
}
