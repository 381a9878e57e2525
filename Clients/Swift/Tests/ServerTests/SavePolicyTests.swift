import LenticularCloudKit
import XCTest

/// What a save does to what is there, by its policy and by what the device knows.
final class SavePolicyTests: XCTestCase {
    private typealias Policy = CKModifyRecordsOperation.RecordSavePolicy

    /// What the device knows of the record that it saves.
    private enum Known: CaseIterable {
        /// The record is not there, and the device has never seen it.
        case absent
        /// The device has the version that is there.
        case same
        /// Somebody else has saved since.
        case stale
        /// The record is there, and the device has never seen it.
        case untagged
    }

    private let zone = CKRecordZone(zoneName: "Notes")

    private func note(_ name: String) -> CKRecord {
        let record = CKRecord(
            recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID))
        record["text"] = "first"
        record["title"] = "first"
        return record
    }

    /// The record as the device has it before it changes its text.
    private func record(
        _ name: String, _ known: Known, in database: CKDatabase
    ) async throws -> CKRecord {
        if known == .absent { return note(name) }
        let there = note(name)
        there["kept"] = "by the server"
        try await database.save(there)
        if known == .untagged { return note(name) }
        let device = try await database.record(for: there.recordID)
        if known == .stale {
            there["title"] = "second"
            try await database.save(there)
        }
        return device
    }

    func testEachPolicyMeetsEachVersion() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        try await database.save(zone)
        for policy in [Policy.ifServerRecordUnchanged, .changedKeys, .allKeys] {
            for known in Known.allCases {
                let place = "\(policy.rawValue) \(known)"
                let record = try await record("\(policy.rawValue)-\(known)", known, in: database)
                record["text"] = "last"
                let done = try await database.modifyRecords(
                    saving: [record], deleting: [], savePolicy: policy)
                let result = try XCTUnwrap(done.saveResults[record.recordID], place)
                let isConflict =
                    policy == .ifServerRecordUnchanged && (known == .stale || known == .untagged)
                guard case .success = result else {
                    XCTAssertTrue(isConflict, place)
                    if case .failure(let error) = result {
                        XCTAssertEqual((error as? CKError)?.code, .serverRecordChanged, place)
                    }
                    continue
                }
                XCTAssertFalse(isConflict, place)
                let now = try await database.record(for: record.recordID)
                XCTAssertEqual(now["text"] as? String, "last", place)
                XCTAssertEqual(
                    now["kept"] as? String, known == .absent ? nil : "by the server", place)
                // Only what has changed was sent; all keys send what the device has.
                let isOver = known == .stale && policy == .changedKeys
                XCTAssertEqual(now["title"] as? String, isOver ? "second" : "first", place)
            }
        }
    }

    func testATaggedRecordThatIsGoneIsUnknownAndNilClears() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        try await database.save(zone)
        let record = try await database.save(note("a"))
        record["title"] = nil
        try await database.save(record)
        let cleared = try await database.record(for: record.recordID)
        XCTAssertEqual(cleared.allKeys(), ["text"])
        try await database.deleteRecord(withID: record.recordID)
        record["text"] = "again"
        do {
            try await database.save(record)
            XCTFail("expected an error")
        } catch CKError.unknownItem {}
        try await database.deleteRecordZone(withID: CKRecordZone.ID(zoneName: "Never made"))
    }

    func testARecordRebuiltFromItsSystemFieldsIsSavedWithTheKeysThatAreSet() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        try await database.save(zone)
        let record = try await database.save(note("a"))
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        record.encodeSystemFields(with: archiver)
        archiver.finishEncoding()
        let decoder = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        decoder.requiresSecureCoding = true
        let rebuilt = try XCTUnwrap(CKRecord(coder: decoder))
        XCTAssertEqual(rebuilt.allKeys(), [])
        XCTAssertEqual(rebuilt.changedKeys(), [])
        XCTAssertEqual(rebuilt.creationDate, record.creationDate)
        rebuilt["text"] = "rebuilt"
        try await database.save(rebuilt)
        let now = try await database.record(for: record.recordID)
        XCTAssertEqual(now["text"] as? String, "rebuilt")
        XCTAssertEqual(now["title"] as? String, "first")
    }

    func testRecordsThatComeBetweenPagesOfAQueryNeitherHideNorDoubleOthers() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        try await database.save(zone)
        func numbered(_ number: Int) -> CKRecord {
            let record = note("n\(number)")
            record["number"] = number
            return record
        }
        try await database.modifyRecords(saving: stride(from: 0, to: 40, by: 2).map(numbered))
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "number >= 0"))
        query.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        var found: [Int] = []
        var page = try await database.records(
            matching: query, inZoneWith: zone.zoneID, resultsLimit: 6)
        while true {
            found += try page.matchResults.map { try XCTUnwrap($0.1.get()["number"] as? Int) }
            guard let cursor = page.queryCursor else { break }
            // Before and after where the pages have come to.
            try await database.modifyRecords(
                saving: [numbered(1000 + found.count), numbered(found.count * 2 - 5)],
                savePolicy: .allKeys)
            page = try await database.records(continuingMatchFrom: cursor, resultsLimit: 6)
        }
        XCTAssertEqual(found.count, Set(found).count, "\(found)")
        XCTAssertEqual(found, found.sorted())
        XCTAssertTrue(Set(found).isSuperset(of: stride(from: 0, to: 40, by: 2)), "\(found)")
    }

    func testWhatIsMoreThanTheServerTakesAtOnceGoesInHalvesUnlessItIsToBeDoneWhole() async throws {
        let server = try ReleaseServer(settings: ["LENTICULAR_HTTP_BODY_BYTES_MAX": "65536"])
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        try await database.save(zone)
        let records = (0..<40).map { number in
            let record = note("n\(number)")
            record["text"] = String(repeating: "x", count: 4_000)
            return record
        }
        do {
            try await database.modifyRecords(saving: records)
            XCTFail("expected a refusal")
        } catch CKError.limitExceeded {}
        let done = try await database.modifyRecords(saving: records, atomically: false)
        XCTAssertEqual(done.saveResults.values.filter { (try? $0.get()) != nil }.count, 40)
        let page = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
        XCTAssertEqual(page.modificationResultsByID.count, 40)
    }
}
