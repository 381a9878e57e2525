import CloudKit
import CoreLocation

// Names that were in use before those of today, and that sources still have.
struct OlderNames {
    let container: CKContainer

    /// Settings of an operation itself, in place of its configuration.
    func operation() -> CKModifyRecordsOperation {
        let operation = CKModifyRecordsOperation()
        operation.container = container
        operation.isLongLived = true
        operation.allowsCellularAccess = false
        operation.timeoutIntervalForRequest = 7
        operation.timeoutIntervalForResource = 70
        return operation
    }

    /// Options of zones, in place of their configurations.
    func changes(_ zone: CKRecordZone.ID) -> CKFetchRecordZoneChangesOperation {
        let options = CKFetchRecordZoneChangesOperation.ZoneOptions()
        options.resultsLimit = 5
        let operation = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zone], optionsByRecordZoneID: [zone: options])
        operation.optionsByRecordZoneID?[zone]?.desiredKeys = ["a"]
        return operation
    }

    /// Values and arguments with the casts that sources have.
    func casts(_ record: CKRecord, _ moment: Date) -> CKQuery {
        record["name"] = "Tea" as NSString as __CKRecordObjCValue
        record.setObject("Tea" as NSString as __CKRecordObjCValue, forKey: "other")
        record["place"] = CLLocation(
            latitude: CLLocationCoordinate2DMake(1, 2).latitude, longitude: 2)
        let predicates = [
            NSPredicate(format: "date > %@", moment as CVarArg),
            NSPredicate(format: "other < %@", moment as NSDate as CVarArg),
            NSPredicate(format: "count == %@", NSNumber(value: 3) as CVarArg),
        ]
        return CKQuery(
            recordType: "Cup",
            predicate: NSCompoundPredicate(andPredicateWithSubpredicates: predicates))
    }

    func infos() -> [CKUserIdentity.LookupInfo] {
        CKUserIdentity.LookupInfo.lookupInfos(withEmails: ["a@example.org", "b@example.org"])
            + CKUserIdentity.LookupInfo.lookupInfos(withPhoneNumbers: ["+4930123"])
            + CKUserIdentity.LookupInfo.lookupInfos(with: [CKRecord.ID(recordName: "_ann")])
    }

    func discover(_ done: @escaping (CKUserIdentity?, Error?) -> Void) {
        container.discoverUserIdentity(withEmailAddress: "a@example.org", completionHandler: done)
        container.discoverUserIdentity(withPhoneNumber: "+4930123", completionHandler: done)
        container.discoverUserIdentity(
            withUserRecordID: CKRecord.ID(recordName: "_ann"), completionHandler: done)
    }

    func mayBeRemoved(_ participant: CKShare.Participant) -> Bool {
        participant.type != CKShare.ParticipantType.owner
    }
}
