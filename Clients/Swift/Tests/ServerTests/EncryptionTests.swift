import LenticularCloudKit
import XCTest

final class EncryptionTests: XCTestCase {
    private func diary(_ name: String) -> CKRecord {
        CKRecord(
            recordType: "Diary",
            recordID: CKRecord.ID(
                recordName: name, zoneID: CKRecordZone.ID(zoneName: "Diary")))
    }

    func testASecondDeviceReadsAfterUnlockingAndTheServerNever() async throws {
        let server = try ReleaseServer()
        let email = "\(UUID().uuidString)@example.org"
        let first = try server.container(of: email)
        let before = try await first.encryption.status()
        XCTAssertEqual(before, .notSetUp)
        let code = try await first.encryption.setUp(passphrase: "correct horse")
        try await first.privateCloudDatabase.save(CKRecordZone(zoneName: "Diary"))
        let record = diary("today")
        record.encryptedValues["secret"] = "nobody knows"
        record.encryptedValues["mood"] = 7
        let moment = Date(timeIntervalSinceReferenceDate: 817_055_026.123_456_7)
        record.encryptedValues["moment"] = moment
        record.encryptedValues["days"] = [Date(timeIntervalSince1970: 1)]
        record["title"] = "in the clear"
        try await first.privateCloudDatabase.save(record)
        XCTAssertFalse(server.hasStored("nobody knows"))
        XCTAssertTrue(server.hasStored("in the clear"))

        let again = try await first.privateCloudDatabase.record(for: record.recordID)
        XCTAssertEqual(again.encryptedValues["secret"] as? String, "nobody knows")
        XCTAssertEqual(again.encryptedValues["mood"] as? Int, 7)
        XCTAssertEqual(again.encryptedValues["moment"] as? Date, moment)
        XCTAssertEqual(
            again.encryptedValues["days"] as? [Date], [Date(timeIntervalSince1970: 1)])
        XCTAssertNil(again["secret"])

        try await first.encryption.lock()
        let second = try server.container(of: email)
        let locked = try await second.encryption.status()
        XCTAssertEqual(locked, .locked)
        let closed = try await second.privateCloudDatabase.record(for: record.recordID)
        XCTAssertNil(closed.encryptedValues["secret"])
        closed["title"] = "changed while locked"
        try await second.privateCloudDatabase.save(closed)
        do {
            try await second.encryption.unlock(passphrase: "wrong horse")
            XCTFail("expected a refusal")
        } catch CKError.permissionFailure {}
        try await second.encryption.unlock(passphrase: "correct horse")
        let opened = try await second.privateCloudDatabase.record(for: record.recordID)
        XCTAssertEqual(opened.encryptedValues["secret"] as? String, "nobody knows")
        XCTAssertEqual(opened["title"] as? String, "changed while locked")
        try await second.encryption.lock()
        try await second.encryption.unlock(recoveryCode: code.lowercased())
        let recovered = try await second.encryption.status()
        XCTAssertEqual(recovered, .ready)
        try await second.encryption.lock()
    }

    func testTheFirstValueMakesTheKeyAndTheCodeOpensItElsewhere() async throws {
        let server = try ReleaseServer()
        let email = "\(UUID().uuidString)@example.org"
        let first = try server.container(of: email)
        try await first.privateCloudDatabase.save(CKRecordZone(zoneName: "Diary"))
        let record = diary("today")
        record.encryptedValues["secret"] = "nobody knows"
        try await first.privateCloudDatabase.save(record)
        XCTAssertFalse(server.hasStored("nobody knows"))
        let found = try await first.encryption.recoveryCode()
        let code = try XCTUnwrap(found)
        try await first.encryption.setPassphrase("correct horse")

        try await first.encryption.lock()
        let second = try server.container(of: email)
        record.encryptedValues["secret"] = "what else nobody knows"
        do {
            try await second.privateCloudDatabase.save(record)
            XCTFail("expected a refusal")
        } catch CKError.accountTemporarilyUnavailable {}
        XCTAssertFalse(server.hasStored("what else nobody"))
        try await second.encryption.unlock(recoveryCode: code)
        let opened = try await second.privateCloudDatabase.record(for: record.recordID)
        XCTAssertEqual(opened.encryptedValues["secret"] as? String, "nobody knows")
        try await second.encryption.lock()
        try await second.encryption.unlock(passphrase: "correct horse")
        try await second.encryption.lock()
    }

    func testWhatIsSharedIsNotEncryptedForOneAlone() async throws {
        let server = try ReleaseServer()
        let ann = try server.container(of: "\(UUID().uuidString)@example.org")
        _ = try await ann.encryption.setUp(passphrase: "correct horse")
        let database = ann.privateCloudDatabase
        try await database.save(CKRecordZone(zoneName: "Diary"))
        let root = diary("root")
        let share = CKShare(rootRecord: root)
        try await database.modifyRecords(saving: [root, share])
        let child = diary("child")
        child.setParent(root)
        child.encryptedValues["secret"] = "nobody knows"
        do {
            try await database.save(child)
            XCTFail("expected a refusal")
        } catch CKError.invalidArguments {}
        let beside = CKRecord(recordType: "Day", recordID: .init(zoneID: child.recordID.zoneID))
        let done = try await database.modifyRecords(saving: [child, beside], atomically: false)
        XCTAssertThrowsError(try done.saveResults[child.recordID]?.get()) { error in
            XCTAssertEqual((error as? CKError)?.code, .invalidArguments)
        }
        XCTAssertNoThrow(try done.saveResults[beside.recordID]?.get())
        XCTAssertFalse(server.hasStored("nobody knows"))
        try await ann.encryption.lock()
    }

    func testTheFirstDeviceToMakeTheKeyWins() async throws {
        let server = try ReleaseServer()
        let email = "\(UUID().uuidString)@example.org"
        let (first, second) = (
            try server.container(of: email), try server.container(of: email)
        )
        _ = try await first.encryption.setUp(passphrase: "one")
        try await first.encryption.lock()
        do {
            _ = try await second.encryption.setUp(passphrase: "two")
            XCTFail("expected a conflict")
        } catch CKError.serverRecordChanged {}
    }
}
