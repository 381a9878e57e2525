import CloudModel
import Storage
import Synchronization

// Browsers that are signed in, and what they have let apps do.
extension StoragePromise {
    private static func session(
        _ number: UInt8, of account: String, expiresAt: Milliseconds = 1_000
    ) -> BrowserSession {
        BrowserSession(
            hash: [number, 0, 255], kind: .pages, account: TestPeople.id(account),
            device: "a browser",
            madeAt: Milliseconds(number), usedAt: 1, provedAt: 1, expiresAt: expiresAt)
    }

    private static func code(_ number: UInt8, of account: String) -> SignInCode {
        SignInCode(
            hash: [number], account: TestPeople.id(account), container: TestPeople.home,
            environment: .development, seconds: 60, challenge: [9, 9], expiresAt: 100,
            source: SignInSource(origin: "https://a.example", device: "a browser"))
    }

    private static func token(_ number: UInt8, of account: String) -> WebTokenRecord {
        WebTokenRecord(
            hash: [number], session: [number], account: TestPeople.id(account),
            container: TestPeople.home, environment: .production, madeAt: Milliseconds(number),
            expiresAt: 1_000, begunAt: Milliseconds(number) - 1,
            source: SignInSource(origin: "https://a.example", device: "a browser"))
    }

    /// The sessions of apps that act for somebody.
    private static func apps(
        of name: String, _ catalog: any CatalogStorage
    ) throws -> [[UInt8]] {
        try catalog.webSessions(.account(TestPeople.id(name)), livingAt: .min, ListRequest())
            .items.map(\.session)
    }

