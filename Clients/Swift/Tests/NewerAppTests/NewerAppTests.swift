import CloudKit
import CoreLocation
import XCTest

final class NewerAppTests: XCTestCase {
    func testFieldsReadAsTheyWereWrittenInEveryForm() {
        let record = CKRecord(recordType: "Thing")
        FieldForms.fill(record)
        for (index, value) in FieldForms.read(record).enumerated() {
            XCTAssertNotNil(value, "form \(index)")
        }
        XCTAssertNil(record["object"])
        XCTAssertTrue(record.changedKeys().contains("cleared"))
        var keys: Set<String> = []
        for (key, _) in record { keys.insert(key) }
        XCTAssertEqual(keys, Set(record.allKeys()))
    }

    func testAWholeFractionOfFoundationStaysAFraction() throws {
        let record = CKRecord(recordType: "Thing")
        record["price"] = NSNumber(value: 2.0)
        let copy = CKRecord(recordType: "Thing")
        copy["price"] = record["price"]
        let number = try XCTUnwrap(copy["price"] as? NSNumber)
        XCTAssertEqual(String(cString: number.objCType), "d")
        record["count"] = NSNumber(value: 2)
        XCTAssertNotEqual(
            String(cString: try XCTUnwrap(record["count"] as? NSNumber).objCType), "d")
    }

    func testErrorsAreCaughtAndCastAsNatively() {
        let errors: [any Error] = [
            CKError(.zoneNotFound), CKError(.quotaExceeded), CKError(.networkFailure),
        ]
        var caught: [String] = []
        for error in errors {
            do {
                throw error
            } catch CKError.zoneNotFound {
                caught.append("zone")
            } catch let error as CKError where error.code == .quotaExceeded {
                caught.append("quota")
            } catch {
                caught.append("\((error as NSError).domain) \((error as NSError).code)")
            }
        }
        XCTAssertEqual(caught, ["zone", "quota", "CKErrorDomain 4"])
        XCTAssertEqual(CKError.Code.participantAlreadyInvited.rawValue, 37)
    }

    func testASyncEngineOfAnActorTakesChanges() async {
        let app = NotesApp(CKContainer(identifier: "iCloud.test.Newer"))
        let engine = await app.start()
        await app.write("a", "Tea")
        XCTAssertEqual(engine.state.pendingRecordZoneChanges.count, 1)
        XCTAssertEqual(engine.state.pendingDatabaseChanges.count, 1)
        do {
            try await engine.sendChanges(.init(scope: .zoneIDs([NotesApp.zone])))
            XCTFail("expected an error: nobody has named a server")
        } catch {
            XCTAssertEqual((error as? CKError)?.code, .badContainer)
        }
        XCTAssertEqual(engine.state.pendingRecordZoneChanges.count, 1)
    }

    func testSubscriptionsComeBackFromArchivesAsTheyWere() throws {
        let query = CKQuerySubscription(
            recordType: "Cup", predicate: NSPredicate(format: "size > 5"), subscriptionID: "q",
            options: [.firesOnRecordCreation, .firesOnce])
        query.zoneID = CKRecordZone.ID(zoneName: "Z")
        query.notificationInfo = CKSubscription.NotificationInfo(
            alertBody: "New", title: "Cup", soundName: "ping", desiredKeys: ["size"],
            shouldBadge: true)
        let zone = CKRecordZoneSubscription(
            zoneID: CKRecordZone.ID(zoneName: "Z"), subscriptionID: "z")
        zone.recordType = "Cup"
        for subscription in [query, zone, CKDatabaseSubscription(subscriptionID: "d")] {
            let data = try NSKeyedArchiver.archivedData(
                withRootObject: subscription, requiringSecureCoding: true)
            let back = try NSKeyedUnarchiver.unarchivedObject(
                ofClass: type(of: subscription), from: data)
            XCTAssertEqual(back, subscription)
            XCTAssertEqual(back?.notificationInfo, subscription.notificationInfo)
        }
        let copy = try XCTUnwrap(query.copy() as? CKQuerySubscription)
        XCTAssertEqual(copy.querySubscriptionOptions, query.querySubscriptionOptions)
        XCTAssertEqual(copy.zoneID, query.zoneID)
        XCTAssertEqual(copy.recordType, "Cup")
        XCTAssertEqual((zone.copy() as? CKRecordZoneSubscription)?.recordType, "Cup")
    }

    func testPushesTellWhatHappenedWhere() throws {
        func push(_ ck: [String: Any]) -> CKNotification? {
            CKNotification(fromRemoteNotificationDictionary: [
                "aps": ["alert": ["body": "New", "title": "Cup"], "badge": 3, "sound": "ping"],
                "ck": ck,
            ])
        }
        let query = try XCTUnwrap(
            push([
                "cid": "iCloud.x", "nid": "n", "ckuserid": "_u", "p": 1,
                "qry": [
                    "sid": "s", "zid": "Z", "zoid": "_other", "rid": "r", "dbs": 3, "fo": 3,
                    "af": ["size": 5],
                ] as [String: Any],
            ]) as? CKQueryNotification)
        XCTAssertEqual(query.queryNotificationReason, .recordDeleted)
        XCTAssertEqual(query.recordID?.recordName, "r")
        XCTAssertEqual(query.recordID?.zoneID.ownerName, "_other")
        XCTAssertEqual(query.databaseScope, .shared)
        XCTAssertEqual(query.recordFields?["size"] as? Int, 5)
        XCTAssertTrue(query.isPruned)
        XCTAssertEqual(query.alertBody, "New")
        XCTAssertEqual(query.title, "Cup")
        XCTAssertEqual(query.badge, 3)
        XCTAssertEqual(query.notificationType, .query)
        XCTAssertEqual(query.subscriptionID, "s")
        let database = push(["met": ["sid": "all", "dbs": 2] as [String: Any]])
        XCTAssertEqual((database as? CKDatabaseNotification)?.databaseScope, .private)
        XCTAssertNil(push([:]))
        XCTAssertNil(CKNotification(fromRemoteNotificationDictionary: ["ck": "x"]))
        XCTAssertNil(
            CKQueryNotification(fromRemoteNotificationDictionary: [
                "ck": ["met": ["sid": "all"]]
            ]))
    }

    func testSettingsComeFromTheOperationThenItsGroup() {
        let group = CKOperationGroup()
        group.defaultConfiguration.timeoutIntervalForRequest = 7
        group.defaultConfiguration.qualityOfService = .background
        let operation = CKFetchRecordsOperation(recordIDs: [])
        operation.group = group
        operation.configuration.qualityOfService = .userInitiated
        XCTAssertEqual(operation.configuration.timeoutIntervalForRequest, 60)
        XCTAssertEqual(operation.configuration.timeoutIntervalForResource, 604_800)
        XCTAssertNotEqual(operation.operationID, group.operationGroupID)
    }

    func testWhatAnAppGivesObjectsReachesNoSwiftValue() {
        XCTAssertEqual((3 as NSNumber).described, "3")
        XCTAssertEqual(("Tea" as NSString).described, "Tea")
        XCTAssertEqual("Tea".described, "Tea")
        XCTAssertEqual(Int64(3).described, "3")
    }
}
