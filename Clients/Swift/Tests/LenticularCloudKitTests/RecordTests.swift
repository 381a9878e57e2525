import LenticularCloudKit
import XCTest

final class RecordTests: XCTestCase {
    func testNumbersCastToEveryNumberType() {
        let record = CKRecord(recordType: "T")
        record["whole"] = 7
        XCTAssertEqual(record["whole"] as? Int, 7)
        XCTAssertEqual(record["whole"] as? Int64, 7)
        XCTAssertEqual(record["whole"] as? Double, 7)
        XCTAssertEqual(record["whole"] as? NSNumber, 7)
        record["flag"] = true
        XCTAssertEqual(record["flag"] as? Bool, true)
        XCTAssertEqual(record["flag"] as? Int, 1)
        record["list"] = [1, 2, 3]
        XCTAssertEqual(record["list"] as? [Int], [1, 2, 3])
        XCTAssertEqual(record["list"] as? [NSNumber], [1, 2, 3])
        record["fractions"] = [1.5, 2]
        XCTAssertEqual(record["fractions"] as? [Double], [1.5, 2])
        let typed: Int? = record["whole"]
        XCTAssertEqual(typed, 7)
    }

    func testTextDatesAndDataComeBackAsSwiftAndAsFoundationTypes() {
        let record = CKRecord(recordType: "T")
        let date = Date(timeIntervalSince1970: 1_700_000_000.125)
        record["text"] = "Tea"
        record["date"] = date
        record["data"] = Data([0, 1, 2])
        record["dates"] = [date]
        XCTAssertEqual(record["text"] as? String, "Tea")
        XCTAssertEqual(record["date"] as? Date, date)
        XCTAssertEqual(record["data"] as? Data, Data([0, 1, 2]))
        XCTAssertEqual(record["dates"] as? [Date], [date])
        record["text"] = "Mate" as NSString
        record["date"] = date as NSDate
        record["data"] = Data([3]) as NSData
        XCTAssertEqual(record["text"] as? String, "Mate")
        XCTAssertEqual(record["date"] as? Date, date)
        XCTAssertEqual(record["data"] as? Data, Data([3]))
    }

    func testEqualityOfIDsGoesByValue() {
        let zone = CKRecordZone.ID(zoneName: "Z")
        let first = CKRecord.ID(recordName: "a", zoneID: zone)
        let second = CKRecord.ID(recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Z"))
        XCTAssertEqual(first, second)
        XCTAssertEqual([first: 1][second], 1)
        XCTAssertNotEqual(first, CKRecord.ID(recordName: "a"))
        XCTAssertEqual(CKRecordZone.default().zoneID, CKRecordZone.ID(zoneName: "_defaultZone"))
    }

    func testSystemFieldsAreArchivedWithoutValues() throws {
        let record = CKRecord(
            recordType: "T",
            recordID: CKRecord.ID(recordName: "a", zoneID: CKRecordZone.ID(zoneName: "Z")))
        record["text"] = "Tea"
        record.setParent(CKRecord.ID(recordName: "p"))
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        let reader = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        reader.requiresSecureCoding = true
        let read = try XCTUnwrap(CKRecord(coder: reader))
        XCTAssertEqual(read.recordID, record.recordID)
        XCTAssertEqual(read.recordType, "T")
        XCTAssertEqual(read.parent, record.parent)
        XCTAssertEqual(read.allKeys(), [])
        XCTAssertEqual(read.changedKeys(), [])
    }

    func testAWholeRecordIsArchivedWithItsValuesAndChanges() throws {
        let record = CKRecord(recordType: "T")
        record["text"] = "Tea"
        record["number"] = 5
        record["half"] = 0.5
        record["date"] = Date(timeIntervalSince1970: 3)
        record["list"] = ["a", "b"]
        record["place"] = CLLocation(latitude: 1, longitude: 2)
        record["other"] = CKRecord.Reference(record: record, action: .deleteSelf)
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: record, requiringSecureCoding: true)
        let read = try XCTUnwrap(
            NSKeyedUnarchiver.unarchivedObject(ofClass: CKRecord.self, from: data))
        XCTAssertEqual(Set(read.allKeys()), Set(record.allKeys()))
        XCTAssertEqual(read["text"] as? String, "Tea")
        XCTAssertEqual(read["number"] as? Int, 5)
        XCTAssertEqual(read["half"] as? Double, 0.5)
        XCTAssertEqual(read["list"] as? [String], ["a", "b"])
        XCTAssertEqual((read["place"] as? CLLocation)?.coordinate.longitude, 2)
        XCTAssertEqual((read["other"] as? CKRecord.Reference)?.action, .deleteSelf)
        XCTAssertEqual(Set(read.changedKeys()), Set(record.changedKeys()))
    }

    func testACopyGoesItsOwnWay() {
        let record = CKRecord(recordType: "T")
        record["text"] = "Tea"
        let copy = record.copy() as? CKRecord
        copy?["text"] = "Mate"
        XCTAssertEqual(record["text"] as? String, "Tea")
        XCTAssertEqual(copy?.recordID, record.recordID)
    }

    func testErrorsCatchAndCast() {
        func fail(_ code: CKError.Code) throws {
            throw NSError(domain: CKErrorDomain, code: code.rawValue) as? CKError
                ?? CKError(_nsError: NSError(domain: CKErrorDomain, code: code.rawValue))
        }
        do {
            try fail(.unknownItem)
            XCTFail("expected an error")
        } catch CKError.unknownItem {
        } catch {
            XCTFail("\(error)")
        }
        do { try fail(.zoneNotFound) } catch {
            XCTAssertEqual((error as? CKError)?.code, .zoneNotFound)
            XCTAssertEqual((error as NSError).domain, CKErrorDomain)
            XCTAssertEqual((error as NSError).code, 26)
        }
    }
}
