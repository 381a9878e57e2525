import LenticularCloudKit
import XCTest

final class SharingTests: XCTestCase {
    private struct Shared {
        let server: ReleaseServer
        let ann: CKContainer
        let bob: CKContainer
        let root: CKRecord
        let share: CKShare
    }

    private func share(_ permission: CKShare.ParticipantPermission) async throws -> Shared {
        let server = try ReleaseServer()
        let ann = try server.container(of: "ann@example.org")
        let bob = try server.container(of: "bob@example.org")
        let database = ann.privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Lists"))
        let root = CKRecord(
            recordType: "List", recordID: CKRecord.ID(recordName: "list", zoneID: zone.zoneID))
        root["title"] = "Shopping"
        let share = CKShare(rootRecord: root)
        share[CKShare.SystemFieldKey.title] = "Shopping"
        let participant = try await ann.shareParticipant(forEmailAddress: "bob@example.org")
        participant.permission = permission
        share.addParticipant(participant)
        let done = try await database.modifyRecords(saving: [root, share], deleting: [])
        XCTAssertTrue(try done.saveResults[share.recordID]?.get() === share)
        return Shared(server: server, ann: ann, bob: bob, root: root, share: share)
    }

    func testAShareIsUpdatedInPlaceWithItsLinkAndPeople() async throws {
        let shared = try await share(.readOnly)
        XCTAssertNotNil(shared.share.url)
        XCTAssertEqual(shared.share.owner.role, .owner)
        XCTAssertEqual(shared.share.participants.map(\.role), [.owner, .privateUser])
        XCTAssertEqual(shared.share.currentUserParticipant?.role, .owner)
        XCTAssertEqual(shared.root.share?.recordID, shared.share.recordID)
        let fetched = try await shared.ann.privateCloudDatabase.record(for: shared.share.recordID)
        XCTAssertEqual((fetched as? CKShare)?.url, shared.share.url)
    }

    func testSomebodyInvitedByAddressAcceptsAndFollowsAndMayOnlyRead() async throws {
        let shared = try await share(.readOnly)
        let url = try XCTUnwrap(shared.share.url)
        let metadata = try await shared.bob.shareMetadata(for: url)
        XCTAssertEqual(metadata.participantStatus, .pending)
        XCTAssertEqual(metadata.participantPermission, .readOnly)
        XCTAssertEqual(metadata.hierarchicalRootRecordID?.recordName, "list")
        try await shared.bob.accept(metadata)
        let database = shared.bob.sharedCloudDatabase
        let zones = try await database.allRecordZones()
        let zone = try XCTUnwrap(zones.first)
        XCTAssertNotEqual(zone.zoneID.ownerName, CKCurrentUserDefaultName)
        let page = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
        XCTAssertEqual(
            Set(page.modificationResultsByID.keys.map(\.recordName)),
            ["list", shared.share.recordID.recordName])
        let list = try await database.record(
            for: CKRecord.ID(recordName: "list", zoneID: zone.zoneID))
        list["title"] = "Mine"
        do {
            try await database.save(list)
            XCTFail("expected a refusal")
        } catch CKError.permissionFailure {}
    }

    func testWhoIsRemovedLosesTheZone() async throws {
        let shared = try await share(.readWrite)
        let url = try XCTUnwrap(shared.share.url)
        try await shared.bob.accept(try await shared.bob.shareMetadata(for: url))
        let before = try await shared.bob.sharedCloudDatabase.databaseChanges(since: nil)
        XCTAssertEqual(before.modifications.count, 1)
        let fetched = try await shared.ann.privateCloudDatabase.record(for: shared.share.recordID)
        let share = try XCTUnwrap(fetched as? CKShare)
        for participant in share.participants where participant.role != .owner {
            share.removeParticipant(participant)
        }
        try await shared.ann.privateCloudDatabase.save(share)
        let after = try await shared.bob.sharedCloudDatabase.databaseChanges(
            since: before.changeToken)
        XCTAssertEqual(after.deletions.map(\.zoneID), before.modifications.map(\.zoneID))
    }

    func testALinkThatLeadsNowhereIsAnUnknownItem() async throws {
        let server = try ReleaseServer()
        let ann = try server.container(of: "ann@example.org")
        do {
            _ = try await ann.shareMetadata(
                for: server.url.appendingPathComponent("share/0AAAAAAAAAAAAAAAAAAAAAAAA"))
            XCTFail("expected an error")
        } catch CKError.unknownItem {}
    }
}
