import CloudKit
import XCTest

final class OlderAppTests: XCTestCase {
    @MainActor
    func testAnAppOfTheOlderModeReportsErrorsByTheirCodes() async {
        let model = ContactsModel()
        do {
            try await model.initialize()
            XCTFail("expected an error: nobody has named a server")
        } catch {
            XCTAssertEqual((error as? CKError)?.code, .badContainer)
            XCTAssertEqual((error as NSError).domain, CKErrorDomain)
            XCTAssertTrue(error.localizedDescription.contains("LENTICULAR_SERVICE_FILE"))
        }
        model.reportError(CKError(.notAuthenticated))
        XCTAssertFalse(model.lastSaved.isEmpty)
    }

    func testOperationsOfTheOlderModeAreMadeWithAllTheirCallbacks() throws {
        let container = CKContainer(identifier: "iCloud.test.Older")
        let code = OperationCode(database: container.privateCloudDatabase, container: container)
        let url = try XCTUnwrap(URL(string: "https://example.org/share/x"))
        XCTAssertEqual(code.others(url, nil).map(\.isFinished).filter { $0 }, [])
        XCTAssertEqual(code.changes(.default, nil)[1].dependencies.count, 1)
        XCTAssertEqual(code.modify([], []).configuration.timeoutIntervalForRequest, 10)
        XCTAssertEqual(code.query().resultsLimit, 50)
        HandlerCode(container).run()
    }

    func testOlderNamesStandForThoseOfToday() {
        let names = OlderNames(container: CKContainer(identifier: "iCloud.test.Older"))
        let settings = names.operation().configuration
        XCTAssertTrue(settings?.container === names.container)
        XCTAssertEqual(settings?.isLongLived, true)
        XCTAssertEqual(settings?.allowsCellularAccess, false)
        XCTAssertEqual(settings?.timeoutIntervalForRequest, 7)
        XCTAssertEqual(settings?.timeoutIntervalForResource, 70)
        let zone = names.changes(.default).configurationsByRecordZoneID?[.default]
        XCTAssertEqual(zone?.resultsLimit, 5)
        XCTAssertEqual(zone?.desiredKeys, ["a"])
        let record = CKRecord(recordType: "Cup")
        XCTAssertEqual(names.casts(record, Date()).recordType, "Cup")
        XCTAssertEqual(record["name"] as? String, "Tea")
        XCTAssertEqual(
            names.infos().map { $0.emailAddress ?? $0.phoneNumber ?? $0.userRecordID?.recordName },
            ["a@example.org", "b@example.org", "+4930123", "_ann"])
        XCTAssertTrue(CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(90, -180)))
        XCTAssertFalse(CLLocationCoordinate2DIsValid(CLLocationCoordinate2DMake(90.1, 0)))
        let guest = CKShare.Participant.oneTimeURLParticipant()
        XCTAssertTrue(names.mayBeRemoved(guest))
        guest.type = .owner
        XCTAssertEqual(guest.role, .owner)
        guest.role = .administrator
        XCTAssertEqual(guest.type, .unknown)
    }

    func testOlderQuestionsForPeopleAreAnswered() async {
        let answered = expectation(description: "answered")
        answered.expectedFulfillmentCount = 3
        OlderNames(container: CKContainer(identifier: "iCloud.test.Older")).discover { _, error in
            // Nobody has named a server.
            XCTAssertEqual((error as? CKError)?.code, .badContainer)
            answered.fulfill()
        }
        await fulfillment(of: [answered], timeout: 20)
    }

    @MainActor
    func testAPushIsReadAsTheNotificationOfItsKind() {
        let model = ContactsModel()
        let push: [AnyHashable: Any] = [
            "aps": ["content-available": 1],
            "ck": [
                "ce": 2, "cid": "iCloud.test.Older", "nid": "n1", "ckuserid": "_u1",
                "fet": ["sid": "contacts", "dbs": 2, "zid": "Contacts", "zoid": "_u1"],
            ] as [String: Any],
        ]
        XCTAssertTrue(model.handle(push))
        XCTAssertFalse(model.handle(["aps": ["alert": "x"]]))
    }
}
