import CloudKitWire
import XCTest

@testable import LenticularCloudKit

/// What apps keep between their runs.
final class ArchiveTests: XCTestCase {
    private func readBack<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object? {
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: object, requiringSecureCoding: true)
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
    }

    private func text(of query: CKQuery) throws -> String {
        var json = JSONText()
        try json.query(query.recordType, query.filters() ?? [], query.sorts())
        return String(decoding: json.bytes, as: UTF8.self)
    }

    private func query() -> CKQuery {
        let query = CKQuery(
            recordType: "Cup",
            filters: [
                .init("kind", .equals, "tea"), .init("size", .greaterThan, 3),
                .near("place", CLLocation(latitude: 1, longitude: 2), metres: 500),
            ])
        query.sortDescriptors = [
            NSSortDescriptor(key: "creationDate", ascending: false),
            CKLocationSortDescriptor(
                key: "place", relativeLocation: CLLocation(latitude: 1, longitude: 2)),
        ]
        return query
    }

    func testAQueryAsksTheSameAfterwards() throws {
        let asked = query()
        let read = try XCTUnwrap(try readBack(asked))
        XCTAssertEqual(try text(of: read), try text(of: asked))
        XCTAssertEqual(
            read.sortDescriptors?.map(\.key), [CKRecord.SystemFieldKey.creationDate, "place"])
        XCTAssertEqual(read.sortDescriptors?.first?.ascending, false)
    }

    func testWhatNoServerCanAnswerIsNotThereAfterwards() throws {
        let query = CKQuery(recordType: "Cup", predicate: NSPredicate { _, _ in true })
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: query, requiringSecureCoding: true)
        XCTAssertNil(try? NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuery.self, from: data))
    }

    func testACursorGoesOnWithItsQueryInItsZone() throws {
        let zone = CKRecordZone.ID(zoneName: "Cups", ownerName: "_ann")
        let asked = query()
        let cursor = CKQueryOperation.Cursor(marker: "m1", query: asked, zone: zone)
        let read = try XCTUnwrap(try readBack(cursor))
        XCTAssertEqual(read.marker, "m1")
        XCTAssertEqual(read.zone, zone)
        XCTAssertEqual(try text(of: read.query), try text(of: asked))
    }

    func testWhatALinkLeadsToCanBeAcceptedAfterwards() throws {
        let root = CKRecord(recordType: "List")
        root["title"] = "Shopping"
        let metadata = CKShareMetadata(
            .init(
                container: "iCloud.test", shortGUID: "0AAA", share: CKShare(rootRecord: root),
                root: root.recordID, rootRecord: root, role: .privateUser, status: .pending,
                permission: .readOnly,
                owner: CKUserIdentity(
                    userRecordID: CKRecord.ID(recordName: "_ann"), nameComponents: nil,
                    lookupInfo: nil)))
        let read = try XCTUnwrap(try readBack(metadata))
        XCTAssertEqual(read, metadata)
        XCTAssertEqual(read.containerIdentifier, "iCloud.test")
        XCTAssertEqual(read.share.recordID, metadata.share.recordID)
        XCTAssertEqual(read.hierarchicalRootRecordID, root.recordID)
        XCTAssertEqual(read.rootRecord?["title"] as? String, "Shopping")
        XCTAssertEqual(read.participantRole, .privateUser)
        XCTAssertEqual(read.participantType, .privateUser)
        XCTAssertEqual(read.participantStatus, .pending)
        XCTAssertEqual(read.participantPermission, .readOnly)
        XCTAssertEqual(read.ownerIdentity.userRecordID?.recordName, "_ann")
    }

    func testPeopleAreLookedForTheSameAfterwards() throws {
        for info: CKUserIdentity.LookupInfo in [
            .init(emailAddress: "a@example.org"), .init(phoneNumber: "+4930123"),
            .init(userRecordID: CKRecord.ID(recordName: "_ann")),
        ] {
            XCTAssertEqual(try readBack(info), info)
        }
    }

    func testDatesAreKeptExactly() throws {
        let date = Date(timeIntervalSinceReferenceDate: 817_055_026.123_456_7)
        let record = CKRecord(recordType: "Note")
        record["moment"] = date
        record["moments"] = [date, date + 1]
        XCTAssertEqual(record["moment"] as? Date, date)
        let read = try XCTUnwrap(try readBack(record))
        XCTAssertEqual(read["moment"] as? Date, date)
        XCTAssertEqual(read["moments"] as? [Date], [date, date + 1])
    }

    func testEncryptedDatesAreKeptExactlyAndThoseOfFormerVersionsAreRead() throws {
        let zone = CKRecordZone.ID.default
        let date = Date(timeIntervalSinceReferenceDate: 817_055_026.123_456_7)
        for value: FieldValue in [
            .timestamp(date), .list([.timestamp(date), .timestamp(date + 1)], .timestamp),
            .timestamp(.distantPast), .list([], .timestamp), .string("Tea"),
        ] {
            XCTAssertEqual(ValueText.value(of: try ValueText.bytes(of: value), in: zone), value)
        }
        let previous = Array(#"{"value":1795362226123,"type":"TIMESTAMP"}"#.utf8)
        XCTAssertEqual(
            ValueText.value(of: previous, in: zone),
            .timestamp(Date(timeIntervalSince1970: 1_795_362_226.123)))
    }

    func testAWholeRecordHasItsEncryptedValuesAndSystemFieldsHaveNone() throws {
        let record = CKRecord(recordType: "Note")
        record["title"] = "Tea"
        record.encryptedValues["secret"] = "nobody knows"
        record.encryptedValues["gone"] = nil
        let read = try XCTUnwrap(try readBack(record))
        XCTAssertEqual(read.encryptedValues["secret"] as? String, "nobody knows")
        XCTAssertEqual(Set(read.encryptedValues.changedKeys()), ["secret", "gone"])
        XCTAssertEqual(read.allKeys(), ["title"])
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        let reader = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        let bare = try XCTUnwrap(CKRecord(coder: reader))
        XCTAssertEqual(bare.encryptedValues.allKeys(), [])
        XCTAssertEqual(bare.encryptedValues.changedKeys(), [])
    }

    func testSystemFieldsUnderTheNamesOfApplesClassesAreRead() throws {
        let reader = try NSKeyedUnarchiver(forReadingFrom: Data(Self.othersArchive.utf8))
        reader.requiresSecureCoding = true
        let record = try XCTUnwrap(CKRecord(coder: reader))
        XCTAssertEqual(record.recordType, "Note")
        XCTAssertEqual(
            record.recordID,
            CKRecord.ID(
                recordName: "n1",
                zoneID: CKRecordZone.ID(zoneName: "Notes", ownerName: "__defaultOwner__")))
        XCTAssertEqual(record.recordChangeTag, "3k")
    }

    /// System fields as another framework writes them: its classes have no module, and zones another key.
    private static let othersArchive = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict>
        <key>$archiver</key><string>NSKeyedArchiver</string>
        <key>$version</key><integer>100000</integer>
        <key>$top</key><dict>
        <key>RecordType</key>\(place(1))<key>ETag</key>\(place(2))<key>RecordID</key>\(place(3))
        </dict>
        <key>$objects</key><array>
        <string>$null</string><string>Note</string><string>3k</string>
        <dict><key>$class</key>\(place(8))
        <key>RecordName</key>\(place(4))<key>ZoneID</key>\(place(5))</dict>
        <string>n1</string>
        <dict><key>$class</key>\(place(9))
        <key>ZoneName</key>\(place(6))<key>ownerName</key>\(place(7))
        <key>databaseScopeKey</key><integer>0</integer></dict>
        <string>Notes</string><string>__defaultOwner__</string>
        \(type("CKRecordID"))\(type("CKRecordZoneID"))
        </array></dict></plist>
        """

    private static func place(_ number: Int) -> String {
        "<dict><key>CF$UID</key><integer>\(number)</integer></dict>"
    }

    private static func type(_ name: String) -> String {
        "<dict><key>$classname</key><string>\(name)</string><key>$classes</key>"
            + "<array><string>\(name)</string><string>NSObject</string></array></dict>"
    }
}
