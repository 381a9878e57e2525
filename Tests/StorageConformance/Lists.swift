import CloudModel
import Storage

/// One list of an engine, with what a test does to it.
private struct TestList {
    let name: String
    /// One page, by the names that the list is searched by.
    let page: (ListRequest) throws -> ListPage<String>
    let add: (_ name: String) throws -> Void
    let remove: (_ name: String) throws -> Void

    init<Item>(
        _ name: String, _ page: @escaping (ListRequest) throws -> ListPage<Item>,
        naming: @escaping (Item) -> String, add: @escaping (String) throws -> Void,
        remove: @escaping (String) throws -> Void
    ) {
        self.name = name
        self.page = { try page($0).map(naming) }
        self.add = add
        self.remove = remove
    }

    /// The names on all pages, in their order.
    func all(
        prefix: String = "", limit: Int = 4, between: (_ pages: Int) throws -> Void = { _ in }
    ) throws -> [String] {
        var (names, pages): ([String], Int) = ([], 0)
        var after: ListCursor?
        repeat {
            let page = try self.page(
                // As somebody hands it back who has got it as text.
                ListRequest(
                    after: after.map { ListCursor($0.text) }, limit: limit, prefix: prefix))
            try expect(page.items.count <= limit, "\(name): a page of \(page.items.count)")
            try expect(page.next == nil || page.items.count == limit, "\(name): a short page")
            names += page.items
            after = page.next
            pages += 1
            try between(pages)
        } while after != nil
        return names
    }
}

/// A catalog and a store with one container, where lists are filled.
private struct TestLists {
    private static let home = TestStore.name(ContainerID("home"))
    private static let owner = AccountID("owner")

    private let testStore: TestStore
    let catalog: any CatalogStorage

    init(_ testStore: TestStore) throws {
        self.testStore = testStore
        catalog = try testStore.location.openCatalog()
        try catalog.add(ContainerRecord(id: Self.home, createdAt: 1))
        try catalog.add(Self.account(Self.owner, nil))
    }

    /// Every list but that of stores.
    var all: [TestList] { [containers, apiTokens, serverKeys, accounts, sessions, subscriptions] }

    var containers: TestList {
        TestList("containers", catalog.containers, naming: \.id.name) {
            try catalog.add(ContainerRecord(id: TestStore.name(ContainerID($0)), createdAt: 1))
        } remove: {
            try testStore.location.delete(TestStore.name(ContainerID($0)), from: catalog)
        }
    }

    var apiTokens: TestList {
        TestList("API tokens", catalog.apiTokens, naming: \.name) { name in
            try catalog.add(
                APITokenRecord(
                    hash: Array(name.utf8), name: name, container: Self.home,
                    environment: .production, createdAt: 1))
        } remove: {
            try catalog.deleteAPIToken(name: $0)
        }
    }

    var serverKeys: TestList {
        TestList("server keys", catalog.serverKeys, naming: \.keyID) { keyID in
            try catalog.add(
                ServerKeyRecord(
                    keyID: keyID, name: nil, container: Self.home, environment: .development,
                    publicKeyDER: [9], scope: .public, userRecordName: TestStore.user(1),
                    createdAt: 1))
        } remove: {
            try catalog.deleteServerKey(keyID: $0)
        }
    }

    private static func account(_ id: AccountID, _ folded: String?) -> AccountRecord {
        let address = folded.map {
            AccountAddress(
                address: Address(kind: .email, text: $0, folded: $0), isPrimary: true,
                verifiedAt: 1)
        }
        return AccountRecord(
            id: id, givenName: nil, familyName: nil, addresses: address.map { [$0] } ?? [],
            password: nil, createdAt: 1)
    }

    /// Named by their addresses; that which has none is left out of what is named.
    var accounts: TestList {
        TestList("accounts", catalog.accounts, naming: { $0.email ?? "" }) {
            try catalog.add(Self.account(AccountID($0), $0))
        } remove: {
            _ = try catalog.delete(AccountID($0))
        }
    }

    /// Named by their bytes as hexadecimal digits.
    var sessions: TestList {
        TestList(
            "sessions",
            { try catalog.webSessions(.environment(Self.home, .production), livingAt: 1, $0) },
            naming: { Self.digits($0.session) }
        ) { name in
            // Each of two tokens, and one that has expired.
            for (number, end): (UInt8, Milliseconds) in [(1, 9), (2, 8), (3, 1)] {
                try catalog.add(
                    WebTokenRecord(
                        hash: Self.bytes(name) + [number], session: Self.bytes(name),
                        account: Self.owner, container: Self.home, environment: .production,
                        madeAt: 1, expiresAt: end),
                    on: .account, for: TestStore.user(2), sessionsMax: 1_000, now: 0)
            }
        } remove: {
            try catalog.deleteWebTokens(session: Self.bytes($0))
        }
    }

