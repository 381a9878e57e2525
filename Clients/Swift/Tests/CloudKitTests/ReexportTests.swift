import CloudKit
import CoreLocation
import XCTest

final class ReexportTests: XCTestCase {
    func testASourceThatImportsTheNativeNamesCompilesAsBefore() throws {
        let record = CKRecord(recordType: "Place")
        record["title"] = "Tea"
        record["count"] = 3
        record["where"] = CLLocation(latitude: 1, longitude: 2)
        record["when"] = Date(timeIntervalSince1970: 5) as NSDate
        record["tags"] = ["a", "b"]
        let title: String? = record["title"]
        XCTAssertEqual(title, "Tea")
        XCTAssertEqual(record["count"] as? Int, 3)
        XCTAssertEqual(record["count"] as? Int64, 3)
        XCTAssertEqual(record["count"] as? Double, 3)
        XCTAssertEqual(record["count"] as? Bool, nil ?? (record["count"] as? Bool))
        XCTAssertEqual(record["tags"] as? [String], ["a", "b"])
        record["title"] = nil
        XCTAssertNil(record["title"])
        XCTAssertEqual(Set(record.changedKeys()), ["title", "count", "where", "when", "tags"])
    }
}
