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