    private static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func bytes(_ digits: String) -> [UInt8] {
        let values = digits.compactMap(\.hexDigitValue)
        return stride(from: 0, to: values.count, by: 2).map {
            UInt8(values[$0] << 4 | values[$0 + 1])
        }
    }

    var subscriptions: TestList { subscriptions(of: nil) }

    func subscriptions(of user: UserRecordName?) -> TestList {
        let owner = SubscriptionOwner(user: user ?? TestStore.user(3), scope: .shared)
        return TestList(
            "subscriptions",
            { request in try testStore.read { try $0.allSubscriptions(of: user, request) } },
            naming: \.subscription.id.text
        ) { name in
            let subscription = Subscription(
                id: TestStore.name(SubscriptionID(name)), kind: .database, recordType: nil,
                zone: nil, firesOn: [], firesOnce: false, query: nil, notificationInfo: nil)
            try testStore.write { try $0.save(subscription, of: owner, requiring: nil) }
        } remove: { name in
            let id = TestStore.name(SubscriptionID(name))
            try testStore.write { try $0.deleteSubscription(id, of: owner) }
        }
    }
}

// Lists that are read page by page.
extension StoragePromise {
    /// Even ones are there from the beginning; they may be the digits of bytes.
    private static func name(_ number: Int) -> String {
        "aa" + (number < 16 ? "0" : "") + String(number, radix: 16)
    }

