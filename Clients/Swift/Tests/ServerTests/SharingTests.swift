import CloudKitWire
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

    func testAOneTimeLinkLetsTheFirstInAndNobodyElse() async throws {
        let shared = try await share(.readOnly)
        let entry = CKShare.Participant.oneTimeURLParticipant()
        entry.permission = .readWrite
        let second = CKShare.Participant.oneTimeURLParticipant()
        let before = entry.participantID
        shared.share.addParticipant(entry)
        shared.share.addParticipant(second)
        XCTAssertNil(shared.share.oneTimeURL(for: before))
        try await shared.ann.privateCloudDatabase.save(shared.share)
        let link = try XCTUnwrap(shared.share.oneTimeURL(for: before))
        XCTAssertEqual(shared.share.oneTimeURL(for: entry.participantID), link)
        XCTAssertNotEqual(shared.share.oneTimeURL(for: second.participantID), link)
        XCTAssertNotEqual(link, shared.share.url)
        let carol = try shared.server.container(of: "carol@example.org")
        let dave = try shared.server.container(of: "dave@example.org")
        let shown = try await dave.shareMetadata(for: link)
        XCTAssertEqual(shown.participantStatus, .pending)
        let accepted = try await carol.accept(try await carol.shareMetadata(for: link))
        XCTAssertEqual(accepted.currentUserParticipant?.permission, .readWrite)
        do {
            try await dave.accept(shown)
            XCTFail("expected a link that leads nowhere")
        } catch CKError.unknownItem {}
        let fetched = try await shared.ann.privateCloudDatabase.record(for: shared.share.recordID)
        let now = try XCTUnwrap(fetched as? CKShare)
        XCTAssertNil(now.oneTimeURL(for: entry.participantID))
        XCTAssertNotNil(now.oneTimeURL(for: second.participantID))
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

    func testWhoLeavesASharedTreeLosesItAndTheOwnerSeesSo() async throws {
        let shared = try await share(.readWrite)
        let url = try XCTUnwrap(shared.share.url)
        let accepted = try await shared.bob.accept(try await shared.bob.shareMetadata(for: url))
        XCTAssertEqual(accepted.currentUserParticipant?.acceptanceStatus, .accepted)
        let database = shared.bob.sharedCloudDatabase
        let before = try await database.databaseChanges(since: nil)
        XCTAssertEqual(before.modifications.map(\.zoneID), [accepted.recordID.zoneID])
        try await database.deleteRecord(withID: accepted.recordID)
        let after = try await database.databaseChanges(since: before.changeToken)
        XCTAssertEqual(after.deletions.map(\.zoneID), [accepted.recordID.zoneID])
        let left = try await database.allRecordZones()
        XCTAssertEqual(left.map(\.zoneID), [])
        do {
            _ = try await database.record(
                for: CKRecord.ID(recordName: "list", zoneID: accepted.recordID.zoneID))
            XCTFail("expected an error")
        } catch let error as CKError {
            XCTAssertTrue([.zoneNotFound, .unknownItem].contains(error.code), "\(error)")
        }
        // The owner's tree stays, and its share with it.
        let owners = shared.ann.privateCloudDatabase
        let fetched = try await owners.record(for: shared.share.recordID)
        let share = try XCTUnwrap(fetched as? CKShare)
        XCTAssertEqual(
            share.participants.filter { $0.role != .owner && $0.acceptanceStatus == .accepted }, [])
        let root = try await owners.record(for: shared.root.recordID)
        XCTAssertEqual(root["title"] as? String, "Shopping")
    }

    func testAShareThatItsOwnerStopsIsGoneForAllAndTheTreeStays() async throws {
        let shared = try await share(.readOnly)
        let url = try XCTUnwrap(shared.share.url)
        try await shared.bob.accept(try await shared.bob.shareMetadata(for: url))
        let before = try await shared.bob.sharedCloudDatabase.databaseChanges(since: nil)
        let owners = shared.ann.privateCloudDatabase
        try await owners.deleteRecord(withID: shared.share.recordID)
        let after = try await shared.bob.sharedCloudDatabase.databaseChanges(
            since: before.changeToken)
        XCTAssertEqual(after.deletions.map(\.zoneID), before.modifications.map(\.zoneID))
        do {
            _ = try await shared.bob.shareMetadata(for: url)
            XCTFail("expected a link that leads nowhere")
        } catch CKError.unknownItem {}
        let root = try await owners.record(for: shared.root.recordID)
        XCTAssertNil(root.share)
        XCTAssertEqual(root["title"] as? String, "Shopping")
    }

    func testAShareOfAZoneIsToldByTheZoneAndBearsNoOtherBesideIt() async throws {
        let server = try ReleaseServer()
        let ann = try server.container(of: "ann@example.org")
        let bob = try server.container(of: "bob@example.org")
        let database = ann.privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Family"))
        XCTAssertNil(zone.share)
        let inside = CKRecord(
            recordType: "Photo", recordID: CKRecord.ID(recordName: "p", zoneID: zone.zoneID))
        let share = CKShare(recordZoneID: zone.zoneID)
        let bobs = try await ann.shareParticipant(forEmailAddress: "bob@example.org")
        bobs.permission = .readWrite
        share.addParticipant(bobs)
        try await database.modifyRecords(saving: [inside, share])
        XCTAssertNotNil(share.url)
        XCTAssertEqual(share.recordID.recordName, CKRecordNameZoneWideShare)
        let zones = try await database.allRecordZones()
        let listed = zones.first { $0.zoneID == zone.zoneID }
        XCTAssertEqual(listed?.share?.recordID.recordName, CKRecordNameZoneWideShare)
        let looked = try await database.recordZone(for: zone.zoneID)
        XCTAssertEqual(looked.share?.recordID, share.recordID)

        // A tree of its own within the zone.
        let done = try await database.modifyRecords(
            saving: [inside, CKShare(rootRecord: inside)])
        let codes = done.saveResults.values.compactMap { result -> CKError.Code? in
            guard case .failure(let error) = result else { return nil }
            return (error as? CKError)?.code
        }
        XCTAssertEqual(codes.count, 2, "nothing of it is saved")
        XCTAssertTrue(codes.allSatisfy { $0 != .internalError }, "\(codes)")

        let metadata = try await bob.shareMetadata(for: try XCTUnwrap(share.url))
        XCTAssertNil(metadata.hierarchicalRootRecordID)
        try await bob.accept(metadata)
        let shared = try await bob.sharedCloudDatabase.allRecordZones()
        let theirs = try XCTUnwrap(shared.first)
        let added = CKRecord(
            recordType: "Photo", recordID: CKRecord.ID(recordName: "q", zoneID: theirs.zoneID))
        try await bob.sharedCloudDatabase.save(added)
        let seen = try await database.record(
            for: CKRecord.ID(recordName: "q", zoneID: zone.zoneID))
        XCTAssertEqual(seen.recordType, "Photo")
        try await bob.sharedCloudDatabase.deleteRecord(
            withID: CKRecord.ID(recordName: CKRecordNameZoneWideShare, zoneID: theirs.zoneID))
        let left = try await bob.sharedCloudDatabase.allRecordZones()
        XCTAssertEqual(left.map(\.zoneID), [])
    }

    private func requestAccess(_ container: CKContainer, to url: URL) async throws {
        let done = expectation(description: "asked")
        let operation = CKShareRequestAccessOperation(shareURLs: [url])
        let outcome = Outcome()
        operation.shareRequestAccessResultBlock = { result in
            outcome.set(result)
            done.fulfill()
        }
        container.add(operation)
        await fulfillment(of: [done], timeout: 30)
        do {
            try outcome.get()
        } catch let error as CKError where [.unknownItem, .invalidArguments].contains(error.code) {
            throw XCTSkip("the server has no requests for access")
        }
    }

    func testWhoAsksForAccessIsSeenByTheOwnerAndLetIn() async throws {
        let server = try ReleaseServer()
        let ann = try server.container(of: "ann@example.org")
        let bob = try server.container(of: "bob@example.org")
        let database = ann.privateCloudDatabase
        let zone = try await database.save(CKRecordZone(zoneName: "Lists"))
        let root = CKRecord(recordType: "List", recordID: CKRecord.ID(zoneID: zone.zoneID))
        let share = CKShare(rootRecord: root)
        share.allowsAccessRequests = true
        try await database.modifyRecords(saving: [root, share])
        let before = try await database.databaseChanges(since: nil)
        try await requestAccess(bob, to: try XCTUnwrap(share.url))
        // Noting a request moves the share, which the feed tells of.
        _ = try await database.databaseChanges(since: before.changeToken, waitingUpTo: 20)
        let fetched = try await database.record(for: share.recordID)
        let asked = try XCTUnwrap(fetched as? CKShare)
        let bobs = try await bob.userRecordID()
        XCTAssertEqual(asked.requesters.map(\.userIdentity.userRecordID), [bobs])
        asked.addParticipant(try await ann.shareParticipant(forUserRecordID: bobs))
        try await database.save(asked)
        XCTAssertEqual(asked.requesters, [])
        XCTAssertEqual(asked.participants.filter(\.isApprovedRequester).count, 1)
        try await bob.accept(try await bob.shareMetadata(for: try XCTUnwrap(share.url)))
        let shared = try await bob.sharedCloudDatabase.allRecordZones()
        XCTAssertEqual(shared.count, 1)
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

/// How an operation has ended, told from another task.
private final class Outcome: Sendable {
    private let result = Locked<Result<Void, any Error>>(.failure(CancellationError()))

    func set(_ result: Result<Void, any Error>) { self.result.withLock { $0 = result } }

    func get() throws { try result.withLock { $0 }.get() }
}
