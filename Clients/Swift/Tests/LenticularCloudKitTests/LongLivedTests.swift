import CloudKitStore
import CloudKitTesting
import CloudKitWire
import XCTest

@testable import LenticularCloudKit

final class LongLivedTests: XCTestCase {
    private let server = MemoryServer(containerIdentifier: "iCloud.test.\(UUID().uuidString)")
    private let zone = CKRecordZone(zoneName: "Notes")

    private func note(_ name: String) -> CKRecord {
        let record = CKRecord(
            recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID))
        record["text"] = name
        return record
    }

    /// An operation that got its answer in a run of the program that ended before it was told.
    private func interrupted(_ container: CKContainer) async throws -> CKOperation.ID {
        let operation = CKModifyRecordsOperation(recordsToSave: [note("a"), note("b")])
        operation.database = container.privateCloudDatabase
        let input = try XCTUnwrap(operation.longLivedInput)
        let operations = try StoredOperations(DeviceStore.store())
        try operations.keep(input.stored(as: operation.operationID), now: Date())
        var settings = RequestSettings.convenience
        settings.journal = try OperationJournal(operation.operationID, operations)
        try await container.privateCloudDatabase.with(settings)
            .modifyRecords(saving: [note("a"), note("b")])
        return operation.operationID
    }

    func testAnOperationOfAFormerRunTellsItAllWithoutASecondRequest() async throws {
        let container = server.container(of: "ann")
        try await container.privateCloudDatabase.save(zone)
        let id = try await interrupted(container)
        let ids = try await container.allLongLivedOperationIDs()
        XCTAssertEqual(ids, [id])
        let requests = server.requests.count
        let found = try await container.longLivedOperation(for: id)
        let again = try XCTUnwrap(found as? CKModifyRecordsOperation)
        let story = Story()
        again.perRecordSaveBlock = { id, result in
            story.tell("\(id.recordName) \((try? result.get())?.recordChangeTag != nil)")
        }
        again.modifyRecordsResultBlock = { story.tell("whole \((try? $0.get()) != nil)") }
        let ended = expectation(description: "ended")
        again.completionBlock = { ended.fulfill() }
        container.add(again)
        await fulfillment(of: [ended], timeout: 20)
        XCTAssertEqual(story.lines, ["a true", "b true", "whole true"])
        XCTAssertEqual(server.requests.count, requests)
        let left = try await container.allLongLivedOperationIDs()
        XCTAssertEqual(left, [])
        let gone = try await container.longLivedOperation(for: id)
        XCTAssertNil(gone)
    }

    func testALongLivedOperationSaysThatItIsKeptAndGoesWithItsEnd() async throws {
        let container = server.container(of: "ann")
        try await container.privateCloudDatabase.save(zone)
        let story = Story()
        let operation = CKModifyRecordsOperation(recordsToSave: [note("a")])
        operation.configuration.isLongLived = true
        operation.longLivedOperationWasPersistedBlock = { story.tell("kept") }
        operation.modifyRecordsResultBlock = { _ in story.tell("told") }
        let ended = expectation(description: "ended")
        operation.completionBlock = { ended.fulfill() }
        container.privateCloudDatabase.add(operation)
        await fulfillment(of: [ended], timeout: 20)
        XCTAssertEqual(story.lines, ["kept", "told"])
        let left = try await container.allLongLivedOperationIDs()
        XCTAssertEqual(left, [])
    }

    /// What callbacks told, in their order.
    private final class Story: Sendable {
        private let told = Locked<[String]>([])

        func tell(_ line: String) { told.withLock { $0.append(line) } }

        var lines: [String] { told.withLock { $0 } }
    }
}