    static let lists = [
        StoragePromise("Every item of a list is on one page, whatever comes and goes between two") {
            testStore in
            for list in try TestLists(testStore).all {
                for number in 0..<40 where number.isMultiple(of: 2) { try list.add(name(number)) }
                var added = 1
                let names = try list.all { pages in
                    // Behind what was read, and before it.
                    for number in [added, 40 - added] where added < 20 {
                        try list.add(name(number))
                    }
                    added += 2
                    if pages == 2 { try list.remove(name(30)) }
                    if pages == 3 { try list.remove(name(0)) }
                }
                try expect(Set(names).count == names.count, "\(list.name): \(names)")
                let lasting = (0..<20).map { name($0 * 2) }.filter { $0 != name(30) }
                try expect(Set(names).isSuperset(of: lasting), "\(list.name): \(names)")
                try expect(!names.contains(name(30)), "\(list.name): \(names)")
                try expect(try list.all(limit: 1).count == list.all(limit: 1_000).count)
            }
        },
        StoragePromise("A list is searched by how names begin, and no character stands for others")
        { testStore in
            let lists = try TestLists(testStore)
            for list in lists.all {
                let isHexadecimal = list.name == "sessions"
                let isPlain = isHexadecimal || list.name == "containers"
                let names =
                    isHexadecimal
                    ? ["0a0b", "0a0c", "0b", "a0", "ff", "ff00", "ffff"]
                    : ["b.c", "b.cc", "b.d", "bc"]
                        + (isPlain ? [] : ["b%c", "b_c", "b*", "b\u{10FFFF}c", "bé", "b\u{D7FF}x"])
                for name in names { try list.add(name) }
                let prefixes =
                    ["b", "b.", "b.c", "b.cc", "b.ccc", "0", "0a", "0a0", "0a0b", "f", "ff", "fff"]
                    + [
                        "b%", "b_", "b*", "b[", "%", "_", "b?", "b\u{10FFFF}", "b\u{D7FF}", "bé",
                        "'",
                    ]
                for prefix in prefixes {
                    try expect(
                        Set(list.all(prefix: prefix, limit: 2)),
                        is: Set(names.filter { $0.utf8.starts(with: prefix.utf8) }))
                }
            }
            try expect(lists.containers.all(prefix: "B.C"), is: ["b.c", "b.cc"])
            try expect(lists.sessions.all(prefix: "0A"), is: ["0a0b", "0a0c"])
        },
        StoragePromise("A cursor that a list has not given is refused") { testStore in
            let lists = try TestLists(testStore)
            var given: [String: ListCursor] = [:]
            for list in lists.all {
                for number in 0..<4 { try list.add(name(number)) }
                given[list.name] = try require(list.page(ListRequest(limit: 2)).next)
            }
            for list in lists.all {
                let own = try require(given[list.name])
                try expect(list.page(ListRequest(after: own, limit: 9)).items.count >= 2)
                let others = given.filter { $0.key != list.name }.map(\.value.text)
                let broken = [
                    "", ".", "x", "\(own.text).", String(own.text.dropLast()), "\(own.text).00",
                    own.text.uppercased() + "g", own.text + "\u{0}", "'; --", "\(own.text)é",
                ]
                for text in others + broken {
                    try expectFailure(UnusableCursor.self) {
                        _ = try list.page(ListRequest(after: ListCursor(text), limit: 2))
                    }
                }
            }
        },
        StoragePromise("An account is found by each of its addresses, and is there once") {
            testStore in
            let catalog = try TestLists(testStore).catalog
            func account(_ id: String, _ addresses: [(Address.Kind, String)]) -> AccountRecord {
                AccountRecord(
                    id: AccountID(id), givenName: nil, familyName: nil,
                    addresses: addresses.enumerated().map {
                        AccountAddress(
                            address: Address(
                                kind: $0.element.0, text: $0.element.1, folded: $0.element.1),
                            isPrimary: $0.offset == 0, verifiedAt: $0.offset == 0 ? 1 : nil)
                    }, password: nil, createdAt: 1)
            }
            try catalog.add(
                account("a", [(.email, "ann@x"), (.email, "ann@y"), (.phone, "+491")]))
            try catalog.add(account("b", [(.email, "ab@x"), (.email, "ann@x2"), (.phone, "+491")]))
            let list = TestList("accounts", catalog.accounts, naming: \.id.text) { _ in
            } remove: { _ in
            }
            for limit in [1, 2, 9] {
                try expect(list.all(prefix: "ann@", limit: limit), is: ["a", "b"])
                try expect(list.all(prefix: "a", limit: limit), is: ["b", "a"])
                try expect(list.all(prefix: "ann@y", limit: limit), is: ["a"])
                try expect(Set(list.all(prefix: "+49", limit: limit)), is: ["a", "b"])
                try expect(list.all(limit: limit), is: ["a", "b", "owner"])
            }
        },
        StoragePromise("A user's subscriptions are a list of their own") { testStore in
            let lists = try TestLists(testStore)
            let (one, other) = (
                lists.subscriptions(of: TestStore.user(1)),
                lists.subscriptions(of: TestStore.user(2))
            )
            for number in 0..<9 { try one.add(name(number)) }
            try other.add(name(5))
            try expect(one.all(limit: 2), is: (0..<9).map(name))
            try expect(one.all(prefix: name(5), limit: 2), is: [name(5)])
            try expect(other.all(limit: 2), is: [name(5)])
            try expect(lists.subscriptions.all(prefix: name(5), limit: 1), is: [name(5), name(5)])
        },
        StoragePromise("The sessions of one account in one environment are a list of their own") {
            testStore in
            let lists = try TestLists(testStore)
            for number in 0..<5 { try lists.sessions.add(name(number)) }
            let home = container("home")
            let expected: [(keys: WebTokenKeys, count: Int)] = [
                (.member(AccountID("owner"), home, .production), 5),
                (.member(AccountID("owner"), home, .development), 0),
                (.member(AccountID("x"), home, .production), 0),
                (.account(AccountID("owner")), 5),
            ]
            for (keys, count) in expected {
                let page = try lists.catalog.webSessions(keys, livingAt: 1, ListRequest())
                try expect(page.items.count, is: count)
            }
        },
        StoragePromise("Known stores are a list, in which those of a container are found") {
            testStore in
            let test = try EngineTestData(testStore)
            for name in ["iCloud.a", "iCloud.A.b", "iCloud.ab"] {
                let id = container(name)
                try test.engine.catalog.add(ContainerRecord(id: id, createdAt: 1))
                for environment in Environment.allCases {
                    let key = StoreKey(id, environment)
                    _ = try test.engine.open(key, notices: CommitNotices())
                    _ = test.engine.close(key, isUnused: true)
                }
            }
            let list = TestList("stores", test.engine.stores, naming: \.key.container.name) { _ in
            } remove: { _ in
            }
            try expect(
                list.all(limit: 1),
                is: ["iCloud.a", "iCloud.A.b", "iCloud.ab"].flatMap { [$0, $0] })
            try expect(list.all(prefix: "icloud.a.", limit: 1), is: ["iCloud.A.b", "iCloud.A.b"])
            try expect(
                test.engine.stores(of: container("ICLOUD.A")),
                is: Environment.allCases.map { StoreKey(container("iCloud.a"), $0) })
            try expect(test.engine.stores(of: container("iCloud")), is: [])
            try test.check()
        },
    ]
}
