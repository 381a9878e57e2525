import CloudModel
import Storage
import Synchronization

// What is to be sent, and the secrets that went out.
extension StoragePromise {
    private static func link(
        _ number: UInt8, to name: String, purpose: LetterLink.Purpose = .reset
    ) -> LetterLink {
        LetterLink(
            hash: [number], purpose: purpose,
            account: purpose == .reset ? TestPeople.id(name) : nil,
            address: TestPeople.address(name), returnPath: "/share/\(name)", expiresAt: 100)
    }

    static let letters = [
        StoragePromise("Letters wait until they are due, the longest waiting first") { testStore in
            let scene = try TestPeople(testStore, ["ann"])
            let catalog = scene.catalog
            for (number, due) in [50, 10, 30].enumerated() as EnumeratedSequence<[Milliseconds]> {
                try catalog.add(
                    Letter(
                        purpose: .device, account: TestPeople.id("ann"),
                        address: TestPeople.address("ann"), detail: "d\(number)",
                        returnPath: number == 1 ? "/share/x" : nil,
                        language: number == 1 ? "de" : "",
                        madeAt: Milliseconds(number)), dueAt: due)
            }
            let again = try testStore.location.openCatalog()
            try expect(again.dueLetters(to: .email, now: .max, countMax: 9).count, is: 3)
            try expect(again.dueLetters(to: .email, now: 9, countMax: 9).isEmpty)
            let due = try again.dueLetters(to: .email, now: 30, countMax: 9)
            try expect(due.map(\.detail), is: ["d1", "d2"])
            try expect(due.map(\.returnPath), is: ["/share/x", nil])
            try expect(due.map(\.language), is: ["de", ""])
            try expect(again.dueLetters(to: .email, now: 99, countMax: 1).map(\.detail), is: ["d1"])
            let first = try require(due.first)
            try expect(first.purpose == .device && first.tries == 0)
            try expect(first.address == TestPeople.address("ann"))
            try expect(again.dueLetters(to: .phone, now: 99, countMax: 9).isEmpty)
            try again.postpone(letter: first.number, until: 60, by: .sole)
            try expect(
                again.dueLetters(to: .email, now: 59, countMax: 9).map(\.detail), is: ["d2", "d0"])
            try expect(
                again.dueLetters(to: .email, now: 60, countMax: 9).first { $0.detail == "d1" }?
                    .tries, is: 1)
            try again.deleteLetter(first.number, by: .sole)
            try again.deleteLetter(first.number, by: .sole)
            try expect(again.dueLetters(to: .email, now: .max, countMax: 9).count, is: 2)
        },
        StoragePromise("Of letters for one purpose so many wait, whatever waits for another") {
            testStore in
            let scene = try TestPeople(testStore, ["ann"])
            let catalog = scene.catalog
            func add(_ purpose: Letter.Purpose, waitingMax: Int?) throws -> Bool {
                try catalog.add(
                    Letter(
                        purpose: purpose, account: TestPeople.id("ann"),
                        address: TestPeople.address("ann"), madeAt: 1), dueAt: 1,
                    waitingMax: waitingMax)
            }
            for _ in 0..<2 { try expect(add(.device, waitingMax: 2)) }
            try expect(!add(.device, waitingMax: 2))
            try expect(add(.reset, waitingMax: 1))
            try expect(add(.device, waitingMax: nil))
            let waiting = try catalog.dueLetters(to: .email, now: 1, countMax: 9)
            try expect(waiting.map(\.purpose), is: [.device, .device, .reset, .device])
            try catalog.deleteLetter(require(waiting.first).number, by: .sole)
            try expect(!add(.device, waitingMax: 2))
            try expect(add(.device, waitingMax: 3))
        },
        StoragePromise("A link is used up once, in its time, and ends its like") {
            testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let catalog = scene.catalog
            for one in [
                link(1, to: "ann"), link(2, to: "ann"), link(3, to: "bob"),
                link(4, to: "ann", purpose: .invitation),
            ] { try catalog.add(one, now: 1) }
            try expect(catalog.letterLink(hash: [1], now: 2) == link(1, to: "ann"))
            try expect(catalog.letterLink(hash: [1], now: 101) == nil)
            @Sendable func reset(_ name: String, by hash: UInt8, now: Milliseconds = 3) throws {
                try catalog.change(
                    TestPeople.id(name),
                    by: AccountChange(
                        password: "by \(hash)", on: .resetLink(hash: [hash], now: now)))
            }
            let used = Mutex(0)
            try together(8) { _ in
                do {
                    try reset("ann", by: 1)
                    used.withLock { $0 += 1 }
                } catch CatalogRefusal.letterLinkUnknown {}
            }
            try expect(used.withLock { $0 }, is: 1)
            try expect(catalog.account(TestPeople.id("ann"))?.password, is: "by 1")
            try expect(catalog.letterLink(hash: [2], now: 3) == nil)
            try expect(catalog.letterLink(hash: [3], now: 3) != nil)
            for (name, hash, now): (String, UInt8, Milliseconds) in [
                ("bob", 3, 101), ("ann", 3, 3), ("ann", 4, 3),
            ] {
                try scene.refuses(.letterLinkUnknown) { try reset(name, by: hash, now: now) }
            }
            // What lets nobody in as an operator.
            try catalog.set(.all, of: TestPeople.id("bob"), now: 2)
            try scene.refuses(.letterLinkUnknown) { try reset("bob", by: 3) }
            try expect(catalog.account(TestPeople.id("bob"))?.password == nil)
            try expect(
                catalog.letterLink(hash: [4], now: 3) == link(4, to: "ann", purpose: .invitation))
        },
        StoragePromise("A link is used up together with what it is for, or not at all") {
            testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let (catalog, ann) = (scene.catalog, TestPeople.id("ann"))
            for one in [
                link(1, to: "ann"), link(2, to: "ann", purpose: .invitation),
                link(3, to: "cy", purpose: .invitation),
            ] { try catalog.add(one, now: 1) }
            try scene.refuses(.addressTaken) {
                try catalog.change(
                    ann,
                    by: AccountChange(
                        verified: (TestPeople.address("bob"), at: 3), password: "p",
                        on: .resetLink(hash: [1], now: 3)))
            }
            let again = AccountRecord(
                id: TestPeople.id("again"), givenName: nil, familyName: nil,
                addresses: TestPeople.account("ann").addresses, password: nil, createdAt: 1)
            try scene.refuses(.addressTaken) {
                try catalog.add(again, by: .invitation(link: [2]), now: 3)
            }
            for hash: UInt8 in 1...3 {
                try expect(catalog.letterLink(hash: [hash], now: 3) != nil)
            }
            let cy = TestPeople.account("cy")
            for (hash, now): (UInt8, Milliseconds) in [(1, 3), (3, 101), (9, 3)] {
                try expect(!catalog.add(cy, by: .invitation(link: [hash]), now: now))
            }
            try expect(catalog.account(cy.id) == nil)
            try expect(catalog.add(cy, by: .invitation(link: [3]), now: 3))
            try expect(catalog.account(cy.id) != nil)
            try expect(catalog.letterLink(hash: [3], now: 3) == nil)
            try expect(!catalog.add(cy, by: .invitation(link: [3]), now: 3))
        },
        StoragePromise("A code is guessed at so often, and right once") { testStore in
            let scene = try TestPeople(testStore, ["ann"])
            let (catalog, ann) = (scene.catalog, TestPeople.id("ann"))
            let address = TestPeople.address("ann")
            func take(_ code: UInt8, now: Milliseconds = 2) throws -> CodeOutcome {
                try catalog.take(code: [code], for: address, of: ann, now: now)
            }
            func expectCode() throws {
                try catalog.expect(
                    code: [7], for: address, of: ann, triesMax: 3, expiresAt: 100)
            }
            try expect(take(7), is: .none)
            try expectCode()
            try expect([take(1), take(7), take(7)], is: [.wrong, .right, .none])
            try expectCode()
            try expect([take(1), take(2), take(3)], is: [.wrong, .wrong, .wrong])
            try expect(take(7), is: .none)
            // Another takes the place of the one that was guessed at.
            try expectCode()
            try expect(take(7, now: 101), is: .none)
            try expectCode()
            try expect(take(7), is: .right)
        },
        StoragePromise("A password that is set ends what acts as the account; a new form does not")
        {
            testStore in
            let scene = try TestPeople(testStore, ["ann"])
            let (catalog, ann) = (scene.catalog, TestPeople.id("ann"))
            func session(_ number: UInt8) -> BrowserSession {
                BrowserSession(
                    hash: [number], kind: .pages, account: ann, device: "", madeAt: 1, usedAt: 1,
                    provedAt: 1,
                    expiresAt: 1_000)
            }
            for number: UInt8 in 1...2 {
                try catalog.add(session(number), password: nil, countMax: 9, now: 1)
            }
            try catalog.change(ann, by: AccountChange(password: "form 2"))
            try expect(catalog.account(ann)?.password, is: "form 2")
            try expect(catalog.browserSessions(of: ann).count, is: 2)
            try catalog.change(
                ann, by: AccountChange(password: "other", ended: .all(except: [2])))
            try expect(catalog.account(ann)?.password, is: "other")
            try expect(catalog.browserSessions(of: ann).map(\.hash), is: [[2]])
            let none = TestPeople.id("none")
            try scene.refuses(.accountUnknown) {
                try catalog.change(none, by: AccountChange(password: "p"))
            }
            try scene.refuses(.accountUnknown) {
                try catalog.change(
                    none, by: AccountChange(password: "p", ended: .all(except: nil)))
            }
        },
    ]
}
