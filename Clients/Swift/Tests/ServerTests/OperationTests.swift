import CloudKitWire
import LenticularCloudKit
import XCTest

final class OperationTests: XCTestCase {
    /// What callbacks told, in their order.
    private final class Story: Sendable {
        private let told = Locked<[String]>([])

        func tell(_ line: String) { told.withLock { $0.append(line) } }

        var lines: [String] { told.withLock { $0 } }
    }

    private func run(_ operations: CKDatabaseOperation..., on database: CKDatabase) async {
        let done = operations.map { operation in
            let done = expectation(description: "\(type(of: operation))")
            operation.completionBlock = { done.fulfill() }
            return done
        }
        for operation in operations { database.add(operation) }
        await fulfillment(of: done, timeout: 30)
    }

    private func note(_ name: String, _ zone: CKRecordZone.ID) -> CKRecord {
        let record = CKRecord(
            recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone))
        record["text"] = name
        return record
    }

    func testItemsAreToldBeforeTheWholeAndOlderBlocksGetPartialFailures() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
        try await database.save(note("a", zone))
        let story = Story()
        let modify = CKModifyRecordsOperation(recordsToSave: [note("a", zone), note("b", zone)])
        modify.isAtomic = false
        modify.perRecordSaveBlock = { id, result in
            story.tell("\(id.recordName) \((try? result.get()) != nil)")
        }
        modify.modifyRecordsResultBlock = { story.tell("whole \((try? $0.get()) != nil)") }
        modify.modifyRecordsCompletionBlock = { records, _, error in
            let items = (error as? CKError)?.partialErrorsByItemID?.keys
                .compactMap { ($0.base as? CKRecord.ID)?.recordName }
            story.tell("\(records?.map(\.recordID.recordName) ?? []) \(items ?? [])")
        }
        await run(modify, on: database)
        XCTAssertEqual(story.lines, ["a false", "b true", "whole true", "[\"b\"] [\"a\"]"])
    }

    func testFeedsGoOnToTheirEndAndTellTheirTokensBetween() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
        try await database.modifyRecords(saving: (0..<5).map { note("n\($0)", zone) })
        for isWhole in [true, false] {
            let story = Story()
            let fetch = CKFetchRecordZoneChangesOperation(
                recordZoneIDs: [zone],
                configurationsByRecordZoneID: [zone: .init(resultsLimit: 2)])
            fetch.fetchAllChanges = isWhole
            fetch.recordWasChangedBlock = { id, _ in story.tell(id.recordName) }
            fetch.recordZoneChangeTokensUpdatedBlock = { _, token, _ in
                story.tell("token \(token != nil)")
            }
            fetch.recordZoneFetchResultBlock = { _, result in
                story.tell("zone \((try? result.get())?.moreComing ?? false)")
            }
            fetch.fetchRecordZoneChangesResultBlock = { _ in story.tell("end") }
            await run(fetch, on: database)
            XCTAssertEqual(
                story.lines,
                isWhole
                    ? [
                        "n0", "n1", "token true", "n2", "n3", "token true", "n4", "zone false",
                        "end",
                    ] : ["n0", "n1", "zone true", "end"])
        }
    }

    func testWhatADeviceLeavesForItselfComesBackWithItsChange() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
        let modify = CKModifyRecordsOperation(recordsToSave: [note("a", zone)])
        modify.clientChangeTokenData = Data("mine".utf8)
        await run(modify, on: database)
        let story = Story()
        let fetch = CKFetchRecordZoneChangesOperation(recordZoneIDs: [zone])
        fetch.recordZoneFetchResultBlock = { _, result in
            let data = (try? result.get())?.clientChangeTokenData
            story.tell(data.map { String(decoding: $0, as: UTF8.self) } ?? "nothing")
        }
        await run(fetch, on: database)
        XCTAssertEqual(story.lines, ["mine"])
    }

    func testAWaitForChangesEndsWithTheFirst() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
        let before = try await database.databaseChanges(since: nil)
        async let waited = database.databaseChanges(since: before.changeToken, waitingUpTo: 50)
        try await database.save(note("a", zone))
        var modifications = try await waited.modifications
        if modifications.isEmpty {
            // Servers from before they held requests answer at once.
            modifications = try await database.databaseChanges(since: before.changeToken)
                .modifications
        }
        XCTAssertEqual(modifications.map(\.zoneID), [zone])
    }

    func testOperationsWaitForThoseTheyDependOn() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        let zone = CKRecordZone(zoneName: "Notes")
        let make = CKModifyRecordZonesOperation(recordZonesToSave: [zone])
        let modify = CKModifyRecordsOperation(recordsToSave: [note("a", zone.zoneID)])
        let story = Story()
        modify.perRecordSaveBlock = { _, result in
            story.tell("saved \((try? result.get()) != nil)")
        }
        modify.addDependency(make)
        await run(modify, make, on: database)
        XCTAssertEqual(story.lines, ["saved true"])
    }

    func testWhatIsCancelledTellsSo() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        let story = Story()
        let fetch = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a")])
        fetch.fetchRecordsResultBlock = { result in
            if case .failure(let error) = result {
                story.tell("\((error as? CKError)?.code.rawValue ?? 0)")
            }
        }
        fetch.cancel()
        await run(fetch, on: database)
        XCTAssertEqual(story.lines, ["20"])
    }

    func testCompletionHandlersGetWhatTheMethodsGive() async throws {
        let server = try ReleaseServer()
        let database = try server.container(of: "ann@example.org").privateCloudDatabase
        let missing = expectation(description: "missing")
        database.fetch(withRecordID: CKRecord.ID(recordName: "none")) { record, error in
            XCTAssertNil(record)
            XCTAssertEqual((error as? CKError)?.code, .unknownItem)
            missing.fulfill()
        }
        let saved = expectation(description: "saved")
        database.save(note("a", .default)) { record, error in
            XCTAssertEqual(record?.recordID.recordName, "a")
            XCTAssertNil(error)
            saved.fulfill()
        }
        await fulfillment(of: [missing, saved], timeout: 30)
    }
}
