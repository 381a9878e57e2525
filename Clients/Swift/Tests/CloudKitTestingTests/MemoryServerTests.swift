import CloudKitTesting
import LenticularCloudKit
import XCTest

final class MemoryServerTests: XCTestCase {
    private let server = MemoryServer()
    private let zone = CKRecordZone(zoneName: "Notes")

    private func database(_ person: String = "ann") async throws -> CKDatabase {
        let database = server.container(of: person).privateCloudDatabase
        try await database.save(zone)
        return database
    }

    private func note(_ name: String, _ text: String) -> CKRecord {
        let record = CKRecord(
            recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID))
        record["text"] = text
        record["size"] = text.count
        return record
    }

    func testRecordsAreKeptForEachPersonAndConflictsAreTold() async throws {
        let first = try await database()
        try await first.save(note("a", "Tea"))
        let second = server.container(of: "ann").privateCloudDatabase
        let there = try await second.record(for: note("a", "").recordID)
        there["text"] = "Coffee"
        try await second.save(there)
        let other = try await database("bob")
        do {
            try await other.record(for: there.recordID)
            XCTFail("expected an error")
        } catch CKError.unknownItem {}
        do {
            try await first.save(note("a", "Milk"))
            XCTFail("expected a conflict")
        } catch let error as CKError {
            XCTAssertEqual(error.code, .serverRecordChanged)
            XCTAssertEqual(error.serverRecord?["text"] as? String, "Coffee")
        }
    }

    func testABatchIsDoneWholeOrNotAtAll() async throws {
        let database = try await database()
        try await database.save(note("a", "Tea"))
        let done = try await database.modifyRecords(saving: [note("a", "x"), note("b", "y")])
        let codes = ["a", "b"].map { name -> CKError.Code? in
            guard case .failure(let error)? = done.saveResults[note(name, "").recordID] else {
                return nil
            }
            return (error as? CKError)?.code
        }
        XCTAssertEqual(codes, [.serverRecordChanged, .batchRequestFailed])
        let page = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
        XCTAssertEqual(page.modificationResultsByID.keys.map(\.recordName), ["a"])
    }

    func testQueriesFilterSortAndPage() async throws {
        let database = try await database()
        try await database.modifyRecords(
            saving: ["a", "bb", "ccc", "dddd"].map { note($0, $0) })
        let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "size > 1"))
        query.sortDescriptors = [NSSortDescriptor(key: "size", ascending: false)]
        let first = try await database.records(
            matching: query, inZoneWith: zone.zoneID, resultsLimit: 2)
        XCTAssertEqual(first.matchResults.map(\.0.recordName), ["dddd", "ccc"])
        let cursor = try XCTUnwrap(first.queryCursor)
        let second = try await database.records(continuingMatchFrom: cursor)
        XCTAssertEqual(second.matchResults.map(\.0.recordName), ["bb"])
        XCTAssertNil(second.queryCursor)
    }

    func testAZoneThatWasMadeAnewExpiresItsTokens() async throws {
        let database = try await database()
        try await database.save(note("a", "Tea"))
        let before = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
        try await database.deleteRecordZone(withID: zone.zoneID)
        try await database.save(zone)
        do {
            _ = try await database.recordZoneChanges(
                inZoneWith: zone.zoneID, since: before.changeToken)
            XCTFail("expected an error")
        } catch CKError.changeTokenExpired {}
    }

    func testAssetsAndEncryptedValuesComeBack() async throws {
        let container = server.container(of: "ann")
        let database = container.privateCloudDatabase
        try await database.save(zone)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("bytes".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let record = note("a", "Tea")
        record["file"] = CKAsset(fileURL: file)
        record.encryptedValues["secret"] = "hidden"
        try await database.save(record)
        let back = try await database.record(for: record.recordID)
        let place = try XCTUnwrap((back["file"] as? CKAsset)?.fileURL)
        XCTAssertEqual(try Data(contentsOf: place), Data("bytes".utf8))
        XCTAssertEqual(back.encryptedValues["secret"] as? String, "hidden")
        let zones = try await database.allRecordZones()
        XCTAssertEqual(Set(zones.map(\.zoneID)), [.default, zone.zoneID], "the key's zone")
        let changes = try await database.databaseChanges(since: nil)
        XCTAssertEqual(changes.modifications.map(\.zoneID), [zone.zoneID], "the key's zone")
        let other = server.container(of: "ann")
        let closed = try await other.privateCloudDatabase.record(for: record.recordID)
        XCTAssertNil(closed.encryptedValues["secret"])
    }

    func testFaultsComeOnceEachAndALostAnswerWasCarriedOut() async throws {
        let database = try await database()
        server.fail(.unreachable, .refused(code: "THROTTLED", retryAfter: 7), .answerLost)
        var codes: [CKError.Code] = []
        for _ in 0..<3 {
            do {
                try await database.save(note("a", "Tea"))
            } catch let error as CKError {
                codes.append(error.code)
                if error.code == .requestRateLimited { XCTAssertEqual(error.retryAfterSeconds, 7) }
            }
        }
        XCTAssertEqual(codes, [.networkFailure, .requestRateLimited, .serverResponseLost])
        let there = try await database.record(for: note("a", "").recordID)
        XCTAssertEqual(there["text"] as? String, "Tea")
    }

    func testSubscriptionsAreSavedFetchedAndDeleted() async throws {
        let database = try await database()
        let query = CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(format: "size > 5"), subscriptionID: "q",
            options: [.firesOnRecordCreation, .firesOnRecordDeletion])
        query.notificationInfo = CKSubscription.NotificationInfo(alertBody: "New note")
        try await database.save(query)
        try await database.save(CKDatabaseSubscription(subscriptionID: "d"))
        let all = try await database.allSubscriptions()
        XCTAssertEqual(all.map(\.subscriptionID), ["d", "q"])
        let fetched = try await database.subscription(for: "q")
        let back = try XCTUnwrap(fetched as? CKQuerySubscription)
        XCTAssertEqual(back.querySubscriptionOptions, query.querySubscriptionOptions)
        XCTAssertEqual(back.notificationInfo?.alertBody, "New note")
        try await database.deleteSubscription(withID: "q")
        do {
            _ = try await database.subscription(for: "q")
            XCTFail("expected an error")
        } catch CKError.unknownItem {}
    }

    func testWhoHasSignedOutIsToldSo() async throws {
        let container = server.container(of: "ann")
        let first = try await container.accountStatus()
        XCTAssertEqual(first, .available)
        let changed = expectation(
            forNotification: .CKAccountChanged, object: container, handler: nil)
        server.signOut("ann")
        do {
            _ = try await container.privateCloudDatabase.allRecordZones()
            XCTFail("expected an error")
        } catch CKError.notAuthenticated {}
        await fulfillment(of: [changed], timeout: 20)
        let then = try await container.accountStatus()
        XCTAssertEqual(then, .noAccount)
    }

    func testPatientRequestsWaitOutWhatPassesAndUrgentOnesTellIt() async throws {
        let database = try await database()
        let patient = CKOperation.Configuration()
        patient.qualityOfService = .utility
        server.fail(.refused(code: "TRY_AGAIN_LATER", retryAfter: 0.01))
        let zones = try await database.configuredWith(configuration: patient) {
            try await $0.allRecordZones()
        }
        XCTAssertEqual(zones.count, 2)
        server.fail(.refused(code: "TRY_AGAIN_LATER", retryAfter: 0.01))
        do {
            _ = try await database.allRecordZones()
            XCTFail("expected an error")
        } catch CKError.serviceUnavailable {}
    }
}