    static let browsers = [
        StoragePromise("A browser's session is kept as it is, and goes when it is ended or over") {
            testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let catalog = scene.catalog
            try scene.refuses(.accountUnknown) {
                try catalog.add(session(1, of: "none"), password: nil, countMax: 9, now: 1)
            }
            for number: UInt8 in [2, 1] {
                try catalog.add(session(number, of: "ann"), password: nil, countMax: 9, now: 1)
            }
            try catalog.add(
                session(3, of: "bob", expiresAt: 50), password: nil, countMax: 9, now: 1)
            let again = try testStore.location.openCatalog()
            try expect(again.browserSession(.pages, hash: [1, 0, 255]) == session(1, of: "ann"))
            try expect(again.browserSession(.pages, hash: [7]) == nil)
            try expect(
                again.browserSessions(of: TestPeople.id("ann")).map { $0.hash[0] }, is: [1, 2])
            try again.note(BrowserSessionUse(at: 20, isProof: false), of: [1, 0, 255])
            try again.note(BrowserSessionUse(at: 30, isProof: true), of: [2, 0, 255])
            let used = try require(again.browserSession(.pages, hash: [1, 0, 255]))
            try expect(used.usedAt == 20 && used.provedAt == 1)
            let proved = try require(again.browserSession(.pages, hash: [2, 0, 255]))
            try expect(proved.usedAt == 30 && proved.provedAt == 30)
            // One that is over is told of until somebody adds another.
            try expect(again.browserSession(.pages, hash: [3, 0, 255]) != nil)
            try again.add(session(4, of: "ann"), password: nil, countMax: 9, now: 60)
            try expect(again.browserSession(.pages, hash: [3, 0, 255]) == nil)
            try again.note(nil, of: [1, 0, 255])
            try again.note(nil, of: [1, 0, 255])
            try expect(again.browserSession(.pages, hash: [1, 0, 255]) == nil)
        },
        StoragePromise(
            "An operator's session is theirs at the console alone, and ends with their rights"
        ) {
            testStore in
            let scene = try TestPeople(testStore, ["ann"])
            let (catalog, ann) = (scene.catalog, TestPeople.id("ann"))
            func console(_ number: UInt8) -> BrowserSession {
                BrowserSession(
                    hash: [number], kind: .console, account: ann, device: "",
                    madeAt: Milliseconds(number), usedAt: Milliseconds(number), provedAt: 1,
                    expiresAt: 1_000)
            }
            try scene.refuses(.operatorUnknown) {
                try catalog.add(console(1), password: nil, countMax: 2, now: 1)
            }
            let rights = OperatorRights(containers: nil, isReadOnly: true)
            try catalog.set(rights, of: ann, now: 1)
            try catalog.add(session(9, of: "ann"), password: nil, countMax: 1, now: 1)
            for number: UInt8 in 1...3 {
                try catalog.add(console(number), password: nil, countMax: 2, now: 1)
            }
            try expect(
                catalog.browserSessions(.console, .account(ann)), is: [console(2), console(3)])
            try expect(catalog.browserSession(.console, hash: [9, 0, 255]) == nil)
            try expect(catalog.browserSession(.pages, hash: [3]) == nil)
            try expect(catalog.browserSessions(of: ann), is: [session(9, of: "ann")])
            let again = try testStore.location.openCatalog()
            try expect(again.operatorRecord(of: ann)?.rights == rights)
            try again.set(OperatorRights(containers: [], isReadOnly: false), of: ann, now: 2)
            try expect(again.browserSessions(.console, .account(ann)).isEmpty)
            try expect(again.operatorRecord(of: ann)?.madeAt == 1)
            try again.set(nil, of: ann, now: 3)
            try scene.refuses(.operatorUnknown) { try again.set(nil, of: ann, now: 3) }
            try expect(again.operatorRecord(of: ann) == nil)
            try expect(again.browserSessions(of: ann).count, is: 1)
        },
        StoragePromise("Of more sessions than an account may have, the one unused the longest ends")
        {
            testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let catalog = scene.catalog
            try catalog.add(session(9, of: "bob"), password: nil, countMax: 1, now: 1)
            for number: UInt8 in 1...3 {
                try catalog.add(session(number, of: "ann"), password: nil, countMax: 3, now: 1)
            }
            try catalog.note(BrowserSessionUse(at: 20, isProof: false), of: [1, 0, 255])
            try catalog.add(session(4, of: "ann"), password: nil, countMax: 3, now: 30)
            func kept(_ name: String) throws -> [UInt8] {
                try catalog.browserSessions(of: TestPeople.id(name)).map { $0.hash[0] }
            }
            try expect(kept("ann"), is: [1, 3, 4])
            try catalog.add(session(5, of: "ann"), password: nil, countMax: 1, now: 30)
            try expect(kept("ann"), is: [5])
            try expect(kept("bob"), is: [9])
        },
        StoragePromise("Who ends their sessions ends all that acts as them, but for one browser") {
            testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let catalog = scene.catalog
            for (name, number): (String, UInt8) in [("ann", 10), ("bob", 20)] {
                try catalog.add(session(number, of: name), password: nil, countMax: 9, now: 1)
                try catalog.add(session(number + 1, of: name), password: nil, countMax: 9, now: 1)
                try catalog.add(
                    token(number, of: name), on: .account, for: TestStore.user(Int(number)),
                    sessionsMax: 9, now: 1)
                try catalog.add(
                    code(number, of: name), askedBy: [number, 0, 255], now: 1)
            }
            let version = catalog.version
            try catalog.change(
                TestPeople.id("ann"), by: AccountChange(ended: .all(except: [11, 0, 255])))
            try expect(catalog.version > version)
            try expect(
                catalog.browserSessions(of: TestPeople.id("ann")).map { $0.hash[0] }, is: [11])
            try expect(apps(of: "ann", catalog).isEmpty)
            try expect(catalog.signInCode(hash: [10], now: 2) == nil)
            try expect(catalog.browserSessions(of: TestPeople.id("bob")).count, is: 2)
            try expect(apps(of: "bob", catalog), is: [token(20, of: "bob").session])
            try expect(
                catalog.webToken(hash: token(20, of: "bob").hash) == token(20, of: "bob"))
            try expect(catalog.signInCode(hash: [20], now: 2) == code(20, of: "bob"))
            try catalog.change(TestPeople.id("ann"), by: AccountChange(ended: .all(except: nil)))
            try expect(catalog.browserSessions(of: TestPeople.id("ann")).isEmpty)
        },
        StoragePromise("A session of an app ends with the last of its tokens, or when it is ended")
        {
            testStore in
            let scene = try TestPeople(testStore, ["ann"])
            let catalog = scene.catalog
            func token(_ hash: UInt8, session: UInt8, expiresAt: Milliseconds) -> WebTokenRecord {
                WebTokenRecord(
                    hash: [hash], session: [session, 0, 255], account: TestPeople.id("ann"),
                    container: TestPeople.home, environment: .production, madeAt: 1,
                    expiresAt: expiresAt)
            }
            let user = TestStore.user(1)
            try catalog.add(
                token(1, session: 1, expiresAt: 50), on: .account, for: user, sessionsMax: 9,
                now: 1)
            try catalog.add(
                token(2, session: 1, expiresAt: 90), on: .token([1]), for: user, sessionsMax: 9,
                now: 1)
            try catalog.add(
                token(3, session: 2, expiresAt: 70), on: .account, for: user, sessionsMax: 9,
                now: 1)
            let again = try testStore.location.openCatalog()
            try expect(again.sessionEnd([1, 0, 255]) == 90)
            try expect(again.sessionEnd([2, 0, 255]) == 70)
            try expect(again.sessionEnd([1]) == nil)
            try again.change(TestPeople.id("ann"), by: AccountChange(ended: .all(except: nil)))
            try expect(again.sessionEnd([1, 0, 255]) == nil)
        },
        StoragePromise(
            "Of more sessions of apps than an account may have, those unused the longest end"
        ) {
            testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let catalog = scene.catalog
            func add(_ number: UInt8, of name: String, at now: Milliseconds) throws {
                try catalog.add(
                    token(number, of: name), on: .account,
                    for: TestStore.user(name == "ann" ? 1 : 2),
                    sessionsMax: 3, now: now)
            }
            try add(20, of: "bob", at: 1)
            for number: UInt8 in 1...3 { try add(number, of: "ann", at: 1) }
            try catalog.note(uses: [.webTokens(session: [1]): 40])
            let version = catalog.version
            try add(4, of: "ann", at: 50)
            try expect(catalog.version > version)
            let kept = try apps(of: "ann", catalog).map { $0[0] }
            try expect(kept.count <= 3 && kept.contains(1) && kept.contains(4), "\(kept)")
            try expect(!kept.contains(2), "\(kept)")
            try expect(apps(of: "bob", catalog).count, is: 1)
            // A token that takes another's place begins no session.
            let before = try apps(of: "ann", catalog).count
            try catalog.add(
                token(5, of: "ann"), on: .token([4]), for: TestStore.user(1), sessionsMax: 1,
                now: 60
            )
            try expect(apps(of: "ann", catalog).count, is: before + 1)
        },
        StoragePromise("A code is traded for one token, in its time") { testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let catalog = scene.catalog
            try catalog.add(session(1, of: "ann"), password: nil, countMax: 9, now: 1)
            let asking: [UInt8] = [1, 0, 255]
            try scene.refuses(.accountUnknown) {
                try catalog.add(code(1, of: "none"), askedBy: asking, now: 1)
            }
            for number: UInt8 in 1...3 {
                try catalog.add(code(number, of: "ann"), askedBy: asking, now: 1)
            }
            try expect(catalog.signInCode(hash: [1], now: 99) == code(1, of: "ann"))
            try expect(catalog.signInCode(hash: [1], now: 100) == nil)
            @Sendable func trade(_ code: UInt8, for number: UInt8, of name: String = "ann") throws {
                try catalog.add(
                    token(number, of: name), on: .signInCode([code]), for: TestStore.user(1),
                    sessionsMax: 99, now: 99)
            }
            let traded = Mutex(0)
            try together(8) { number in
                do {
                    try trade(1, for: UInt8(number + 10))
                    traded.withLock { $0 += 1 }
                } catch CatalogRefusal.signInCodeUnknown {}
            }
            try expect(traded.withLock { $0 }, is: 1)
            try expect(apps(of: "ann", catalog).count, is: 1)
            try scene.refuses(.signInCodeUnknown) { try trade(2, for: 30, of: "bob") }
            try catalog.deleteSignInCode(hash: [3])
            try catalog.deleteSignInCode(hash: [3])
            try expect(catalog.signInCode(hash: [3], now: 2) == nil)
            try expect(catalog.signInCode(hash: [2], now: 2) != nil)
        },
        StoragePromise("Nothing begins on a password or a session that has ended meanwhile") {
            testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let (catalog, ann) = (scene.catalog, TestPeople.id("ann"))
            try catalog.change(ann, by: AccountChange(password: "old"))
            try catalog.add(session(1, of: "ann"), password: "old", countMax: 9, now: 1)
            try catalog.change(ann, by: AccountChange(password: "new", ended: .all(except: nil)))
            try scene.refuses(.passwordChanged) {
                try catalog.add(session(2, of: "ann"), password: "old", countMax: 9, now: 1)
            }
            try scene.refuses(.passwordChanged) {
                try catalog.change(
                    ann,
                    by: AccountChange(
                        password: "old 2", ended: .all(except: nil), on: .password("old")))
            }
            try expect(catalog.account(ann)?.password, is: "new")
            try expect(catalog.browserSessions(of: ann).isEmpty)
            func letAppIn(of name: String, in session: UInt8) throws {
                try catalog.add(
                    token(9, of: name), on: .browserSession([session, 0, 255]),
                    for: TestStore.user(1), sessionsMax: 9, now: 1)
            }
            func handOutCode(of name: String, in session: UInt8) throws {
                try catalog.add(code(9, of: name), askedBy: [session, 0, 255], now: 1)
            }
            try catalog.add(session(3, of: "ann"), password: "new", countMax: 9, now: 1)
            for (name, session): (String, UInt8) in [("ann", 1), ("bob", 3)] {
                try scene.refuses(.browserSessionUnknown) { try letAppIn(of: name, in: session) }
                try scene.refuses(.browserSessionUnknown) { try handOutCode(of: name, in: session) }
            }
            try letAppIn(of: "ann", in: 3)
            try handOutCode(of: "ann", in: 3)
            try expect(apps(of: "ann", catalog).count, is: 1)
            try catalog.change(ann, by: AccountChange(password: "new 2", on: .password("new")))
            try expect(catalog.account(ann)?.password, is: "new 2")
        },
        StoragePromise("A consent is one person's, for one app at one origin") { testStore in
            let scene = try TestPeople(testStore, ["ann", "bob"])
            let catalog = scene.catalog
            let (ann, origin) = (TestPeople.id("ann"), "https://a.example")
            try catalog.add(
                APITokenRecord(
                    hash: [5], name: "app", container: TestPeople.home, environment: .production,
                    createdAt: 1))
            try scene.refuses(.apiTokenUnknown) {
                try catalog.addConsent(of: ann, for: [6], at: origin)
            }
            try scene.refuses(.accountUnknown) {
                try catalog.addConsent(of: TestPeople.id("none"), for: [5], at: origin)
            }
            try catalog.addConsent(of: ann, for: [5], at: origin)
            try catalog.addConsent(of: ann, for: [5], at: origin)
            try expect(catalog.hasConsent(of: ann, for: [5], at: origin))
            try expect(!catalog.hasConsent(of: ann, for: [5], at: ""))
            try expect(!catalog.hasConsent(of: TestPeople.id("bob"), for: [5], at: origin))
            try catalog.deleteAPIToken(name: "app")
            try expect(!catalog.hasConsent(of: ann, for: [5], at: origin))
        },
    ]
}
