import CloudModel
import Storage
import Synchronization

// The catalog.
extension StoragePromise {
    static func container(_ name: String) -> ContainerID { TestStore.name(ContainerID(name)) }

    static func account(
        _ id: String, _ email: String?, verified: Bool = true
    ) -> AccountRecord {
        let addresses = email.map {
            [
                AccountAddress(
                    address: Address(kind: .email, text: $0, folded: $0.lowercased()),
                    isPrimary: true, verifiedAt: verified ? 1 : nil)
            ]
        }
        return AccountRecord(
            id: AccountID(id), givenName: "G", familyName: nil, addresses: addresses ?? [],
            password: nil, createdAt: 1)
    }

    private static func webToken(
        _ number: UInt8, of account: String, in container: ContainerID, session: UInt8 = 1
    ) -> WebTokenRecord {
        WebTokenRecord(
            hash: [number], session: [session], account: AccountID(account), container: container,
            environment: .development, madeAt: Milliseconds(number), expiresAt: 1_000)
    }

    private static func sessions(
        in container: ContainerID, _ environment: Environment, _ catalog: any CatalogStorage
    ) throws -> [WebSession] {
        let keys = WebTokenKeys.environment(container, environment)
        return try catalog.webSessions(keys, livingAt: 1, ListRequest()).items
    }

    static func refuses(_ refusal: CatalogRefusal, _ body: () throws -> Void) throws {
        try expectFailure(CatalogRefusal.self, where: { $0 == refusal }, body)
    }

    static let catalog =
        containers + credentials + pushKeys + accounts + versions + entrances

    private static let containers = [
        StoragePromise("Containers are one whatever their case, kept as first written, in order") {
            testStore in
            let catalog = try testStore.location.openCatalog()
            for name in ["iCloud.b", "iCloud.A", "iCloud.c"] {
                try catalog.add(ContainerRecord(id: container(name), createdAt: 1))
            }
            try refuses(.containerExists) {
                try catalog.add(ContainerRecord(id: container("ICLOUD.B"), createdAt: 2))
            }
            try catalog.set(["k": "v", "l": "w"], of: container("icloud.a"))
            try catalog.set(["l": nil], of: container("iCloud.A"))
            try refuses(.containerUnknown) { try catalog.set([:], of: container("iCloud.x")) }
            let again = try testStore.location.openCatalog()
            try expect(
                again.containers(ListRequest()).items.map(\.id.name),
                is: ["iCloud.A", "iCloud.b", "iCloud.c"])
            try expect(again.container(container("ICLOUD.a"))?.settings == ["k": "v"])
            try testStore.location.delete(container("iCloud.b"), from: again)
            try refuses(.containerUnknown) {
                try testStore.location.delete(container("iCloud.b"), from: again)
            }
            try expect(catalog.container(container("iCloud.b")) == nil)
        },
        StoragePromise("A container's picture is found by its name as long as a setting names it") {
            testStore in
            let catalog = try testStore.location.openCatalog()
            for name in ["iCloud.a", "iCloud.b"] {
                try catalog.add(ContainerRecord(id: container(name), createdAt: 1))
            }
            let (one, two) = (
                NamedPicture(name: "1", bytes: [1, 0, 255]), NamedPicture(name: "2", bytes: [])
            )
            for name in ["iCloud.a", "iCloud.b"] {
                try catalog.set(["icon": "1"], icon: one, of: container(name))
            }
            try catalog.set(["k": "v"], of: container("iCloud.A"))
            try expect(testStore.location.openCatalog().icon(named: "1"), is: [1, 0, 255])
            try catalog.set(["icon": "2"], icon: two, of: container("iCloud.a"))
            try expect(catalog.icon(named: "1") != nil && catalog.icon(named: "2") != nil)
            try testStore.location.delete(container("iCloud.b"), from: catalog)
            try catalog.set(["icon": nil], of: container("iCloud.a"))
            try expect(catalog.icon(named: "1") == nil && catalog.icon(named: "2") == nil)
            try refuses(.containerUnknown) {
                try catalog.set([:], icon: one, of: container("iCloud.b"))
            }
        },
    ]

