import CatalogSQL
import CloudModel
import SQLite
import Storage
import StorageConformance
import Synchronization
import Testing

@testable import SQLiteStorage

/// A catalog in SQLite that counts the statements which it runs.
private final class CountingCatalog: SQLCatalog {
    private final class CountingSession: CatalogSession {
        private let session: SQLiteCatalogSession
        private(set) var count = 0

        init(_ session: SQLiteCatalogSession) { self.session = session }

        func run(_ sql: String, _ values: [CatalogValue]) throws -> Int {
            count += 1
            return try session.run(sql, values)
        }

        func visit(
            _ sql: String, _ values: [CatalogValue], _ row: (any CatalogRow) throws -> Void
        ) throws {
            count += 1
            try session.visit(sql, values, row)
        }
    }

    private let session: Mutex<CountingSession>

    init(path: String) throws {
        session = Mutex(
            CountingSession(
                SQLiteCatalogSession(connection: try Connection(path: path, mode: .readWrite))))
    }

    let version = 1

    var statementCount: Int { session.withLock { $0.count } }

    func read<Outcome: Sendable>(_ body: (CatalogConnection) throws -> Outcome) throws -> Outcome {
        try session.withLock { try body(CatalogConnection($0)) }
    }

    func write<Outcome: Sendable>(
        endsWhatWasTrue: Bool, _ body: (CatalogConnection) throws -> Outcome
    ) throws -> Outcome { try read(body) }

    func check(_ lease: LeaderLease, in catalog: CatalogConnection) throws {}

    func removeCopies() throws {}
}

@Suite("Questions that the catalog asks of its tables")
final class CatalogQuestionTests {
    private let location: SQLiteLocation

    init() throws { location = try SQLiteLocation() }

    deinit { location.remove() }

    private static func name(_ start: String, _ number: Int) -> String { "\(start)\(number)" }

    private static func accounts(_ count: Int) -> Set<AccountID> {
        Set((0..<count).map { AccountID(name("a", $0)) })
    }

    private static func users(_ count: Int) throws -> [UserRecordName] {
        try (0..<count).map { number in
            let digits = String(number, radix: 16)
            return try #require(
                UserRecordName("_" + String(repeating: "0", count: 32 - digits.count) + digits))
        }
    }

    private static func containers(_ count: Int) throws -> [ContainerID] {
        try (0..<count).map { try #require(ContainerID(name("iCloud.c", $0))) }
    }

    /// Accounts with two addresses and a passkey each, of whom a container knows the names, containers with settings,
    /// and tokens with origins.
    private func fill(_ catalog: any CatalogStorage, _ count: Int) throws {
        let (containers, users) = (try Self.containers(count), try Self.users(count))
        for number in 0..<count {
            try catalog.add(
                ContainerRecord(
                    id: containers[number], createdAt: 1, settings: ["name": "\(number)", "k": "v"])
            )
            let id = AccountID(Self.name("a", number))
            let addresses = ["x", "y"].map { host in
                let text = "p\(number)@\(host)"
                return AccountAddress(
                    address: Address(kind: .email, text: text, folded: text),
                    isPrimary: host == "x", verifiedAt: 1)
            }
            try catalog.add(
                AccountRecord(
                    id: id, givenName: nil, familyName: nil, addresses: addresses, password: nil,
                    createdAt: Int64(number)))
            try catalog.add(
                .passkey(
                    StoredPasskey(
                        id: [UInt8(number)], account: id, publicKey: [2], signCount: 0, name: "n",
                        madeAt: 1, usedAt: 1)), of: id, now: 1)
            try catalog.note(users[number], of: id, in: containers[0])
            try catalog.add(
                APITokenRecord(
                    hash: [UInt8(number)], name: Self.name("t", number), container: containers[0],
                    environment: .production, origins: ["https://\(number)", "https://x"],
                    createdAt: 1))
        }
    }

    /// How many statements each question takes where there are so many of everything.
    private func statements(_ name: String, for count: Int) throws -> [String: Int] {
        let path = try location.makeFolder(name) + "/catalog.sqlite"
        try fill(try SQLiteCatalog(path: path) { _ in }, count)
        let catalog = try CountingCatalog(path: path)
        var asked: [String: Int] = [:]
        func ask(_ name: String, _ body: () throws -> Int) throws {
            let before = catalog.statementCount
            #expect(try body() == count, "\(name)")
            asked[name] = catalog.statementCount - before
        }
        let (ids, users) = (Self.accounts(count), Set(try Self.users(count)))
        let containers = try Self.containers(count)
        try ask("accounts") {
            try catalog.accounts(ListRequest()).items.count { $0.addresses.count == 2 }
        }
        try ask("accounts by ID") {
            try catalog.accounts(Set(ids.map { .id($0) })).values.count { $0.addresses.count == 2 }
        }
        try ask("accounts by address") {
            let addresses = (0..<count).map { "p\($0)@x" }.map {
                Address(kind: .email, text: $0, folded: $0)
            }
            return try catalog.accounts(Set(addresses.map { .verified($0) })).count
        }
        try ask("names given out") {
            let names = Dictionary(uniqueKeysWithValues: zip(try Self.users(count), ids))
            try catalog.note(names, in: containers[0])
            return try catalog.bearers(of: Set(names.keys), in: containers[0]).count
        }
        try ask("containers") {
            try catalog.containers(ListRequest()).items.count { $0.settings.count == 2 }
        }
        try ask("containers by ID") { try catalog.containers(Set(containers)).count }
        try ask("API tokens") {
            try catalog.apiTokens(ListRequest()).items.count { $0.origins.count == 2 }
        }
        try ask("means") {
            try catalog.signInMeans(of: ids).values.count { $0.passkeys.count == 1 }
        }
        try ask("bearers") { try catalog.bearers(of: users, in: containers[0]).count }
        let deletions = try ids.flatMap { try catalog.delete($0) }
        try ask("forgotten deletions") {
            try catalog.forget(deletions)
            return try catalog.accountDeletions(ListRequest()).items.isEmpty ? deletions.count : 0
        }
        return asked
    }

    @Test("Lists, sets of keys and notes ask no more of the tables for many than for few")
    func asFew() throws {
        let (few, many) = try (statements("few", for: 3), statements("many", for: 40))
        #expect(few == many && few.count == 10)
    }
}
