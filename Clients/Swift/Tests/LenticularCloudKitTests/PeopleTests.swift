import CloudKitWire
import XCTest

@testable import LenticularCloudKit

/// People who are found, who ask to take part, and who are let in or kept out.
final class PeopleTests: XCTestCase {
    private static let users = #"""
        {"users":[
          {"userRecordName":"_cleo","nameComponents":{"givenName":"Cleo"},
           "lookupInfo":{"emailAddress":"cleo@example.org"}},
          {"lookupInfo":{"emailAddress":"hidden@example.org"}}]}
        """#

    func testOnlyWhoLetsThemselvesBeFoundIsFound() async throws {
        let exchange = CannedExchange(["users/discover": Self.users])
        let found = try await exchange.container.userIdentities(
            forEmailAddresses: ["cleo@example.org", "hidden@example.org"])
        XCTAssertEqual(found.keys.sorted(), ["cleo@example.org"])
        let cleo = try XCTUnwrap(found["cleo@example.org"])
        XCTAssertEqual(cleo.userRecordID?.recordName, "_cleo")
        XCTAssertEqual(cleo.nameComponents?.givenName, "Cleo")
        XCTAssertEqual(
            exchange.sent("users/discover"),
            [
                #"{"lookupInfos":[{"emailAddress":"cleo@example.org"},"#
                    + #"{"emailAddress":"hidden@example.org"}]}"#
            ])
        let one = try await exchange.container.userIdentity(forPhoneNumber: "+49 30 1")
        XCTAssertEqual(one?.userRecordID?.recordName, "_cleo")
        let nobody = try await exchange.container.userIdentities(forPhoneNumbers: [])
        XCTAssertTrue(nobody.isEmpty)
    }

    func testTheOperationTellsOfEachWhoIsFound() async {
        let exchange = CannedExchange(["users/discover": Self.users])
        let done = expectation(description: "done")
        let operation = CKDiscoverUserIdentitiesOperation(userIdentityLookupInfos: [
            .init(emailAddress: "cleo@example.org"), .init(emailAddress: "hidden@example.org"),
        ])
        let names = Names()
        operation.userIdentityDiscoveredBlock = { identity, info in
            names.note("\(info.emailAddress ?? "") \(identity.userRecordID?.recordName ?? "")")
        }
        operation.discoverUserIdentitiesResultBlock = { result in
            if case .failure(let error) = result { XCTFail("\(error)") }
            done.fulfill()
        }
        let container = exchange.container
        container.add(operation)
        await fulfillment(of: [done], timeout: 20)
        XCTAssertEqual(names.all, ["cleo@example.org _cleo"])
    }

    func testAccessIsAskedForByTheLastPartOfLinks() async throws {
        let exchange = CannedExchange(["records/requestAccess": "{}"])
        let done = expectation(description: "done")
        let links = ["0AAA", "0BBB"].compactMap { URL(string: "https://x.example/share/\($0)#Tea") }
        let operation = CKShareRequestAccessOperation(shareURLs: links)
        let names = Names()
        operation.perShareAccessRequestCompletionBlock = { link, error in
            XCTAssertNil(error)
            names.note(link.lastPathComponent)
        }
        operation.shareRequestAccessCompletionBlock = { error in
            XCTAssertNil(error)
            done.fulfill()
        }
        let container = exchange.container
        container.add(operation)
        await fulfillment(of: [done], timeout: 20)
        XCTAssertEqual(names.all, ["0AAA", "0BBB"])
        XCTAssertEqual(
            exchange.sent("records/requestAccess"),
            [#"{"shortGUIDs":[{"value":"0AAA"},{"value":"0BBB"}]}"#])
    }

    private static let share = #"""
        {"recordName":"s","recordType":"cloudkit.share","recordChangeTag":"1","fields":{},
         "publicPermission":"NONE","allowsAccessRequests":true,
         "participants":[{"participantId":"p","type":"USER","permission":"READ_ONLY",
           "acceptanceStatus":"INVITED","isApprovedRequester":true,
           "userIdentity":{"userRecordName":"_dan"}}],
         "requesters":[
           {"userIdentity":{"userRecordName":"_eve","nameComponents":{"givenName":"Eve"}},
            "timestamp":5000},
           {"userIdentity":{"userRecordName":"_fay"},"timestamp":6000}],
         "blockedIdentities":[{"userRecordName":"_gus"}]}
        """#

    func testOwnersSeeWhoAsksAndDecideOnThem() async throws {
        let exchange = CannedExchange([
            "records/lookup": "{\"records\":[\(Self.share)]}",
            "records/modify": "{\"records\":[\(Self.share)]}",
        ])
        let database = exchange.container.privateCloudDatabase
        let zone = CKRecordZone.ID(zoneName: "Z")
        let found = try await database.record(for: CKRecord.ID(recordName: "s", zoneID: zone))
        let share = try XCTUnwrap(found as? CKShare)
        XCTAssertTrue(share.allowsAccessRequests)
        XCTAssertEqual(share.participants.map(\.isApprovedRequester), [true])
        XCTAssertEqual(
            share.requesters.map(\.userIdentity.userRecordID?.recordName), ["_eve", "_fay"])
        XCTAssertEqual(share.requesters[0].requestDate, Date(timeIntervalSince1970: 5))
        XCTAssertEqual(
            share.blockedIdentities.map(\.userIdentity.userRecordID?.recordName), ["_gus"])

        try await database.save(share)
        XCTAssertFalse(exchange.sent("records/modify")[0].contains("allowsAccessRequests"))
        share.allowsAccessRequests = false
        share.denyRequesters([share.requesters[0]])
        share.blockRequesters(share.requesters)
        share.unblockIdentities([share.blockedIdentities[0]])
        XCTAssertEqual(share.requesters, [])
        XCTAssertEqual(
            share.blockedIdentities.map(\.userIdentity.userRecordID?.recordName), ["_fay"])
        try await database.save(share)
        let body = exchange.sent("records/modify")[1]
        for part in [
            #""allowsAccessRequests":false"#, #""deny":["_eve"]"#, #""block":["_fay"]"#,
            #""unblock":["_gus"]"#,
        ] {
            XCTAssertTrue(body.contains(part), "\(part) in \(body)")
        }
        // What was decided is done: the next save does not say it again.
        try await database.save(share)
        XCTAssertFalse(exchange.sent("records/modify")[2].contains("deny"))
    }
}

/// What blocks were told, in their order.
private final class Names: Sendable {
    private let noted = Locked<[String]>([])

    func note(_ name: String) { noted.withLock { $0.append(name) } }

    var all: [String] { noted.withLock { $0 } }
}