    private static let pushKeys = [
        StoragePromise("A push key takes the place of its topic's, and goes with its container") {
            testStore in
            let catalog = try testStore.location.openCatalog()
            let home = container("iCloud.home")
            func key(_ topic: String, _ id: String, in location: ContainerID) -> PushKeyRecord {
                PushKeyRecord(
                    container: location, topic: topic, keyID: id, teamID: "T",
                    sealedKey: [0, 1, 255],
                    createdAt: 5)
            }
            try refuses(.containerUnknown) { try catalog.add(key("a", "1", in: home)) }
            for name in ["iCloud.home", "iCloud.other"] {
                try catalog.add(ContainerRecord(id: container(name), createdAt: 1))
            }
            let version = catalog.version
            try catalog.add(key("b", "1", in: home))
            try catalog.add(key("a", "2", in: home))
            try catalog.add(key("a", "3", in: container("icloud.OTHER")))
            try catalog.add(key("b", "4", in: home))
            try expect(catalog.version != version)
            let again = try testStore.location.openCatalog()
            try expect(
                again.pushKeys(of: home), is: [key("a", "2", in: home), key("b", "4", in: home)])
            try expect(again.pushKeys().map(\.keyID), is: ["2", "4", "3"])
            try refuses(.pushKeyUnknown) { try again.delete(.pushKey(topic: "c", of: home)) }
            try refuses(.containerUnknown) {
                try again.delete(.pushKey(topic: "a", of: container("iCloud.x")))
            }
            try again.delete(.pushKey(topic: "a", of: home))
            try testStore.location.delete(home, from: again)
            try expect(again.pushKeys().map(\.keyID), is: ["3"])
        }
    ]

    /// A token that changes keeps its name, its environment and its age; then it is as before.
    private static func changesToken(
        _ token: APITokenRecord, in catalog: any CatalogStorage
    ) throws {
        let changed = APITokenRecord(
            hash: token.hash, name: token.name, container: token.container,
            environment: token.environment, origins: ["https://b.example", "https://c.example"],
            callback: nil, createdAt: token.createdAt)
        try catalog.add(changed, replaces: true)
        try expect(catalog.apiToken(hash: token.hash) == changed, "a token has not changed")
        try catalog.add(token, replaces: true)
        try expect(catalog.apiToken(hash: token.hash) == token, "a token has not changed back")
        let unknown = APITokenRecord(
            hash: [9], name: "other", container: token.container, environment: .production,
            createdAt: 5)
        try refuses(.apiTokenUnknown) { try catalog.add(unknown, replaces: true) }
    }

