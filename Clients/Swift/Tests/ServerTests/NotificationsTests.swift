import XCTest

@testable import LenticularCloudKit

#if os(Linux)
    /// What another device of the same person does, told to this one by the server itself.
    final class NotificationsTests: XCTestCase {
        private struct NothingCame: Error {}

        private let home = FileManager.default.temporaryDirectory
            .appendingPathComponent("device-\(UUID().uuidString)")

        override func tearDown() { try? FileManager.default.removeItem(at: home) }

        /// Another device of the same person: a program of its own, with its own folder.
        private struct OtherDevice: Sendable {
            let program: String
            let environment: [String: String]

            func add(_ name: String) throws {
                let done = try RunningProgram.run(
                    [program, "add", name, "1"], environment: environment)
                XCTAssertEqual(done.status, 0, done.output)
            }
        }

        private func otherDevice(_ server: ReleaseServer) throws -> OtherDevice {
            try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
            let service = try server.serviceFile(of: "ann@example.org")
            return OtherDevice(
                program: try BuiltPackage().program("Contacts"),
                environment: ["LENTICULAR_SERVICE_FILE": service.path, "HOME": home.path])
        }

        /// - Parameter body: called once this device is told of what changes from there on.
        /// - Throws: `NothingCame` after a minute; `XCTSkip` for a server that has no notifications.
        private func first(
            in container: CKContainer, by way: CKNotificationDelivery = .eventStream,
            after body: @escaping @Sendable () async throws -> Void
        ) async throws -> CKNotification? {
            let (beginnings, begin) = AsyncStream<Void>.makeStream()
            let notifications = container.access.notifications(
                by: way, onBegin: { begin.yield() })
            do {
                return try await withThrowingTaskGroup(of: CKNotification?.self) { group in
                    group.addTask {
                        for try await notification in notifications { return notification }
                        return nil
                    }
                    group.addTask {
                        for await _ in beginnings { break }
                        try await body()
                        try await Task.sleep(nanoseconds: 60_000_000_000)
                        return nil
                    }
                    group.addTask {
                        try await Task.sleep(nanoseconds: 60_000_000_000)
                        throw NothingCame()
                    }
                    defer { group.cancelAll() }
                    return try await group.next() ?? nil
                }
            } catch CKError.unknownItem {
                throw XCTSkip("the server has no notifications")
            }
        }

        func testAnotherDevicesChangeIsToldByStreamAndByPoll() async throws {
            let server = try ReleaseServer()
            let container = try server.container(of: "ann@example.org")
            let database = container.privateCloudDatabase
            let other = try otherDevice(server)
            // The zone is there before the subscription: what is told is the contact.
            try await database.save(CKRecordZone(zoneName: "Contacts"))
            try await database.save(CKDatabaseSubscription(subscriptionID: "all"))
            for (index, way) in [CKNotificationDelivery.eventStream, .longPoll].enumerated() {
                let found = try await first(in: container, by: way) {
                    try other.add("Contact \(index)")
                }
                let notification = try XCTUnwrap(found as? CKDatabaseNotification, "\(way)")
                XCTAssertEqual(notification.subscriptionID, "all")
                XCTAssertEqual(notification.databaseScope, .private)
                XCTAssertEqual(notification.containerIdentifier, server.container)
            }
        }

        func testAnEngineFetchesAsSoonAsItIsTold() async throws {
            let server = try ReleaseServer()
            let container = try server.container(of: "ann@example.org")
            let other = try otherDevice(server)
            try await container.privateCloudDatabase.save(CKRecordZone(zoneName: "Contacts"))
            let follower = ContactFollower()
            let engine = CKSyncEngine(
                .init(
                    database: container.privateCloudDatabase, stateSerialization: nil,
                    delegate: follower))
            _ = try await first(in: container) {
                await follower.hasLooked()
                try other.add("Cleo")
            }
            // Sooner than the timer would.
            await fulfillment(of: [follower.told], timeout: 20)
            await engine.cancelOperations()
        }
    }

    /// Waits for a contact.
    private final class ContactFollower: CKSyncEngineDelegate {
        let told = XCTestExpectation(description: "the contact has come")
        private let (looks, looked) = AsyncStream<Void>.makeStream()

        init() { told.assertForOverFulfill = false }

        /// Waits until the engine has fetched once.
        func hasLooked() async { for await _ in looks { return } }

        func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {
            switch event {
            case .didFetchChanges: looked.yield()
            case .fetchedRecordZoneChanges(let changes):
                if changes.modifications.contains(where: { $0.record.recordType == "Contact" }) {
                    told.fulfill()
                }
            default: break
            }
        }

        func nextRecordZoneChangeBatch(
            _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
        ) async -> CKSyncEngine.RecordZoneChangeBatch? {
            nil
        }
    }
#endif
