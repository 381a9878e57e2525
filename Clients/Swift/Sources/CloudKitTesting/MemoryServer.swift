import CloudKitTransport
import CloudKitWire
import Foundation
import LenticularCloudKit

/// A server in memory for the tests of apps: records, zones, feeds, queries, assets, subscriptions and what they tell,
/// of as many people and devices as a test names, without network or waiting.
///
/// It keeps the rules that an app's code meets: change tags, batches that are done whole or not at all, tokens, pages.
/// It has no shares, schemas, indexes and roles, and knows the comparators that compare values.
///
/// ```swift
/// let server = MemoryServer()
/// let container = server.container(of: "ann")
/// try await container.privateCloudDatabase.save(CKRecordZone(zoneName: "Notes"))
/// ```
public final class MemoryServer: Sendable {
    /// What happens to a request instead of an answer, or to its answer.
    public enum Fault: Sendable {
        /// The server cannot be reached: nothing is done.
        case unreachable
        /// The device has no network: nothing is done.
        case offline
        /// The request is carried out, and its answer does not arrive.
        case answerLost
        /// The server refuses the request with one of the protocol's codes, such as `THROTTLED`.
        case refused(code: String, retryAfter: Double? = nil)
    }

    /// The container that the server has.
    public let containerIdentifier: String
    private let state = MemoryState()
    private let folder: URL

    /// - Parameter containerIdentifier: the one container that the server has.
    public init(containerIdentifier: String = "iCloud.test") {
        self.containerIdentifier = containerIdentifier
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("memory-server-\(UUID().uuidString)")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The container as somebody sees it on a device of their own.
    ///
    /// Each call is another device: it has keys and files of its own, and is told of what the others change.
    public func container(of person: String) -> CKContainer {
        let access = CKServerAccess(
            url: MemoryServer.address, apiToken: "memory", credentials: .webAuthToken(person))
        let device = folder.appendingPathComponent(UUID().uuidString)
        return CKContainer(
            identifier: containerIdentifier,
            connection: ServiceConnection(
                access, container: containerIdentifier,
                exchange: MemoryExchange(
                    state: state, container: containerIdentifier, folder: device)),
            keyFolder: device.appendingPathComponent("keys"),
            assetFolder: device.appendingPathComponent("assets"))
    }

    /// Lets the next requests fail, one for each; those that wait for notifications do not count.
    public func fail(_ faults: Fault...) { state.with { $0.faults += faults } }

    /// Lets requests succeed again.
    public func recover() { state.with { $0.faults = [] } }

    /// Ends the sessions of somebody: their requests are answered that they must sign in, and their devices are told
    /// nothing any more.
    public func signOut(_ person: String) {
        state.with { contents in
            contents.signedOut.insert(person)
            contents.endCouriers(of: person)
        }
    }

    /// Lets somebody in again.
    public func signIn(_ person: String) { state.with { _ = $0.signedOut.remove(person) } }

    /// Waits until so many notification sequences and sync engines wait to be told: it reports nothing that happened
    /// before.
    ///
    /// - Throws: `NothingCame` when there were fewer after so many seconds.
    public func waitForListeners(_ count: Int, within seconds: Double = 20) async throws {
        let isReached = await state.listeners.wait(within: seconds) {
            self.state.with { $0.listenerCount } >= count
        }
        guard !isReached else { return }
        let there = state.with { $0.listenerCount }
        throw NothingCame(awaited: "\(count) listeners", instead: ["\(there) listeners"])
    }

    /// The requests so far, such as `private/records/modify`, without those that wait for notifications.
    public var requests: [String] { state.with { $0.requests } }

    static let address = URL(string: "http://memory.invalid") ?? URL(fileURLWithPath: "/")
}

/// What a server in memory holds, behind a lock.
final class MemoryState: Sendable {
    struct Contents {
        var faults: [MemoryServer.Fault] = []
        var signedOut: Set<String> = []
        var requests: [String] = []
        var databases: [String: MemoryDatabase] = [:]
        /// Where devices are told, by their addresses.
        var couriers: [String: MemoryCourier] = [:]
        /// Assets by their checksums.
        var files: [String: Data] = [:]
        /// The last change of anything.
        var position: Int64 = 0

        mutating func nextPosition() -> Int64 {
            position += 1
            return position
        }
    }

    private let contents = Locked(Contents())
    /// Those who wait for listeners.
    let listeners = Waiters()

    func with<Value>(_ body: (inout Contents) throws -> Value) rethrows -> Value {
        try contents.withLock { try body(&$0) }
    }
}
