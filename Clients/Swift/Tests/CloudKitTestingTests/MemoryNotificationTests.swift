import CloudKitTesting
import LenticularCloudKit
import XCTest

/// What one device changes, told to the others by a server in memory.
final class MemoryNotificationTests: XCTestCase {
    private let server = MemoryServer()
    private let zone = CKRecordZone(zoneName: "Notes")

    private func note(_ name: String, size: Int = 1) -> CKRecord {
        let record = CKRecord(
            recordType: "Note", recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID))
        record["size"] = size
        record["title"] = "about \(name)"
        return record
    }

    private struct TooFew: Error {}

    /// Reads so many notifications; a test that gets fewer fails, and does not hang.
    private func read(
        _ count: Int, of container: CKContainer,
        by delivery: CKNotificationDelivery = .eventStream, among listeners: Int = 1,
        after body: @escaping @Sendable () async throws -> Void
    ) async throws -> [CKNotification] {
        let told = container.notifications(by: delivery)
        let server = server
        return try await withThrowingTaskGroup(of: [CKNotification]?.self) { group in
            group.addTask {
                var found: [CKNotification] = []
                for try await notification in told {
                    found.append(notification)
                    if found.count == count { break }
                }
                return found
            }
            group.addTask {
                try await server.waitForListeners(listeners)
                try await body()
                return nil
            }
            group.addTask {
                try await Task.sleep(nanoseconds: 20_000_000_000)
                throw TooFew()
            }
            defer { group.cancelAll() }
            while let done = try await group.next() { if let done { return done } }
            return []
        }
    }

    func testAnotherDevicesChangesAreToldOnceARequestByBothWays() async throws {
        let (own, other) = (server.container(of: "ann"), server.container(of: "ann"))
        let database = own.privateCloudDatabase
        try await database.save(zone)
        try await database.save(CKDatabaseSubscription(subscriptionID: "all"))
        let records = [note("a"), note("b")]
        let last = note("c")
        for delivery in [CKNotificationDelivery.eventStream, .longPoll] {
            let told = try await read(2, of: own, by: delivery) {
                try await other.privateCloudDatabase.modifyRecords(
                    saving: records, savePolicy: .allKeys)
                try await other.privateCloudDatabase.modifyRecords(
                    saving: [last], savePolicy: .allKeys)
            }
            let names = Set(told.compactMap(\.notificationID).map(\.description))
            XCTAssertEqual(names.count, 2, "\(delivery)")
            for notification in told {
                let database = try XCTUnwrap(notification as? CKDatabaseNotification)
                XCTAssertEqual(database.databaseScope, .private)
                XCTAssertEqual(database.subscriptionID, "all")
                XCTAssertEqual(database.containerIdentifier, server.containerIdentifier)
                XCTAssertEqual(
                    database.subscriptionOwnerUserRecordID, CKRecord.ID(recordName: "_ann"))
            }
        }
    }

    func testADeviceIsNotToldWhatItHasChangedItselfNorWhatOthersOwn() async throws {
        let (own, other) = (server.container(of: "ann"), server.container(of: "ann"))
        let stranger = server.container(of: "bob").privateCloudDatabase
        let zone = zone
        try await own.privateCloudDatabase.save(zone)
        try await stranger.save(zone)
        try await own.privateCloudDatabase.save(CKDatabaseSubscription(subscriptionID: "all"))
        let (mine, theirs, last) = (note("mine"), note("theirs"), note("last"))
        try await own.privateCloudDatabase.save(
            CKQuerySubscription(
                recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "notes",
                options: .firesOnRecordCreation))
        let told = try await read(1, of: own) {
            try await own.privateCloudDatabase.save(mine)
            try await stranger.save(theirs)
            try await other.privateCloudDatabase.save(last)
        }
        let names = told.compactMap { ($0 as? CKQueryNotification)?.recordID?.recordName }
        XCTAssertTrue(names.isEmpty || names == ["last"])
        XCTAssertTrue(["all", "notes"].contains(told.first?.subscriptionID))
    }

    func testAQueryTellsWhatHappenedToWhichRecordWithTheFieldsThatWereAskedFor() async throws {
        let (own, other) = (server.container(of: "ann"), server.container(of: "ann"))
        let database = other.privateCloudDatabase
        try await database.save(zone)
        let query = CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(format: "size > 5"), subscriptionID: "large",
            options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion])
        let info = CKSubscription.NotificationInfo(
            alertBody: "A large note", alertLocalizationKey: "LARGE",
            alertLocalizationArgs: ["title"], desiredKeys: ["title", "size"], shouldBadge: true)
        query.notificationInfo = info
        try await own.privateCloudDatabase.save(query)
        let (small, large) = (note("small"), note("large", size: 6))
        let told = try await read(3, of: own) {
            try await database.save(small)
            try await database.save(large)
            // It matched before.
            large["size"] = 2
            try await database.save(large)
            large["size"] = 9
            _ = try await database.modifyRecords(deleting: [small.recordID])
            try await database.save(large)
        }.compactMap { $0 as? CKQueryNotification }
        XCTAssertEqual(
            told.map(\.queryNotificationReason), [.recordCreated, .recordUpdated, .recordUpdated])
        XCTAssertEqual(told.map(\.recordID), [large.recordID, large.recordID, large.recordID])
        XCTAssertEqual(told.map { $0.recordFields?["size"] as? Int }, [6, 2, 9])
        XCTAssertEqual(told.first?.recordFields?["title"] as? String, "about large")
        XCTAssertEqual(told.first?.alertBody, "A large note")
        XCTAssertEqual(told.first?.alertLocalizationArgs, ["about large"])
        XCTAssertEqual(told.map(\.badge), [1, 2, 3])
    }

    func testASubscriptionThatFiresOnceIsGoneAfterwards() async throws {
        let (own, other) = (server.container(of: "ann"), server.container(of: "ann"))
        let database = other.privateCloudDatabase
        try await database.save(zone)
        try await database.save(
            CKQuerySubscription(
                recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "once",
                options: [.firesOnRecordCreation, .firesOnce]))
        let (first, second) = (note("a"), note("b"))
        let told = try await read(1, of: own) {
            try await database.save(first)
            try await database.save(second)
        }
        XCTAssertEqual(told.map { ($0 as? CKQueryNotification)?.recordID }, [first.recordID])
        let left = try await database.allSubscriptions()
        XCTAssertEqual(left, [])
    }

    func testAZonesSubscriptionHearsOfItsZoneAlone() async throws {
        let (own, other) = (server.container(of: "ann"), server.container(of: "ann"))
        let database = other.privateCloudDatabase
        let elsewhere = CKRecordZone(zoneName: "Elsewhere")
        _ = try await database.modifyRecordZones(saving: [zone, elsewhere])
        try await database.save(
            CKRecordZoneSubscription(zoneID: zone.zoneID, subscriptionID: "zone"))
        let record = note("a")
        let zoneID = zone.zoneID
        let told = try await read(2, of: own) {
            try await database.save(
                CKRecord(
                    recordType: "Note",
                    recordID: CKRecord.ID(recordName: "x", zoneID: elsewhere.zoneID)))
            try await database.save(record)
            try await database.deleteRecordZone(withID: zoneID)
        }
        XCTAssertEqual(
            told.map { ($0 as? CKRecordZoneNotification)?.recordZoneID }, [zoneID, zoneID])
    }

    func testSubscriptionsInThePublicDatabaseAreTheirOwners() async throws {
        let (ann, bob) = (server.container(of: "ann"), server.container(of: "bob"))
        let query = CKQuerySubscription(
            recordType: "Post", predicate: NSPredicate(value: true), subscriptionID: "posts",
            options: .firesOnRecordCreation)
        try await ann.publicCloudDatabase.save(query)
        let none = try await bob.publicCloudDatabase.allSubscriptions()
        XCTAssertEqual(none, [])
        let post = CKRecord(recordType: "Post", recordID: CKRecord.ID(recordName: "p"))
        let told = try await read(1, of: ann) { try await bob.publicCloudDatabase.save(post) }
        let notification = try XCTUnwrap(told.first as? CKQueryNotification)
        XCTAssertEqual(notification.databaseScope, .public)
        XCTAssertEqual(notification.recordID, post.recordID)
    }

    func testASubscriptionThatIsSavedAgainTakesTheFormersPlace() async throws {
        let database = server.container(of: "ann").privateCloudDatabase
        try await database.save(zone)
        for text in ["first", "second"] {
            let subscription = CKRecordZoneSubscription(zoneID: zone.zoneID, subscriptionID: "z")
            subscription.notificationInfo = CKSubscription.NotificationInfo(alertBody: text)
            try await database.save(subscription)
        }
        let there = try await database.subscription(for: "z")
        XCTAssertEqual(there.notificationInfo?.alertBody, "second")
        do {
            try await database.save(
                CKQuerySubscription(recordType: "Note", predicate: NSPredicate(value: true)))
            XCTFail("expected a refusal: it never fires")
        } catch CKError.invalidArguments {}
    }

    func testWhoHasSignedOutIsToldNothingMoreAndThatTheyMustSignIn() async throws {
        let server = server
        do {
            _ = try await read(1, of: server.container(of: "ann")) { server.signOut("ann") }
            XCTFail("expected an error")
        } catch CKError.notAuthenticated {}
    }

    /// The engine's own subscription, and no timer.
    func testAnEngineFetchesAsSoonAsAnotherDeviceHasChangedSomething() async throws {
        let (own, other) = (server.container(of: "ann"), server.container(of: "ann"))
        try await other.privateCloudDatabase.save(zone)
        let recorder = EventRecorder(forwardingTo: Reader())
        let engine = CKSyncEngine(
            CKSyncEngine.Configuration(
                database: own.privateCloudDatabase, stateSerialization: nil, delegate: recorder),
            clock: VirtualClock())
        let first = try await recorder.events(until: "didFetchChanges")
        XCTAssertEqual(
            first,
            [
                "accountChange signIn", "willFetchChanges", "fetchedDatabaseChanges [Notes]",
                "willFetchRecordZoneChanges Notes", "didFetchRecordZoneChanges Notes",
                "didFetchChanges",
            ])
        try await server.waitForListeners(1)
        // The look that telling begins with.
        let second = try await recorder.events(until: "didFetchChanges")
        XCTAssertEqual(second, ["willFetchChanges", "didFetchChanges"])
        let record = note("a")
        try await other.privateCloudDatabase.save(record)
        let third = try await recorder.events(until: "didFetchChanges")
        XCTAssertEqual(
            third,
            [
                "willFetchChanges", "fetchedDatabaseChanges [Notes]",
                "willFetchRecordZoneChanges Notes", "fetchedRecordZoneChanges [a]",
                "didFetchRecordZoneChanges Notes", "didFetchChanges",
            ])
        let subscriptions = try await engine.database.allSubscriptions()
        XCTAssertEqual(subscriptions.count, 1)
        await engine.cancelOperations()
    }
}

/// An app that only reads.
private final class Reader: CKSyncEngineDelegate {
    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
}
