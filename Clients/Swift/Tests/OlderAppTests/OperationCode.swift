import CloudKit

// Operations with all their callbacks, with variables that closures change, as the older language mode allows.
struct OperationCode {
    let database: CKDatabase
    let container: CKContainer

    func modify(_ records: [CKRecord], _ ids: [CKRecord.ID]) -> CKModifyRecordsOperation {
        let operation = CKModifyRecordsOperation(recordsToSave: records, recordIDsToDelete: ids)
        var saved: [CKRecord] = []
        operation.savePolicy = .changedKeys
        operation.isAtomic = false
        operation.clientChangeTokenData = Data()
        operation.qualityOfService = .userInitiated
        operation.configuration.timeoutIntervalForRequest = 10
        operation.configuration.timeoutIntervalForResource = 20
        operation.configuration.isLongLived = false
        operation.configuration.allowsCellularAccess = true
        operation.perRecordProgressBlock = { record, progress in _ = (record, progress) }
        operation.perRecordCompletionBlock = { _, error in _ = error }
        operation.perRecordSaveBlock = { _, result in
            switch result {
            case .success(let record): saved.append(record)
            case .failure(let error): print(error)
            }
        }
        operation.perRecordDeleteBlock = { id, result in _ = (id, result) }
        operation.modifyRecordsCompletionBlock = { records, ids, error in
            if let error = error as? CKError, error.code == .partialFailure {
                _ = records.flatMap { error.partialErrorsByItemID?[$0[0].recordID] }
            }
        }
        operation.modifyRecordsResultBlock = { result in
            if case .failure(let error) = result { print(error.localizedDescription, saved.count) }
        }
        operation.longLivedOperationWasPersistedBlock = {}
        operation.completionBlock = {}
        return operation
    }

    func query() -> CKQueryOperation {
        let predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "name BEGINSWITH %@", "A"),
            NSPredicate(format: "when > %@", Date() as NSDate),
            NSPredicate(format: "%K == %@", "kind", "tea"),
            NSPredicate(format: "amount > %d", 5),
        ])
        let query = CKQuery(recordType: "Cup", predicate: predicate)
        query.sortDescriptors = [NSSortDescriptor(key: "creationDate", ascending: false)]
        let operation = CKQueryOperation(query: query)
        operation.desiredKeys = ["name"]
        operation.resultsLimit = 50
        operation.zoneID = .default
        operation.recordFetchedBlock = { record in print(record["name"] ?? "") }
        operation.recordMatchedBlock = { id, result in _ = (id, try? result.get()) }
        operation.queryCompletionBlock = { cursor, error in _ = (cursor, error) }
        operation.queryResultBlock = { result in
            if case .success(let cursor?) = result { _ = CKQueryOperation(cursor: cursor) }
        }
        return operation
    }

    func changes(_ zone: CKRecordZone.ID, _ token: CKServerChangeToken?) -> [CKDatabaseOperation] {
        let zones = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
        var changed: [CKRecordZone.ID] = []
        zones.fetchAllChanges = true
        zones.recordZoneWithIDChangedBlock = { changed.append($0) }
        zones.recordZoneWithIDWasDeletedBlock = { _ in }
        zones.recordZoneWithIDWasPurgedBlock = { _ in }
        zones.changeTokenUpdatedBlock = { _ in }
        zones.fetchDatabaseChangesCompletionBlock = { token, moreComing, error in
            _ = (token, moreComing, error)
        }
        zones.fetchDatabaseChangesResultBlock = { result in
            switch result {
            case .success(let (serverChangeToken, moreComing)):
                _ = (serverChangeToken, moreComing, changed)
            case .failure: break
            }
        }
        let configuration = CKFetchRecordZoneChangesOperation.ZoneConfiguration()
        configuration.previousServerChangeToken = token
        configuration.resultsLimit = 100
        configuration.desiredKeys = nil
        let records = CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zone], configurationsByRecordZoneID: [zone: configuration])
        records.recordChangedBlock = { _ in }
        records.recordWasChangedBlock = { _, _ in }
        records.recordWithIDWasDeletedBlock = { _, _ in }
        records.recordZoneChangeTokensUpdatedBlock = { _, _, _ in }
        records.recordZoneFetchCompletionBlock = { _, _, _, _, _ in }
        records.recordZoneFetchResultBlock = { zone, result in
            if case .success(let done) = result { _ = (zone, done.serverChangeToken) }
        }
        records.fetchRecordZoneChangesCompletionBlock = { _ in }
        records.fetchRecordZoneChangesResultBlock = { _ in }
        records.addDependency(zones)
        return [zones, records]
    }

    func others(_ url: URL, _ metadata: CKShare.Metadata?) -> [CKOperation] {
        let fetch = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "a")])
        fetch.perRecordResultBlock = { _, _ in }
        fetch.perRecordCompletionBlock = { _, _, _ in }
        fetch.fetchRecordsCompletionBlock = { _, _ in }
        fetch.fetchRecordsResultBlock = { _ in }
        let me = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
        let zones = CKModifyRecordZonesOperation(
            recordZonesToSave: [CKRecordZone(zoneName: "Z")], recordZoneIDsToDelete: nil)
        zones.modifyRecordZonesCompletionBlock = { _, _, _ in }
        let allZones = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        allZones.fetchRecordZonesCompletionBlock = { _, _ in }
        let subscriptions = CKModifySubscriptionsOperation(
            subscriptionsToSave: [CKDatabaseSubscription(subscriptionID: "all")],
            subscriptionIDsToDelete: [])
        subscriptions.modifySubscriptionsCompletionBlock = { _, _, _ in }
        subscriptions.perSubscriptionSaveBlock = { _, _ in }
        let known = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
        known.fetchSubscriptionCompletionBlock = { _, _ in }
        let all: [CKOperation] = [fetch, me, zones, allZones, subscriptions, known]
        return all + inContainer(url, metadata)
    }

    private func inContainer(_ url: URL, _ metadata: CKShare.Metadata?) -> [CKOperation] {
        let shares = CKFetchShareMetadataOperation(shareURLs: [url])
        shares.shouldFetchRootRecord = true
        shares.rootRecordDesiredKeys = ["title"]
        shares.perShareMetadataBlock = { _, _, _ in }
        shares.perShareMetadataResultBlock = { _, _ in }
        shares.fetchShareMetadataCompletionBlock = { _ in }
        let accept = CKAcceptSharesOperation(shareMetadatas: metadata.map { [$0] } ?? [])
        accept.perShareCompletionBlock = { _, _, _ in }
        accept.perShareResultBlock = { _, _ in }
        accept.acceptSharesCompletionBlock = { _ in }
        accept.acceptSharesResultBlock = { _ in }
        let people = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [
            CKUserIdentity.LookupInfo(emailAddress: "a@example.org"),
            CKUserIdentity.LookupInfo(phoneNumber: "+4912345"),
        ])
        people.perShareParticipantResultBlock = { _, _ in }
        people.fetchShareParticipantsResultBlock = { _ in }
        let token = CKFetchWebAuthTokenOperation(APIToken: "token")
        token.fetchWebAuthTokenResultBlock = { _ in }
        let group = CKOperationGroup()
        group.name = "sync"
        group.quantity = 3
        group.expectedSendSize = .kilobytes
        group.expectedReceiveSize = .tensOfMegabytes
        group.defaultConfiguration = CKOperation.Configuration()
        group.defaultConfiguration.qualityOfService = .utility
        let all: [CKOperation] = [shares, accept, people, token]
        for operation in all { operation.group = group }
        return all
    }
}