    private static let credentials = [
        StoragePromise("Tokens and keys are found until they or their container go") { testStore in
            let catalog = try testStore.location.openCatalog()
            let home = container("iCloud.home")
            try catalog.add(ContainerRecord(id: home, createdAt: 1))
            let token = APITokenRecord(
                hash: [1, 0, 255], name: "n", container: home, environment: .production,
                origins: ["https://a.example"], callback: "post-message", createdAt: 5)
            try catalog.add(token)
            try refuses(.nameTaken) { try catalog.add(token) }
            try changesToken(token, in: catalog)
            let key = ServerKeyRecord(
                keyID: "ab", name: nil, container: home, environment: .development,
                publicKeyDER: [9], scope: .container,
                userRecordName: TestStore.user(7), createdAt: 6)
            try catalog.add(key)
            let stray = ServerKeyRecord(
                keyID: "cd", name: nil, container: container("iCloud.x"),
                environment: .development, publicKeyDER: [9], scope: .public,
                userRecordName: TestStore.user(8), createdAt: 6)
            try refuses(.containerUnknown) { try catalog.add(stray) }
            let again = try testStore.location.openCatalog()
            try expect(again.apiToken(hash: [1, 0, 255]) == token)
            try expect(again.apiToken(hash: [1]) == nil)
            try expect(again.apiToken(.hashPrefix([1, 0])) == token)
            try expect(again.apiToken(.hashPrefix([1, 0, 255])) == token)
            for prefix: [UInt8] in [[0], [1, 1], [1, 0, 255, 0], [2]] {
                try expect(again.apiToken(.hashPrefix(prefix)) == nil, "\(prefix)")
            }
            try expect(again.serverKey("ab") == key && again.serverKey("a") == nil)
            let names = Set((6...8).map(TestStore.user))
            try expect(
                again.bearers(of: names, in: home),
                is: [TestStore.user(7): .serverKey(keyID: "ab")])
            try expect(again.account(named: TestStore.user(7), in: home) == nil)
            try expect(again.serverKeys(ListRequest()).items, is: [key])
            try expect(again.apiTokens(ListRequest()).items, is: [token])
            try refuses(.apiTokenUnknown) { try again.deleteAPIToken(name: "m") }
            try refuses(.serverKeyUnknown) { try again.deleteServerKey(keyID: "cd") }
            try testStore.location.delete(home, from: again)
            try expect(again.apiTokens(ListRequest()).items.isEmpty)
            try expect(again.serverKeys(ListRequest()).items.isEmpty)
        },
        StoragePromise("A secret is the first that was made, for all who ask at once and later") {
            testStore in
            let catalog = try testStore.location.openCatalog()
            let given = Mutex<Set<[UInt8]>>([])
            try together(8) { number in
                let secret = try catalog.secret("s", orStore: [UInt8(number), 0])
                given.withLock { _ = $0.insert(secret) }
            }
            try expect(given.withLock { $0.count }, is: 1)
            let again = try testStore.location.openCatalog().secret("s", orStore: [99])
            try expect(given.withLock { $0 } == [again])
        },
        StoragePromise(
            "A web token has one successor as long as it stands, and goes with its session"
        ) {
            testStore in
            let catalog = try testStore.location.openCatalog()
            let home = container("iCloud.home")
            try catalog.add(ContainerRecord(id: home, createdAt: 1))
            try catalog.add(account("a", nil))
            let user = TestStore.user(5)
            let first = webToken(1, of: "a", in: home)
            try refuses(.accountUnknown) {
                try catalog.add(
                    webToken(8, of: "x", in: home), on: .account, for: user, sessionsMax: 9,
                    now: 1)
            }
            try catalog.add(first, on: .account, for: user, sessionsMax: 9, now: 1)
            try catalog.add(
                webToken(2, of: "a", in: home), on: .token([1]), for: user, sessionsMax: 9, now: 2)
            try refuses(.webTokenUnknown) {
                try catalog.add(
                    webToken(3, of: "a", in: home), on: .token([7]), for: user, sessionsMax: 9,
                    now: 2)
            }
            try expect(catalog.account(named: user, in: home) == AccountID("a"))
            let session = WebSession(
                session: [1], account: AccountID("a"), email: nil, container: home,
                environment: .development, begunAt: 1, madeAt: 1...2, expiresAt: 1_000,
                usedAt: nil, source: .unknown)
            try expect(sessions(in: home, .development, catalog), is: [session])
            try expect(sessions(in: home, .production, catalog).isEmpty)
            try catalog.deleteWebTokens(session: [1])
            try expect(catalog.webToken(hash: [2]) == nil)
            try catalog.add(
                webToken(4, of: "a", in: home), on: .account, for: user, sessionsMax: 9, now: 3)
            try catalog.add(
                webToken(5, of: "a", in: home, session: 2), on: .account, for: user,
                sessionsMax: 9, now: 1_000)
            try expect(catalog.webToken(hash: [4]) == nil)
            try catalog.deleteWebTokens(of: AccountID("a"))
            try expect(catalog.webToken(hash: [5]) == nil)
        },
    ]

