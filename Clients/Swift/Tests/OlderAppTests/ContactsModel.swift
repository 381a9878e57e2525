import CloudKit
import CoreLocation

// Code as apps of the older language mode have it: what compiles here compiles after a move to this library.

extension CKRecord.FieldKey {
    static let name = "name"
    static let phone = "phone"
}

struct Person {
    let id: CKRecord.ID
    let name: String
    let phone: String?
    let picture: URL?
    let record: CKRecord

    init?(record: CKRecord) {
        guard let name = record["name"] as? String else { return nil }
        id = record.recordID
        self.name = name
        phone = record.encryptedValues[.phone] as? String
        picture = (record["picture"] as? CKAsset)?.fileURL
        self.record = record
    }
}

@MainActor
final class ContactsModel {
    enum State {
        case idle
        case loading
        case loaded(private: [Person], shared: [Person])
        case error(Error)
    }

    enum ModelError: Error { case invalidRemoteShare }

    private(set) var state: State = .idle
    lazy var container = CKContainer(identifier: "iCloud.test.Older")
    private lazy var database = container.privateCloudDatabase
    let recordZone = CKRecordZone(zoneName: "Contacts")
    private var lastToken: CKServerChangeToken?
    private(set) var lastSaved = ""

    func initialize() async throws {
        do {
            try await createZoneIfNeeded()
            try await subscribeIfNeeded()
        } catch {
            state = .error(error)
            reportError(error)
            throw error
        }
    }

    private func createZoneIfNeeded() async throws {
        _ = try await database.modifyRecordZones(saving: [recordZone], deleting: [])
    }

    private func subscribeIfNeeded() async throws {
        do {
            _ = try await database.subscription(for: "contacts")
        } catch CKError.unknownItem {
            let subscription = CKRecordZoneSubscription(
                zoneID: recordZone.zoneID, subscriptionID: "contacts")
            let info = CKSubscription.NotificationInfo()
            info.shouldSendContentAvailable = true
            subscription.notificationInfo = info
            _ = try await database.modifySubscriptions(saving: [subscription], deleting: [])
        }
    }

    func refresh() async throws {
        state = .loading
        let (privateOnes, sharedOnes) = try await fetchBoth()
        state = .loaded(private: privateOnes, shared: sharedOnes)
    }

    private func fetchBoth() async throws -> (private: [Person], shared: [Person]) {
        async let mine = people(in: [recordZone], scope: .private)
        async let theirs = peopleShared()
        return (private: try await mine, shared: try await theirs)
    }

    private func peopleShared() async throws -> [Person] {
        let zones = try await container.sharedCloudDatabase.allRecordZones()
        guard !zones.isEmpty else { return [] }
        return try await people(in: zones, scope: .shared)
    }

    private func people(
        in zones: [CKRecordZone], scope: CKDatabase.Scope
    ) async throws -> [Person] {
        let database = container.database(with: scope)
        var all: [Person] = []
        @Sendable func inZone(_ zone: CKRecordZone) async throws -> [Person] {
            if zone.zoneID == CKRecordZone.default().zoneID { return [] }
            var found: [Person] = []
            var awaitingChanges = true
            var token: CKServerChangeToken?
            while awaitingChanges {
                let changes = try await database.recordZoneChanges(
                    inZoneWith: zone.zoneID, since: token)
                found += changes.modificationResultsByID.values
                    .compactMap { try? $0.get().record }
                    .compactMap { Person(record: $0) }
                changes.deletions.forEach { deletion in
                    found.removeAll { $0.id.recordName == deletion.recordID.recordName }
                }
                awaitingChanges = changes.moreComing
                token = changes.changeToken
            }
            return found
        }
        try await withThrowingTaskGroup(of: [Person].self) { group in
            for zone in zones { group.addTask { try await inZone(zone) } }
            for try await people in group { all.append(contentsOf: people) }
        }
        return all
    }

    func addPerson(name: String, phone: String, file: URL) async throws {
        let id = CKRecord.ID(zoneID: recordZone.zoneID)
        let record = CKRecord(recordType: "Person", recordID: id)
        record["name"] = name
        record.encryptedValues[.phone] = phone
        record["picture"] = CKAsset(fileURL: file)
        let results = try await database.modifyRecords(
            saving: [record], deleting: [], savePolicy: .allKeys)
        switch results.saveResults[record.recordID] {
        case .success(let saved)?: lastSaved = saved.recordID.recordName
        case .failure(let error)?: throw error
        case nil: break
        }
    }

    func share(_ person: Person) async throws -> (CKShare, CKContainer) {
        guard let existing = person.record.share else {
            let share = CKShare(rootRecord: person.record)
            share[CKShare.SystemFieldKey.title] = "Contact: \(person.name)"
            share.publicPermission = .readOnly
            _ = try await database.modifyRecords(saving: [person.record, share], deleting: [])
            return (share, container)
        }
        guard let share = try await database.record(for: existing.recordID) as? CKShare else {
            throw ModelError.invalidRemoteShare
        }
        return (share, container)
    }

    func keepToken() throws -> Data? {
        guard let token = lastToken else { return nil }
        return try NSKeyedArchiver.archivedData(
            withRootObject: token, requiringSecureCoding: true)
    }

    func reportError(_ error: Error) {
        guard let ckerror = error as? CKError else { return }
        switch ckerror.code {
        case .partialFailure:
            let dictionary = ckerror.userInfo[CKPartialErrorsByItemIDKey] as? [NSObject: CKError]
            for (_, error) in dictionary ?? [:] { reportError(error) }
        case .unknownItem, .zoneNotFound: lastSaved = ""
        case .zoneBusy, .requestRateLimited: lastSaved = "\(ckerror.retryAfterSeconds ?? 0)"
        case .notAuthenticated: lastSaved = error.localizedDescription
        default: break
        }
        if ckerror.userInfo[CKErrorUserDidResetEncryptedDataKey] != nil { lastSaved = "reset" }
    }

    func handle(_ userInfo: [AnyHashable: Any]) -> Bool {
        guard
            let zoneNotification = CKNotification(fromRemoteNotificationDictionary: userInfo)
                as? CKRecordZoneNotification
        else { return false }
        return zoneNotification.recordZoneID == recordZone.zoneID
    }
}
