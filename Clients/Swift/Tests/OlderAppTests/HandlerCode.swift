import CloudKit

// Methods with completion handlers, as apps from before `async` have them.
final class HandlerCode {
    let container: CKContainer
    private(set) var steps = 0

    init(_ container: CKContainer) { self.container = container }

    func run() {
        let database = container.publicCloudDatabase
        let id = CKRecord.ID(recordName: "a")
        container.accountStatus { status, error in
            if status == .available, error == nil { self.steps += 1 }
        }
        container.fetchUserRecordID { id, error in _ = (id?.recordName, error) }
        container.fetchShareParticipant(withEmailAddress: "a@example.org") { _, _ in }
        database.fetch(withRecordID: id) { record, error in
            guard let record = record else { return print(error as Any) }
            record.setValue("Tea", forKey: "name")
            database.save(record) { _, _ in self.steps += 1 }
        }
        database.fetch(withRecordIDs: [id]) { result in _ = try? result.get()[id]?.get() }
        database.delete(withRecordID: id) { _, _ in }
        database.modifyRecords(saving: [], deleting: [id]) { result in
            if case .success(let done) = result { _ = done.deleteResults[id] }
        }
        let query = CKQuery(recordType: "Cup", predicate: NSPredicate(value: true))
        database.perform(query, inZoneWith: nil) { records, _ in _ = records?.count }
        database.fetch(withQuery: query) { result in
            if case .success(let (matchResults, queryCursor)) = result, let cursor = queryCursor {
                database.fetch(withCursor: cursor) { _ in self.steps += matchResults.count }
            }
        }
        database.fetchAllRecordZones { zones, _ in _ = zones?.map { $0.zoneID.zoneName } }
        database.fetch(withRecordZoneID: .default) { _, _ in }
        database.save(CKRecordZone(zoneName: "Z")) { _, _ in }
        database.delete(withRecordZoneID: .default) { _, _ in }
        database.fetchAllSubscriptions { subscriptions, _ in _ = subscriptions?.count }
        database.save(CKDatabaseSubscription(subscriptionID: "s")) { _, _ in }
        database.fetch(withSubscriptionID: "s") { _, _ in }
        database.delete(withSubscriptionID: "s") { _, _ in }
        database.fetchDatabaseChanges(since: nil) { result in _ = try? result.get().changeToken }
        database.fetchRecordZoneChanges(inZoneWith: .default, since: nil) { _ in }
    }
}
