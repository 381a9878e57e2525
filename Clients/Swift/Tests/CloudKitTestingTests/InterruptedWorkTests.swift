import CloudKitTesting
import CloudKitWire
import LenticularCloudKit
import XCTest

/// Operations that end in their middle.
final class InterruptedWorkTests: XCTestCase {
    /// What callbacks told, in their order.
    private final class Story: Sendable {
        private let told = Locked<[String]>([])
        private let kept = Locked<CKServerChangeToken?>(nil)

        func tell(_ line: String) { told.withLock { $0.append(line) } }

        var lines: [String] { told.withLock { $0 } }

        var token: CKServerChangeToken? {
            get { kept.withLock { $0 } }
            set { kept.withLock { $0 = newValue } }
        }
    }

    private let server = MemoryServer()
    private let zone = CKRecordZone(zoneName: "Notes")

    private func database(notes: Int) async throws -> CKDatabase {
        let database = server.container(of: "ann").privateCloudDatabase
        try await database.save(zone)
        try await database.modifyRecords(saving: (0..<notes).map { note("n\($0)") })
        return database
    }

    private func note(_ name: String) -> CKRecord {
        let record = CKRecord(
            recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID))
        record["text"] = name
        return record
    }

    /// Fetches a zone's feed by pages of two, and tells what comes.
    private func fetch(
        _ database: CKDatabase, since token: CKServerChangeToken?, _ story: Story,
        failingAfter failing: Int? = nil
    ) async {
        let fetch = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zone.zoneID],
            configurationsByRecordZoneID: [
                zone.zoneID: .init(previousServerChangeToken: token, resultsLimit: 2)
            ])
        let server = server
        fetch.recordWasChangedBlock = { id, _ in story.tell(id.recordName) }
        fetch.recordZoneChangeTokensUpdatedBlock = { _, token, _ in
            story.token = token
            story.tell("token")
            let pages = story.lines.filter { $0 == "token" }.count
            if pages == failing { server.fail(.unreachable) }
        }
        fetch.recordZoneFetchResultBlock = { _, result in
            switch result {
            case .success(let end): story.token = end.serverChangeToken
            case .failure(let error): story.tell("\((error as? CKError)?.code.rawValue ?? 0)")
            }
        }
        let done = expectation(description: "the operation has ended")
        fetch.completionBlock = { done.fulfill() }
        database.add(fetch)
        await fulfillment(of: [done], timeout: 20)
    }

    func testAFeedThatBreaksGoesOnFromTheLastTokenThatWasTold() async throws {
        let database = try await database(notes: 9)
        let story = Story()
        await fetch(database, since: nil, story, failingAfter: 2)
        XCTAssertEqual(story.lines, ["n0", "n1", "token", "n2", "n3", "token", "4"])
        let rest = Story()
        await fetch(database, since: story.token, rest)
        XCTAssertEqual(rest.lines, ["n4", "n5", "token", "n6", "n7", "token", "n8"])
    }

    func testTheOlderFeedTellsOnePageAndWhetherThereIsMore() async throws {
        let database = try await database(notes: 3)
        let story = Story()
        var more: [Bool] = []
        for page in 0..<3 {
            if page == 2 { try await database.deleteRecord(withID: note("n0").recordID) }
            let fetch = CKFetchRecordChangesOperation(
                recordZoneID: zone.zoneID, previousServerChangeToken: story.token)
            fetch.resultsLimit = 2
            fetch.recordChangedBlock = { story.tell($0.recordID.recordName) }
            fetch.recordWithIDWasDeletedBlock = { story.tell("-\($0.recordName)") }
            let done = expectation(description: "the operation has ended")
            fetch.fetchRecordChangesCompletionBlock = { token, _, error in
                XCTAssertNil(error)
                story.token = token
                done.fulfill()
            }
            database.add(fetch)
            await fulfillment(of: [done], timeout: 20)
            more.append(fetch.moreComing)
        }
        XCTAssertEqual(story.lines, ["n0", "n1", "n2", "-n0"])
        XCTAssertEqual(more, [true, false, false])
    }

    func testAnOperationThatIsCancelledWhileItRunsTellsSoAndNothingMore() async throws {
        let database = try await database(notes: 9)
        let story = Story()
        let fetch = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zone.zoneID],
            configurationsByRecordZoneID: [zone.zoneID: .init(resultsLimit: 2)])
        fetch.recordWasChangedBlock = { [unowned fetch] id, _ in
            story.tell(id.recordName)
            if id.recordName == "n1" { fetch.cancel() }
        }
        fetch.fetchRecordZoneChangesResultBlock = { result in
            if case .failure(let error) = result {
                story.tell("\((error as? CKError)?.code.rawValue ?? 0)")
            } else {
                story.tell("success")
            }
        }
        let done = expectation(description: "the operation has ended")
        fetch.completionBlock = { done.fulfill() }
        database.add(fetch)
        await fulfillment(of: [done], timeout: 20)
        XCTAssertEqual(story.lines, ["n0", "n1", "20"])
        XCTAssertTrue(fetch.isCancelled)
    }

    func testTheServersCopyInAConflictHasNoFile() async throws {
        let database = try await database(notes: 0)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("bytes".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let record = note("a")
        record["file"] = CKAsset(fileURL: file)
        try await database.save(record)
        do {
            try await database.save(note("a"))
            XCTFail("expected a conflict")
        } catch let error as CKError {
            let theirs = try XCTUnwrap(error.serverRecord?["file"] as? CKAsset)
            XCTAssertNil(theirs.fileURL)
            XCTAssertEqual(error.serverRecord?["text"] as? String, "a")
        }
    }
}
