import CloudModel
import Storage
import Synchronization

/// A catalog with a container and a few people, for promises about them.
struct TestPeople {
    static let home = TestStore.name(ContainerID("iCloud.home"))

    let testStore: TestStore
    let catalog: any CatalogStorage

    /// - Parameter names: of accounts, each with the verified address `name@x.example`.
    init(_ testStore: TestStore, _ names: [String]) throws {
        self.testStore = testStore
        catalog = try testStore.location.openCatalog()
        try catalog.add(ContainerRecord(id: Self.home, createdAt: 1))
        for name in names { try catalog.add(Self.account(name)) }
    }

    static func id(_ name: String) -> AccountID { AccountID(name) }

    static func address(_ name: String) -> Address {
        let text = "\(name)@x.example"
        return Address(kind: .email, text: text, folded: text.lowercased())
    }

    static func account(_ name: String) -> AccountRecord {
        AccountRecord(
            id: id(name), givenName: "Given", familyName: name,
            addresses: [
                AccountAddress(address: address(name), isPrimary: true, verifiedAt: 1)
            ], password: nil, createdAt: 1)
    }

    func refuses(_ refusal: CatalogRefusal, _ body: () throws -> Void) throws {
        try expectFailure(CatalogRefusal.self, where: { $0 == refusal }, body)
    }
}

// People, as they are found and as apps bring them.
extension StoragePromise {
    static let people = [
        StoragePromise("People are found who let themselves be, and have used the container") {
            testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let (catalog, home) = (scene.catalog, TestPeople.home)
            let (ann, address) = (TestPeople.id("ann"), TestPeople.address("ann"))
            try expect(catalog.account(ann)?.isDiscoverable == false)
            try catalog.note(TestStore.user(1), of: ann, in: home)
            try expect(catalog.discoverable(address, in: home) == nil)
            try catalog.change(ann, by: AccountChange(isDiscoverable: true))
            try catalog.change(TestPeople.id("bob"), by: AccountChange(isDiscoverable: true))
            let person = DiscoveredPerson(
                userRecordName: TestStore.user(1), givenName: "Given", familyName: "ann")
            for open in [catalog, try testStore.location.openCatalog()] {
                try expect(open.account(ann)?.isDiscoverable == true)
                try expect(open.discoverable(address, in: home) == person)
                try expect(open.discoverable(TestStore.user(1), in: home) == person)
                // Bob has not used it.
                try expect(open.discoverable(TestPeople.address("bob"), in: home) == nil)
                try expect(open.discoverable(TestStore.user(2), in: home) == nil)
            }
            try catalog.change(ann, by: AccountChange(isDiscoverable: false))
            try expect(catalog.discoverable(TestStore.user(1), in: home) == nil)
            try scene.refuses(.accountUnknown) {
                try catalog.change(TestPeople.id("none"), by: AccountChange(isDiscoverable: true))
            }
        },
        StoragePromise("The containers that somebody has used are told in the order of names") {
            testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let catalog = scene.catalog
            let others = ["iCloud.Zoo", "iCloud.app"].map { TestStore.name(ContainerID($0)) }
            for container in others {
                try catalog.add(ContainerRecord(id: container, createdAt: 1))
            }
            func containers(
                _ catalog: any CatalogStorage, usedBy name: String
            ) throws -> [ContainerID] {
                try catalog.containers(ListRequest(), usedBy: TestPeople.id(name)).items.map(\.id)
            }
            for container in [others[0], TestPeople.home, others[1], others[0]] {
                try catalog.note(TestStore.user(1), of: TestPeople.id("ann"), in: container)
            }
            for open in [catalog, try testStore.location.openCatalog()] {
                try expect(
                    containers(open, usedBy: "ann"), is: [others[1], TestPeople.home, others[0]])
                try expect(containers(open, usedBy: "bob").isEmpty)
            }
            try testStore.location.delete(TestPeople.home, from: catalog)
            try expect(containers(catalog, usedBy: "ann"), is: [others[1], others[0]])
        },
        StoragePromise("An app's user is one account, whoever asks first") { testStore in
            let scene = try TestPeople(testStore, [])
            let catalog = scene.catalog
            @Sendable func user(_ given: String?) -> ExternalUser {
                ExternalUser(externalID: "x1", givenName: given, familyName: nil, email: nil)
            }
            let found = Mutex<Set<String>>([])
            try together(8) { number in
                let account = try catalog.account(
                    of: user("A"), in: TestPeople.home, orMake: TestPeople.id("m\(number)"),
                    now: 1)
                found.withLock { _ = $0.insert(account.text) }
            }
            try expect(found.withLock { $0.count }, is: 1)
            let again = try catalog.account(
                of: user("B"), in: TestPeople.home, orMake: TestPeople.id("other"), now: 2)
            try expect(found.withLock { $0 } == [again.text])
            try expect(catalog.account(again)?.givenName, is: "B")
            try scene.refuses(.containerUnknown) {
                _ = try catalog.account(
                    of: user(nil), in: TestStore.name(ContainerID("iCloud.none")),
                    orMake: TestPeople.id("m"), now: 1)
            }
        },
    ]
}