    private static let accounts = [
        StoragePromise("A verified address is one account's; an unproved one may be anybody's") {
            testStore in
            let catalog = try testStore.location.openCatalog()
            let shared = Address(kind: .email, text: "A@x.example", folded: "a@x.example")
            try catalog.add(account("one", "a@x.example", verified: false))
            try catalog.add(account("two", "A@X.example", verified: false))
            try expect(catalog.account(verified: shared) == nil)
            try catalog.verify(shared, of: AccountID("two"), now: 9)
            try expect(catalog.account(verified: shared)?.id == AccountID("two"))
            try refuses(.addressTaken) {
                try catalog.verify(shared, of: AccountID("one"), now: 9)
            }
            try refuses(.addressTaken) { try catalog.add(account("three", "a@x.example")) }
            try refuses(.accountUnknown) {
                try catalog.verify(shared, of: AccountID("none"), now: 9)
            }
            try expect(catalog.accounts(ListRequest()).items.map(\.id.text), is: ["one", "two"])
        },
        StoragePromise("A deleted account's stores are told of until each has forgotten it") {
            testStore in
            let catalog = try testStore.location.openCatalog()
            let homes = [container("iCloud.one"), container("iCloud.two")]
            try catalog.add(account("a", "a@x.example"))
            for (number, home) in homes.enumerated() {
                try catalog.add(ContainerRecord(id: home, createdAt: 1))
                try catalog.note(TestStore.user(number + 1), of: AccountID("a"), in: home)
            }
            let deletions = try catalog.delete(AccountID("a"))
            try expect(Set(deletions.map(\.container)), is: Set(homes))
            let again = try testStore.location.openCatalog()
            try expect(Set(try again.accountDeletions(ListRequest()).items), is: Set(deletions))
            try refuses(.accountUnknown) { _ = try again.delete(AccountID("a")) }
            try again.forget([])
            try again.forget([deletions[0], deletions[0]])
            try expect(again.accountDeletions(ListRequest()).items, is: [deletions[1]])
            try testStore.location.delete(deletions[1].container, from: again)
            try expect(again.accountDeletions(ListRequest()).items.isEmpty)
        },
    ]

    private static let versions = [
        StoragePromise("The version moves with what ends something, and with nothing else") {
            testStore in
            let catalog = try testStore.location.openCatalog()
            let home = container("iCloud.home")
            var last = catalog.version
            func moves(_ isWanted: Bool, _ change: () throws -> Void) throws {
                try change()
                try expect((catalog.version > last) == isWanted, "\(isWanted)")
                last = catalog.version
            }
            try moves(false) { try catalog.add(ContainerRecord(id: home, createdAt: 1)) }
            try moves(true) { try catalog.set(["k": "v"], of: home) }
            try moves(false) { try catalog.add(account("a", "a@x.example")) }
            let token = APITokenRecord(
                hash: [1], name: "n", container: home, environment: .production, createdAt: 5)
            try moves(false) { try catalog.add(token) }
            try moves(true) { try catalog.deleteAPIToken(name: "n") }
            let key = ServerKeyRecord(
                keyID: "ab", name: nil, container: home, environment: .development,
                publicKeyDER: [9], scope: .container,
                userRecordName: TestStore.user(7), createdAt: 6)
            try moves(true) { try catalog.add(key) }
            try moves(true) { try catalog.deleteServerKey(keyID: "ab") }
            try moves(false) {
                try catalog.add(
                    webToken(1, of: "a", in: home), on: .account, for: TestStore.user(1),
                    sessionsMax: 9, now: 1)
            }
            try moves(true) { try catalog.deleteWebTokens(session: [1]) }
            try moves(true) { _ = try catalog.delete(AccountID("a")) }
            try moves(true) { try testStore.location.delete(home, from: catalog) }
            try expect(
                testStore.location.openCatalog().version >= last, "it went back with a restart")
        }
    ]
}
