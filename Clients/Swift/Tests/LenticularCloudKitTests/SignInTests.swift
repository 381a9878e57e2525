import CloudKitStore
import CloudKitTransport
import CloudKitWire
import XCTest

@testable import LenticularCloudKit

/// Who is signed in, as it is found out, changed and kept.
final class SignInTests: XCTestCase {
    private func container(
        _ exchange: SessionExchange, _ credentials: CKServerAccess.Credentials,
        onTokenChange: (@Sendable (String?) -> Void)? = nil
    ) -> CKContainer {
        var service = CKServerAccess(
            url: URL(fileURLWithPath: "/"), apiToken: "api", credentials: credentials)
        service.onTokenChange = onTokenChange
        return CKContainer(
            identifier: "iCloud.test",
            connection: ServiceConnection(service, container: "iCloud.test", exchange: exchange))
    }

    func testTwentyRequestsThatFindNobodySignedInAskOnce() async throws {
        let exchange = SessionExchange(sessions: ["fresh": "_ann"], together: 20)
        let asked = Counter()
        let container = container(
            exchange,
            .signIn { page in
                XCTAssertEqual(page.absoluteString, SessionExchange.page)
                asked.note(page.absoluteString)
                return "fresh"
            })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask { _ = try await container.privateCloudDatabase.allRecordZones() }
            }
            try await group.waitForAll()
        }
        XCTAssertEqual(asked.notes.count, 1)
        XCTAssertEqual(exchange.tokens.filter { $0 == "fresh" }.count, 20)
    }

    func testWhoDeclinesIsNotAskedAgainForRequestsThatWereUnderWay() async throws {
        let exchange = SessionExchange(sessions: [:], together: 5)
        let asked = Counter()
        let container = container(
            exchange,
            .signIn { _ in
                asked.note("asked")
                throw CancellationError()
            })
        await withTaskGroup(of: CKError.Code?.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    do {
                        _ = try await container.privateCloudDatabase.allRecordZones()
                        return nil
                    } catch {
                        return (error as? CKError)?.code
                    }
                }
            }
            for await code in group { XCTAssertEqual(code, .notAuthenticated) }
        }
        XCTAssertEqual(asked.notes.count, 1)
        exchange.together = 1
        _ = try? await container.privateCloudDatabase.allRecordZones()
        XCTAssertEqual(asked.notes.count, 2, "a later request asks again")
    }

    func testASessionThatEndsIsFollowedByTheNextSignIn() async throws {
        let exchange = SessionExchange(sessions: ["first": "_ann", "second": "_ann"])
        let names = Counter()
        let changes = Counter()
        let container = container(
            exchange,
            .signIn { _ in
                names.note("asked")
                return names.notes.count == 1 ? "first" : "second"
            }, onTokenChange: { changes.note($0 ?? "none") })
        let database = container.privateCloudDatabase
        // The look who is signed in must not be the one to find the session ended.
        let hasLooked = expectation(
            forNotification: .CKAccountChanged, object: container, handler: nil)
        _ = try await database.allRecordZones()
        await fulfillment(of: [hasLooked], timeout: 10)
        exchange.end("first")
        _ = try await database.allRecordZones()
        XCTAssertEqual(exchange.tokens, [nil, "first", "first", "second"])
        XCTAssertEqual(changes.notes, ["first", "none", "second"])
    }

    func testSuccessorsAreUsedAndToldAndLateOnesAreLeft() async throws {
        let exchange = SessionExchange(sessions: ["a": "_ann", "b": "_ann", "c": "_ann"])
        let changes = Counter()
        let container = container(
            exchange, .webAuthToken("a"), onTokenChange: { changes.note($0 ?? "none") })
        let database = container.privateCloudDatabase
        exchange.successors = ["a": "b"]
        _ = try await database.allRecordZones()
        exchange.successors = [:]
        _ = try await database.allRecordZones()
        XCTAssertEqual(exchange.tokens, ["a", "b"])
        XCTAssertEqual(changes.notes, ["b"])
        // Two at once: the successor that comes second is left.
        exchange.together = 2
        exchange.successors = ["b": "c"]
        async let first = database.allRecordZones()
        async let second = database.allRecordZones()
        _ = try await (first, second)
        XCTAssertEqual(changes.notes, ["b", "c"])
    }

    func testAnotherAccountIsToldByTheContainerItIsOf() async throws {
        let exchange = SessionExchange(sessions: ["ann": "_ann"])
        let next = Counter()
        let container = container(
            exchange, .signIn { _ in next.notes.isEmpty ? "ann" : "bob" })
        let other = self.container(
            SessionExchange(sessions: ["x": "_x"]), .webAuthToken("x"))
        let told = expectation(
            forNotification: .CKAccountChanged, object: container, handler: nil)
        let notTold = expectation(forNotification: .CKAccountChanged, object: other, handler: nil)
        notTold.isInverted = true
        let ann = try await container.userRecordID()
        XCTAssertEqual(ann.recordName, "_ann")
        await fulfillment(of: [told], timeout: 10)
        let toldAgain = expectation(
            forNotification: .CKAccountChanged, object: container, handler: nil)
        next.note("bob")
        exchange.end("ann")
        exchange.begin("bob", of: "_bob")
        let status = try await container.accountStatus()
        XCTAssertEqual(status, .available)
        _ = try await container.privateCloudDatabase.allRecordZones()
        let bob = try await container.userRecordID()
        XCTAssertEqual(bob.recordName, "_bob")
        await fulfillment(of: [toldAgain], timeout: 10)
        await fulfillment(of: [notTold], timeout: 0.05)
    }

    func testANameThatComesLateIsNotTakenForThatOfWhoHasSignedInSince() async throws {
        let exchange = SessionExchange(sessions: ["ann": "_ann", "bob": "_bob"])
        let asked = Counter()
        let container = container(
            exchange,
            .signIn { _ in
                asked.note("asked")
                return asked.notes.count == 1 ? "ann" : "bob"
            })
        let gate = Gate()
        exchange.beforeAnswers = { path, token in
            if path.hasSuffix("users/caller"), token == "ann" { await gate.pass() }
        }
        async let name = container.userRecordID().recordName
        // The container's own look who has signed in, too.
        await gate.waitForArrivals(2)
        exchange.end("ann")
        _ = try await container.privateCloudDatabase.allRecordZones()
        await gate.open()
        let found = try await name
        XCTAssertEqual(found, "_bob")
    }

    func testTheEndOfASessionWithoutASignInIsToldAndTheStatusFollows() async throws {
        let exchange = SessionExchange(sessions: ["a": "_ann"])
        let container = container(exchange, .webAuthToken("a"))
        _ = try await container.userRecordID()
        let told = expectation(
            forNotification: .CKAccountChanged, object: container, handler: nil)
        exchange.end("a")
        do {
            _ = try await container.privateCloudDatabase.allRecordZones()
            XCTFail("expected an error")
        } catch CKError.notAuthenticated {}
        await fulfillment(of: [told], timeout: 10)
        let status = try await container.accountStatus()
        XCTAssertEqual(status, .noAccount)
    }

    func testSuccessorsOfAFilesTokenAreThereInTheNextRun() throws {
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("tokens-\(UUID().uuidString)/store.sqlite")
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        let service = CKServerAccess(
            url: URL(fileURLWithPath: "/"), credentials: .webAuthToken("first"))
        let store = try LocalStore(file: file)
        RenewedToken.resume(service, in: store).onTokenChange?("second")
        let next = RenewedToken.resume(service, in: try LocalStore(file: file))
        XCTAssertEqual(next.token, "second")
        next.onTokenChange?(nil)
        XCTAssertEqual(RenewedToken.resume(service, in: store).token, "first")
        var other = service
        other.credentials = .webAuthToken("of somebody else")
        XCTAssertEqual(RenewedToken.resume(other, in: store).token, "of somebody else")
    }

    func testDescriptionsAndErrorsHoldNoToken() async {
        let service = CKServerAccess(
            url: URL(fileURLWithPath: "/"), apiToken: "secret-api",
            credentials: .webAuthToken("secret-web"))
        for text in ["\(service)", String(reflecting: service)] {
            XCTAssertFalse(text.contains("secret"), text)
        }
        let container = container(SessionExchange(sessions: [:]), .webAuthToken("secret-web"))
        do {
            _ = try await container.privateCloudDatabase.allRecordZones()
            XCTFail("expected an error")
        } catch {
            XCTAssertFalse("\(error) \(error as NSError) \(container)".contains("secret"))
        }
    }
}

extension CKServerAccess {
    fileprivate var token: String? {
        if case .webAuthToken(let token) = credentials { token } else { nil }
    }
}

/// What closures have noted, in their order.
private final class Counter: Sendable {
    private let noted = Locked<[String]>([])

    func note(_ text: String) { noted.withLock { $0.append(text) } }

    var notes: [String] { noted.withLock { $0 } }
}
