import CloudModel
import Storage
import Synchronization

// Who acts on the server as an operator, by what, and what they looked at.
extension StoragePromise {
    private static let some = OperatorRights(containers: [TestPeople.home], isReadOnly: true)

    private static func invitation(
        _ name: String, _ rights: OperatorRights, expiresAt: Milliseconds = 100
    ) -> OperatorInvitation {
        OperatorInvitation(
            address: TestPeople.address(name), rights: rights, expiresAt: expiresAt)
    }

    /// The link of a letter that invites somebody; its hash is their name.
    private static func letterLink(to name: String) -> LetterLink {
        LetterLink(
            hash: Array(name.utf8), purpose: .invitation, account: nil,
            address: TestPeople.address(name), expiresAt: 1_000)
    }

    private static func token(
        _ number: UInt8, _ rights: OperatorRights = .all, expiresAt: Milliseconds = 1_000
    ) -> OperatorTokenRecord {
        OperatorTokenRecord(
            hash: [number], name: "token-\(number)", rights: rights,
            madeAt: Milliseconds(number), expiresAt: expiresAt)
    }

    static let operators = [
        StoragePromise(
            "An operator's rights are kept as they are, and refused where they cannot be"
        ) {
            testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let catalog = scene.catalog
            let (ann, bob) = (TestPeople.id("ann"), TestPeople.id("bob"))
            let foreign = OperatorRights(
                containers: [TestStore.name(ContainerID("iCloud.none"))], isReadOnly: false)
            try scene.refuses(.accountUnknown) {
                try catalog.set(.all, of: TestPeople.id("none"), now: 1)
            }
            try scene.refuses(.containerUnknown) { try catalog.set(foreign, of: ann, now: 1) }
            try expect(catalog.operatorRecord(of: ann) == nil)
            for (rights, moment) in [(some, 5), (.all, 9)] as [(OperatorRights, Int64)] {
                try catalog.set(rights, of: ann, now: moment)
                let again = try testStore.location.openCatalog()
                // When they became one stays.
                try expect(
                    again.operatorRecord(of: ann)
                        == OperatorRecord(account: ann, rights: rights, madeAt: 5))
            }
            try catalog.set(some, of: bob, now: 7)
            try expect(
                catalog.operators(ListRequest()).items.map(\.account.text), is: ["ann", "bob"])
            try catalog.set(nil, of: ann, now: 9)
            try expect(catalog.operators(ListRequest()).items.map(\.account.text), is: ["bob"])
        },
        StoragePromise("Who was invited as an operator is one from the moment their account is") {
            testStore in
            let scene = try TestPeople(testStore, ["ann"])
            let catalog = scene.catalog
            try catalog.add(invitation("bob", .all), now: 1)
            try catalog.add(invitation("bob", some), now: 1)
            try catalog.add(invitation("cy", .all, expiresAt: 20), now: 1)
            try catalog.add(invitation("ann", .all), now: 1)
            for (name, now) in [("bob", 20), ("cy", 20), ("dee", 20)] as [(String, Int64)] {
                try catalog.add(letterLink(to: name), now: 1)
                try catalog.add(
                    TestPeople.account(name), by: .invitation(link: Array(name.utf8)), now: now)
            }
            let again = try testStore.location.openCatalog()
            let bob = OperatorRecord(account: TestPeople.id("bob"), rights: some, madeAt: 20)
            try expect(again.operatorRecord(of: bob.account) == bob)
            // One invitation had expired, and one person was never invited.
            for name in ["cy", "dee"] {
                try expect(again.accounts([.id(TestPeople.id(name))]).count, is: 1)
                try expect(again.operatorRecord(of: TestPeople.id(name)) == nil)
            }
            // What cannot be added uses no invitation up.
            let taken = AccountRecord(
                id: TestPeople.id("eve"), givenName: nil, familyName: nil,
                addresses: TestPeople.account("ann").addresses, password: nil, createdAt: 1)
            try again.add(letterLink(to: "ann"), now: 1)
            try scene.refuses(.addressTaken) {
                try again.add(taken, by: .invitation(link: Array("ann".utf8)), now: 20)
            }
            try expect(again.operatorRecord(of: taken.id) == nil)
            // Nor does an account that the person had before.
            try expect(again.operatorRecord(of: TestPeople.id("ann")) == nil)
        },
        StoragePromise("An operator's token is found by its digest, until it is revoked or over") {
            testStore in
            let scene = try TestPeople(testStore, [])
            let catalog = scene.catalog
            for (number, rights) in [(1, .all), (2, some)] as [(UInt8, OperatorRights)] {
                try catalog.add(token(number, rights), now: 1)
            }
            try scene.refuses(.nameTaken) {
                let again = OperatorTokenRecord(
                    hash: [9], name: "token-1", rights: .all, madeAt: 1, expiresAt: 1_000)
                try catalog.add(again, now: 1)
            }
            try catalog.note(uses: [.operatorToken(hash: [2]): 70])
            let again = try testStore.location.openCatalog()
            try expect(again.operatorToken(hash: [1]) == token(1))
            try expect(again.operatorToken(hash: [2])?.usedAt == 70)
            try expect(again.operatorToken(hash: [2])?.rights == some)
            try expect(again.operatorToken(hash: [9]) == nil)
            try again.delete(.operatorToken(name: "token-1"))
            try scene.refuses(.operatorTokenUnknown) {
                try again.delete(.operatorToken(name: "token-1"))
            }
            try catalog.add(token(3), now: 1_000)
            try expect(catalog.operatorTokens(ListRequest()).items.map(\.name), is: ["token-3"])
        },
        StoragePromise("The first operator is made once, however many try at the same moment") {
            testStore in
            let scene = try TestPeople(testStore, [])
            let catalog = scene.catalog
            try expect(catalog.offerFirstOperator(hash: [7], until: 100))
            try expect(!catalog.offerFirstOperator(hash: [8], until: 100))
            for (hash, now) in [([8], 50), ([7], 100)] as [([UInt8], Int64)] {
                let made = try catalog.add(
                    TestPeople.account("late"), by: .firstOperator(hash: hash), now: now)
                try expect(!made)
            }
            let made = Mutex<[String]>([])
            try together(16) { number in
                let account = TestPeople.account("p\(number)")
                if try catalog.add(account, by: .firstOperator(hash: [7]), now: 99) {
                    made.withLock { $0.append(account.id.text) }
                }
            }
            let first = try require(made.withLock { $0.count == 1 ? $0[0] : nil })
            let again = try testStore.location.openCatalog()
            let operators = try again.operators(ListRequest()).items
            try expect(operators.map(\.account.text), is: [first])
            try expect(operators.first?.rights == .all)
            try expect(again.accounts(ListRequest()).items.map(\.id.text), is: [first])
            try expect(!again.offerFirstOperator(hash: [8], until: 200))
        },
        StoragePromise("What operators looked at is told, the latest first") { testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let catalog = scene.catalog
            let (ann, home) = (TestPeople.id("ann"), TestPeople.home)
            let looks = (1...3).map { number in
                OperatorLook(
                    account: ann, time: Milliseconds(number), by: .token, action: "record list",
                    container: number == 2 ? nil : home)
            }
            for look in looks { try catalog.note(look) }
            try scene.refuses(.accountUnknown) {
                try catalog.note(
                    OperatorLook(
                        account: TestPeople.id("none"), time: 1, by: .account, action: "x",
                        container: nil))
            }
            let again = try testStore.location.openCatalog()
            try expect(again.looks(at: ann, limit: 2) == [looks[2], looks[1]])
            try expect(again.looks(at: TestPeople.id("bob"), limit: 2) == [])
        },
    ]
}
