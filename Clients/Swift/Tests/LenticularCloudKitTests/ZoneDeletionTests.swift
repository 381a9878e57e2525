import CloudKitWire
import XCTest

@testable import LenticularCloudKit

/// Why a zone is gone, which decides whether an app sends its records again.
final class ZoneDeletionTests: XCTestCase {
    private static let changes = #"""
        {"syncToken":"t","moreComing":false,"zones":[
          {"zoneID":{"zoneName":"Gone"},"deleted":true},
          {"zoneID":{"zoneName":"Thrown"},"deleted":true,"reason":"PURGED"},
          {"zoneID":{"zoneName":"Reset"},"deleted":true,"reason":"ENCRYPTED_DATA_RESET"},
          {"zoneID":{"zoneName":"Odd"},"deleted":true,"reason":"SOMETHING_NEW"},
          {"zoneID":{"zoneName":"There"}}]}
        """#

    private let exchange = CannedExchange(["changes/database": ZoneDeletionTests.changes])

    func testTheFeedTellsWhy() async throws {
        let page = try await exchange.container.privateCloudDatabase.databaseChanges(since: nil)
        XCTAssertEqual(page.modifications.map(\.zoneID.zoneName), ["There"])
        XCTAssertEqual(
            page.deletions.map { "\($0.zoneID.zoneName) \($0.reason)" },
            ["Gone deleted", "Thrown purged", "Reset encryptedDataReset", "Odd deleted"])
    }

    func testTheOperationHasABlockForEachReason() async {
        let lines = Lines()
        let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
        operation.recordZoneWithIDWasDeletedBlock = { lines.note("deleted \($0.zoneName)") }
        operation.recordZoneWithIDWasPurgedBlock = { lines.note("purged \($0.zoneName)") }
        operation.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = {
            lines.note("reset \($0.zoneName)")
        }
        operation.recordZoneWithIDChangedBlock = { lines.note("changed \($0.zoneName)") }
        let done = expectation(description: "done")
        operation.completionBlock = { done.fulfill() }
        let container = exchange.container
        container.privateCloudDatabase.add(operation)
        await fulfillment(of: [done], timeout: 20)
        XCTAssertEqual(
            lines.all,
            ["changed There", "deleted Gone", "purged Thrown", "reset Reset", "deleted Odd"])
    }
}

/// What blocks were told, in their order.
private final class Lines: Sendable {
    private let noted = Locked<[String]>([])

    func note(_ line: String) { noted.withLock { $0.append(line) } }

    var all: [String] { noted.withLock { $0 } }
}
