import LenticularCloudKit
import XCTest

final class DatabaseTests: XCTestCase {
    @discardableResult
    private func zone(_ database: CKDatabase, _ name: String = "Notes") async throws -> CKRecordZone
    {
        try await database.save(CKRecordZone(zoneName: name))
    }

    private func note(_ name: String, in zone: CKRecordZone, _ text: String = "Tea") -> CKRecord {
        let record = CKRecord(
            recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID))
        record["text"] = text
        return record
    }

    func testARecordComesBackAsItWasSaved() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        let zone = try await zone(database)
        let record = note("a", in: zone)
        record["count"] = 3
        record["half"] = 0.5
        record["when"] = Date(timeIntervalSince1970: 1_700_000_000.125)
        record["data"] = Data([0, 255])
        record["tags"] = ["x", "y"]
        record["place"] = CLLocation(latitude: 1.5, longitude: -2)
        record["link"] = CKRecord.Reference(record: record, action: .none)
        let saved = try await database.save(record)
        XCTAssertTrue(saved === record)
        XCTAssertNotNil(record.recordChangeTag)
        XCTAssertEqual(record.changedKeys(), [])
        let fetched = try await database.record(for: record.recordID)
        XCTAssertEqual(fetched.recordID, record.recordID)
        XCTAssertEqual(fetched.recordID.zoneID.ownerName, CKCurrentUserDefaultName)
        XCTAssertEqual(fetched["count"] as? Int, 3)
        XCTAssertEqual(fetched["half"] as? Double, 0.5)
        XCTAssertEqual(fetched["when"] as? Date, record["when"] as? Date)
        XCTAssertEqual(fetched["data"] as? Data, Data([0, 255]))
        XCTAssertEqual(fetched["tags"] as? [String], ["x", "y"])
        XCTAssertEqual((fetched["place"] as? CLLocation)?.coordinate.latitude, 1.5)
        XCTAssertEqual(
            (fetched["link"] as? CKRecord.Reference)?.recordID, record.recordID)
        XCTAssertEqual(fetched.recordChangeTag, record.recordChangeTag)
    }

    func testAConflictCarriesThreeRecordsAndTheServersCanBeSavedAgain() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        let zone = try await zone(database)
        let first = try await database.save(note("a", in: zone, "first"))
        let stale = try await database.record(for: first.recordID)
        first["text"] = "second"
        try await database.save(first)
        stale["text"] = "third"
        do {
            try await database.save(stale)
            XCTFail("expected a conflict")
        } catch let error as CKError {
            XCTAssertEqual(error.code, .serverRecordChanged)
            XCTAssertEqual(error.serverRecord?["text"] as? String, "second")
            XCTAssertEqual(error.clientRecord?["text"] as? String, "third")
            XCTAssertEqual(error.ancestorRecord?["text"] as? String, "first")
            let merged = try XCTUnwrap(error.serverRecord)
            merged["text"] = "second and third"
            try await database.save(merged)
        }
        let now = try await database.record(for: first.recordID)
        XCTAssertEqual(now["text"] as? String, "second and third")
    }

    func testABatchOverThreeZonesFailsInOneAlone() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        var records: [CKRecord] = []
        for name in ["A", "B", "C"] {
            let zone = try await zone(database, name)
            records.append(note("first", in: zone))
            records.append(note("second", in: zone))
        }
        try await database.save(note("first", in: CKRecordZone(zoneName: "B")))
        let done = try await database.modifyRecords(saving: records, deleting: [])
        let codes = records.map { record -> CKError.Code? in
            guard case .failure(let error)? = done.saveResults[record.recordID] else { return nil }
            return (error as? CKError)?.code
        }
        XCTAssertEqual(codes, [nil, nil, .serverRecordChanged, .batchRequestFailed, nil, nil])
    }

    func testSavePoliciesMeetOtherVersions() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        let zone = try await zone(database)
        let stored = note("a", in: zone, "first")
        stored["kept"] = "server"
        try await database.save(stored)
        let fresh = note("a", in: zone, "over")
        let done = try await database.modifyRecords(
            saving: [fresh], deleting: [], savePolicy: .allKeys)
        XCTAssertNoThrow(try done.saveResults[fresh.recordID]?.get())
        let now = try await database.record(for: stored.recordID)
        XCTAssertEqual(now["text"] as? String, "over")
        XCTAssertEqual(now["kept"] as? String, "server")
        now["kept"] = nil
        try await database.save(now)
        let cleared = try await database.record(for: stored.recordID)
        XCTAssertNil(cleared["kept"])
    }

    func testWhatIsMissingIsToldByItsCode() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        let zone = try await zone(database)
        let id = CKRecord.ID(recordName: "none", zoneID: zone.zoneID)
        do {
            try await database.record(for: id)
            XCTFail("expected an error")
        } catch CKError.unknownItem {}
        let elsewhere = CKRecord.ID(
            recordName: "none", zoneID: CKRecordZone.ID(zoneName: "Nowhere"))
        do {
            try await database.record(for: elsewhere)
            XCTFail("expected an error")
        } catch CKError.zoneNotFound {}
        try await database.deleteRecord(withID: id)
    }

    func testPagesOfAQueryHaveEachRecordOnce() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        let zone = try await zone(database)
        let records = (0..<25).map { number in
            let record = note("n\(number)", in: zone)
            record["number"] = number
            return record
        }
        try await database.modifyRecords(saving: records, deleting: [])
        let query = CKQuery(
            recordType: "Note", predicate: NSPredicate(format: "number >= %d", 5))
        query.sortDescriptors = [NSSortDescriptor(key: "number", ascending: false)]
        var found: [Int] = []
        var page = try await database.records(
            matching: query, inZoneWith: zone.zoneID, resultsLimit: 7)
        while true {
            for (_, result) in page.matchResults {
                found.append(try XCTUnwrap(result.get()["number"] as? Int))
            }
            guard let cursor = page.queryCursor else { break }
            page = try await database.records(continuingMatchFrom: cursor, resultsLimit: 7)
        }
        XCTAssertEqual(found, (5..<25).reversed())
    }

    func testAFeedGoesOnFromItsArchivedToken() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        let zone = try await zone(database)
        try await database.save(note("a", in: zone))
        let first = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
        XCTAssertEqual(first.modificationResultsByID.keys.map(\.recordName), ["a"])
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: first.changeToken, requiringSecureCoding: true)
        let token = try NSKeyedUnarchiver.unarchivedObject(
            ofClass: CKServerChangeToken.self, from: data)
        try await database.save(note("b", in: zone))
        try await database.deleteRecord(
            withID: CKRecord.ID(recordName: "a", zoneID: zone.zoneID))
        let next = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: token)
        XCTAssertEqual(next.modificationResultsByID.keys.map(\.recordName), ["b"])
        XCTAssertEqual(next.deletions.map(\.recordID.recordName), ["a"])
        XCTAssertEqual(next.deletions.map(\.recordType), ["Note"])
        XCTAssertFalse(next.moreComing)
        let zones = try await database.databaseChanges(since: nil)
        XCTAssertEqual(zones.modifications.map(\.zoneID), [zone.zoneID])
        try await database.deleteRecordZone(withID: zone.zoneID)
        let gone = try await database.databaseChanges(since: zones.changeToken)
        XCTAssertEqual(gone.deletions.map(\.zoneID), [zone.zoneID])
        XCTAssertEqual(gone.deletions.map(\.reason), [.deleted])
    }

    func testAllZonesHoldTheDefaultZone() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        try await zone(database)
        let zones = try await database.allRecordZones()
        XCTAssertEqual(
            Set(zones.map(\.zoneID)),
            [CKRecordZone.default().zoneID, CKRecordZone.ID(zoneName: "Notes")])
    }

    func testResultsComeUnderTheNamesThatWereAskedForHoweverTheirOwnerIsNamed() async throws {
        let server = try ReleaseServer()
        let container = try server.container(of: "ann@example.org")
        let database = container.privateCloudDatabase
        let own = try await zone(database).zoneID
        let myself = try await container.userRecordID().recordName
        XCTAssertNotEqual(myself, CKCurrentUserDefaultName)
        let named = CKRecordZone.ID(zoneName: own.zoneName, ownerName: myself)
        let zones = [own, named, .default]
        let found = try await database.recordZones(for: zones)
        XCTAssertEqual(Set(found.keys), Set(zones))
        for zone in zones { XCTAssertNoThrow(try found[zone]?.get()) }

        let records = [own, named, CKRecordZone.ID.default].enumerated().map { index, zone in
            note("n\(index)", in: CKRecordZone(zoneID: zone))
        }
        let saved = try await database.modifyRecords(saving: records)
        XCTAssertEqual(Set(saved.saveResults.keys), Set(records.map(\.recordID)))
        for record in records {
            XCTAssertTrue(try saved.saveResults[record.recordID]?.get() === record)
        }
        let missing = CKRecord.ID(recordName: "missing", zoneID: named)
        let asked = records.map(\.recordID) + [missing]
        let read = try await database.records(for: asked)
        XCTAssertEqual(Set(read.keys), Set(asked))
        for record in records {
            XCTAssertEqual(try read[record.recordID]?.get().recordID, record.recordID)
        }
        // What was not asked for by name has one's own zones as one's own.
        for zone in [own, named] {
            let page = try await database.recordZoneChanges(inZoneWith: zone, since: nil)
            XCTAssertEqual(Set(page.modificationResultsByID.keys.map(\.recordName)), ["n0", "n1"])
            for (id, result) in page.modificationResultsByID {
                XCTAssertEqual(id, try result.get().record.recordID)
                XCTAssertEqual(id.zoneID.ownerName, zone.ownerName)
            }
        }
        let all = try await database.allRecordZones().map(\.zoneID)
        XCTAssertEqual(Set(all), [own, CKRecordZone.default().zoneID])
        let changed = try await database.databaseChanges(since: nil)
        XCTAssertEqual(changed.modifications.map(\.zoneID), [own])
        let deleted = try await database.modifyRecords(deleting: asked)
        XCTAssertEqual(Set(deleted.deleteResults.keys), Set(asked))
        let gone = try await database.modifyRecordZones(deleting: [named])
        XCTAssertEqual(Array(gone.deleteResults.keys), [named])
    }

    func testAccountsAreToldApart() async throws {
        let server = try ReleaseServer()
        let ann = try server.container(of: "ann@example.org")
        let bob = try server.container(of: "bob@example.org")
        let status = try await ann.accountStatus()
        XCTAssertEqual(status, .available)
        let (first, second) = (try await ann.userRecordID(), try await bob.userRecordID())
        XCTAssertNotEqual(first, second)
        let nobody = CKContainer(
            identifier: server.container,
            service: CKServerAccess(url: server.url, apiToken: server.apiToken))
        let none = try await nobody.accountStatus()
        XCTAssertEqual(none, .noAccount)
    }

    func testAssetsAreSentAndFetchedAndAMissingFileFailsItsRecordAlone() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        let zone = try await zone(database)
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("asset-\(UUID().uuidString)")
        let bytes = Data((0..<300_000).map { _ in UInt8.random(in: 0...255) })
        try bytes.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let record = note("a", in: zone)
        record["file"] = CKAsset(fileURL: file)
        record["files"] = [CKAsset(fileURL: file)]
        try await database.save(record)
        let fetched = try await database.record(for: record.recordID)
        let asset = try XCTUnwrap(fetched["file"] as? CKAsset)
        XCTAssertEqual(try Data(contentsOf: XCTUnwrap(asset.fileURL)), bytes)
        XCTAssertEqual((fetched["files"] as? [CKAsset])?.count, 1)
        fetched["text"] = "again"
        try await database.save(fetched)

        let broken = note("b", in: zone)
        broken["file"] = CKAsset(fileURL: file.appendingPathExtension("none"))
        let whole = note("c", in: zone)
        let done = try await database.modifyRecords(
            saving: [broken, whole], deleting: [], atomically: false)
        XCTAssertThrowsError(try done.saveResults[broken.recordID]?.get()) {
            XCTAssertEqual(($0 as? CKError)?.code, .assetFileNotFound)
        }
        XCTAssertNoThrow(try done.saveResults[whole.recordID]?.get())
        let atomic = try await database.modifyRecords(
            saving: [broken, note("d", in: zone)], deleting: [])
        let codes = atomic.saveResults.values.compactMap { result -> CKError.Code? in
            guard case .failure(let error) = result else { return nil }
            return (error as? CKError)?.code
        }
        XCTAssertEqual(Set(codes), [.assetFileNotFound, .batchRequestFailed])
    }
}
