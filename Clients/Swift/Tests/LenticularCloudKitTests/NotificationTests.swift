import CloudKitTransport
import XCTest

@testable import LenticularCloudKit

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Notifications as a server tells them, over answers that the test writes.
final class NotificationTests: XCTestCase {
    private func container(_ exchange: CourierExchange) -> CKContainer {
        let service = CKServerAccess(
            url: URL(fileURLWithPath: "/"), apiToken: "api", credentials: .webAuthToken("token"))
        return CKContainer(
            identifier: "iCloud.test",
            connection: ServiceConnection(service, container: "iCloud.test", exchange: exchange))
    }

    private static func push(_ name: String, _ kind: String, _ body: String) -> String {
        #"{"aps":{"content-available":1},"ck":{"nid":"\#(name)","cid":"iCloud.test","\#(kind)":\#(body)}}"#
    }

    private static func met(_ name: String) -> String {
        push(name, "met", #"{"sid":"s","dbs":1}"#)
    }

    /// Reads so many; a test that gets fewer fails, and does not hang.
    private func read(
        _ count: Int, of exchange: CourierExchange, by way: CKNotificationDelivery = .eventStream
    ) async throws -> [CKNotification] {
        let told = container(exchange).access.notifications(by: way, sleep: { _ in })
        return try await withThrowingTaskGroup(of: [CKNotification].self) { group in
            group.addTask {
                var found: [CKNotification] = []
                for try await notification in told {
                    found.append(notification)
                    if found.count == count { break }
                }
                return found
            }
            group.addTask {
                try await Task.sleep(nanoseconds: 20_000_000_000)
                throw CKError(.operationCancelled, "nothing more came")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }

    func testPollsTellOneAfterTheOtherAndARepetitionOnce() async throws {
        let exchange = CourierExchange([
            .poll(Self.met("1")), .poll(Self.met("1")), .poll(""), .poll(Self.met("2")),
        ])
        let found = try await read(2, of: exchange, by: .longPoll)
        XCTAssertEqual(found.compactMap(\.notificationID).map { "\($0)" }, ["1", "2"])
        XCTAssertEqual(exchange.accepted.first, "application/json")
        XCTAssertEqual(exchange.addressesMade, 1)
    }

    func testWhatSeveralSubscriptionsSayOfOneChangeIsToldForEach() async throws {
        let exchange = CourierExchange([
            .poll(Self.push("1", "met", #"{"sid":"a","dbs":1}"#)),
            .poll(Self.push("1", "met", #"{"sid":"b","dbs":1}"#)),
        ])
        let found = try await read(2, of: exchange)
        XCTAssertEqual(found.map(\.subscriptionID), ["a", "b"])
    }

    func testAServerWithoutEventStreamsIsPolled() async throws {
        let exchange = CourierExchange([.poll(Self.met("1")), .poll(Self.met("2"))])
        let found = try await read(2, of: exchange)
        XCTAssertEqual(found.count, 2)
        XCTAssertEqual(exchange.accepted.first, "text/event-stream, application/json")
    }

    func testAnEventStreamThatBreaksGoesOnAfterItsLastEvent() async throws {
        let exchange = CourierExchange([
            .events([": hello\n\n", "id: 7\ndata: \(Self.met("1"))\n", "\nid: 8\ndata: {}\n\n"]),
            .events(["id: 9\ndata: \(Self.met("2"))\n\n"]),
        ])
        let found = try await read(2, of: exchange)
        XCTAssertEqual(found.compactMap(\.notificationID).map { "\($0)" }, ["1", "2"])
        XCTAssertEqual(exchange.resumed.prefix(2), [nil, "8"])
    }

    func testTheServerSaysHowSoonToComeBackWhenAStreamEnds() async throws {
        let exchange = CourierExchange([
            .events(["retry: 7000\n\ndata: \(Self.met("1"))\n\n"]),
            .events(["retry: 0\n\nid: 9\ndata: \(Self.met("2"))\n\n"]),
            .events(["retry: 900000\n\nid: 10\ndata: \(Self.met("3"))\n\n"]),
            .poll(Self.met("4")),
        ])
        let (waits, note) = AsyncStream<Double>.makeStream()
        let told = container(exchange).access.notifications(
            by: .eventStream, sleep: { note.yield($0) })
        let reading = Task { for try await _ in told {} }
        // A test that sees fewer fails, and does not hang.
        DispatchQueue.global().asyncAfter(deadline: .now() + 20) { note.finish() }
        var found: [Double] = []
        for await wait in waits {
            found.append(wait)
            if found.count == 3 { break }
        }
        reading.cancel()
        XCTAssertEqual(found, [7, 0, 60])
    }

    func testEachKindIsReadWithItsDatabaseAndZone() async throws {
        let exchange = CourierExchange([
            .poll(
                Self.push(
                    "1", "qry",
                    #"{"sid":"q","zid":"Z","zoid":"_u","rid":"r","dbs":0,"fo":3,"af":{"a":5}}"#)),
            .poll(Self.push("2", "fet", #"{"sid":"z","zid":"Z","zoid":"_ann"}"#)),
            .poll(Self.push("3", "met", #"{"sid":"d","dbs":2}"#)),
        ])
        let container = container(exchange)
        _ = try await container.userRecordID()
        var found: [CKNotification] = []
        for try await notification in container.access.notifications(by: .longPoll, sleep: { _ in })
        {
            found.append(notification)
            if found.count == 3 { break }
        }
        let query = try XCTUnwrap(found[0] as? CKQueryNotification)
        XCTAssertEqual(query.databaseScope, .public)
        XCTAssertEqual(query.queryNotificationReason, .recordDeleted)
        XCTAssertEqual(query.recordFields?["a"] as? Int, 5)
        XCTAssertEqual(query.subscriptionID, "q")
        let zone = try XCTUnwrap(found[1] as? CKRecordZoneNotification)
        XCTAssertEqual(zone.recordZoneID, CKRecordZone.ID(zoneName: "Z"))
        let database = try XCTUnwrap(found[2] as? CKDatabaseNotification)
        XCTAssertEqual(database.databaseScope, .shared)
    }

    func testAnAddressThatIsGoneIsMadeAnew() async throws {
        let exchange = CourierExchange([.status(410), .poll(Self.met("1"))])
        let found = try await read(1, of: exchange)
        XCTAssertEqual(found.count, 1)
        XCTAssertEqual(exchange.addressesMade, 2)
    }

    func testAServerThatIsBusyIsAskedAgain() async throws {
        let exchange = CourierExchange([.status(503), .poll(Self.met("1"))])
        let found = try await read(1, of: exchange)
        XCTAssertEqual(found.count, 1)
        XCTAssertEqual(exchange.addressesMade, 1)
    }

    func testWhatCannotGetBetterIsThrown() async throws {
        for (code, status, expected) in [
            ("AUTHENTICATION_REQUIRED", 421, CKError.Code.notAuthenticated),
            ("NOT_FOUND", 404, .unknownItem), ("ACCESS_DENIED", 403, .permissionFailure),
        ] {
            let exchange = CourierExchange([])
            exchange.refusal = (status, #"{"serverErrorCode":"\#(code)","reason":"why"}"#)
            do {
                _ = try await read(1, of: exchange)
                XCTFail("expected \(expected)")
            } catch {
                XCTAssertEqual((error as? CKError)?.code, expected)
            }
        }
    }

    func testStrangeAnswersTellNothingAndDoNotTrap() async throws {
        let exchange = CourierExchange([
            .poll("[]"), .poll("{"), .poll(#"{"ck":5}"#), .poll(#"{"ck":{"qry":[]}}"#),
            .poll(#"{"ck":{"nid":7,"qry":{"dbs":"x","fo":"y","af":[]}}}"#), .poll(Self.met("1")),
        ])
        let found = try await read(2, of: exchange, by: .longPoll)
        XCTAssertEqual(found.count, 2)
    }

    #if canImport(Glibc)
        func testAStreamsEventsComeBeforeItsAnswerHasEnded() async throws {
            let server = try StreamingServer()
            defer { server.stop() }
            let (body, answer) = try await NetworkExchange.standard.stream(
                URLRequest(url: server.url), TimeLimits(silenceSeconds: 20))
            XCTAssertEqual(answer.statusCode, 200)
            var pieces = body.makeAsyncIterator()
            for number in 0..<3 {
                server.send("data: \(number)\n\n")
                let piece = try await pieces.next()
                XCTAssertEqual(piece, Data("data: \(number)\n\n".utf8))
            }
            server.stop()
            let rest = try? await pieces.next()
            XCTAssertNil(rest ?? nil)
        }
    #endif
}
