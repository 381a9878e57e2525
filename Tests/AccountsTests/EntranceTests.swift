import Accounts
import CloudModel
import Cryptography
import Dispatch
import Foundation
import Storage
import Synchronization
import Testing

/// Sign-ins that failed, as they were told.
final class ToldFailures: Sendable {
    private let told = Mutex<[SignInFailure]>([])

    func add(_ failure: SignInFailure) { told.withLock { $0.append(failure) } }

    var all: [SignInFailure] { told.withLock { $0 } }
}

/// What people do by themselves, on a catalog of its own.
final class TestAccounts {
    let server: TestServer
    let accountUseCases: AccountUseCases
    let failures = ToldFailures()

    init(
        random: RandomSource = .system, _ change: (inout AccountsSettings) -> Void = { _ in }
    ) throws {
        var settings = AccountsSettings()
        settings.passwordCosts = PasswordHash.Costs(bits: 8, blockSize: 8, parallelism: 1)
        change(&settings)
        server = try TestServer(settings: settings)
        accountUseCases = try AccountUseCases(
            catalog: server.catalog, random: random, secrets: .forTests(), settings: settings,
            signUp: .open, letterKinds: [.email], publicBaseURL: "https://sync.example",
            failed: { [failures] in failures.add($0) })
    }

    var catalog: any CatalogStorage { server.catalog }

    @discardableResult
    func user(_ email: String, password: String = "correct horse") throws -> AccountRecord {
        try Users(catalog: server.catalog, costs: server.settings.passwordCosts).create(
            email: email, password: Array(password.utf8), now: server.now)
    }

    func signIn(
        _ address: String, _ password: String, from client: NetworkOrigin? = "here",
        device: String? = nil
    ) throws -> PasswordSignIn.Outcome {
        try accountUseCases.signIn.run(
            PasswordSignIn.Attempt(
                address: address, password: Array(password.utf8), client: client, device: device),
            now: server.now)
    }

    /// The letters that wait.
    func waiting() throws -> [Letter] {
        try Address.Kind.allCases.flatMap {
            try catalog.dueLetters(to: $0, now: server.now, countMax: 100)
        }
    }

    /// Sends what is queued; what was sent.
    func sent() throws -> [(address: String, contents: Letters.Contents)] {
        try waiting().compactMap { letter in
            defer { try? catalog.deleteLetter(letter.number, by: .sole) }
            return try accountUseCases.letters.contents(of: letter, now: server.now).map {
                (letter.address.text, $0)
            }
        }
    }
}

/// Randomness before which something else happens, once.
final class InterruptedRandom: Sendable {
    private let interruption = Mutex<(@Sendable () -> Void)?>(nil)

    /// Has something happen before the next bytes are made.
    func interrupt(_ body: @escaping @Sendable () -> Void) { interruption.withLock { $0 = body } }

    var source: RandomSource {
        RandomSource { [self] count in
            let body = interruption.withLock { body in
                defer { body = nil }
                return body
            }
            body?()
            return RandomSource.system.bytes(count)
        }
    }
}

extension SealedSecrets {
    static func forTests() throws -> SealedSecrets {
        try #require(SealedSecrets(keys: [[UInt8](repeating: 7, count: 32)], random: .system))
    }
}

@Suite("Passwords and the ways in")
struct EntranceTests {
    private func isIn(_ outcome: PasswordSignIn.Outcome) -> Bool {
        if case .signedIn = outcome { true } else { false }
    }

    @Test("Whoever knows address and password comes in, by any verified address")
    func signIn() throws {
        let test = try TestAccounts()
        let ida = try test.user("ida@example.org")
        #expect(
            try test.signIn("Ida@Example.org", "correct horse") == .signedIn(ida, isNewDevice: true)
        )
        for (address, password) in [
            ("ida@example.org", "Correct horse"), ("ida@example.org", ""),
            ("no@example.org", "correct horse"), ("", ""), ("nonsense", "correct horse"),
            ("ida@example.org", String(repeating: "a", count: 5_000)),
        ] {
            #expect(try test.signIn(address, password) == .wrong, "\(address)")
        }
        let verified = try Users(catalog: test.catalog).verify(
            email: "ida@example.org", address: "ida@work.example", now: 1)
        #expect(
            try test.signIn("ida@work.example", "correct horse")
                == .signedIn(verified, isNewDevice: true))
    }

    @Test("Every sign-in that fails is told of: whose it was, from where, and what was wrong")
    func failures() throws {
        let test = try TestAccounts()
        let ida = try test.user("ida@example.org")
        let now = test.server.now
        _ = try test.signIn("ida@example.org", "correct horse")
        #expect(test.failures.all.isEmpty)
        for _ in 0..<6 { _ = try test.signIn("ida@example.org", "x", from: "192.0.2.7") }
        _ = try test.signIn("no@example.org", "x", from: nil)
        let wrong = SignInFailure(.password, of: ida.id, from: "192.0.2.7", at: now)
        let held = SignInFailure(
            .password, of: ida.id, from: "192.0.2.7", isHeldBack: true, at: now)
        let nobody = SignInFailure(.password, of: nil, from: nil, at: now)
        #expect(test.failures.all == [wrong, wrong, wrong, wrong, wrong, held, nobody])
        _ = try test.accountUseCases.secondFactors.check(
            SecondFactors.Attempt(code: "123456", client: "192.0.2.8", device: nil), of: ida.id,
            now: now)
        #expect(
            test.failures.all.last == SignInFailure(.code, of: ida.id, from: "192.0.2.8", at: now))
    }

    @Test(
        "Guesses from all over a wide block are counted to it, four times as many to each wider one"
    )
    func wideBlocks() throws {
        let test = try TestAccounts { $0.clientPolicy.free = 2 }
        let ida = try test.user("ida@example.org")
        func origin(_ location: Int, _ floor: Int, _ house: Int) -> NetworkOrigin {
            NetworkOrigin(
                "\(house) \(floor) \(location)/64", within: ["\(house) \(floor)/56", "\(house)/48"])
        }
        func guesses(_ locations: some Sequence<NetworkOrigin>) throws -> Int {
            try locations.enumerated().prefix {
                try test.signIn("nobody\($0.offset)@example.org", "x", from: $0.element) == .wrong
            }.count
        }
        #expect(try guesses((0..<99).map { _ in origin(0, 0, 0) }) == 2)
        #expect(try guesses((0..<99).map { origin($0, 0, 1) }) == 8)
        #expect(try guesses((0..<99).map { origin($0, $0, 2) }) == 32)
        #expect(try guesses((0..<99).map { origin($0, $0, $0 + 10) }) == 99)
        // Who is known there comes in, while strangers of the block wait.
        let stranger = try test.signIn("ida@example.org", "correct horse", from: origin(99, 99, 2))
        #expect(stranger == .wait(seconds: 1))
        let device = test.accountUseCases.devices.cookie(for: ida.id)
        let known = try test.signIn(
            "ida@example.org", "correct horse", from: origin(99, 99, 2), device: device)
        #expect(isIn(known))
    }

    @Test("Addresses with and without an account are locked alike, and others are not")
    func lock() throws {
        let test = try TestAccounts()
        try test.user("ida@example.org")
        try test.user("mo@example.org")
        for address in ["ida@example.org", "no@example.org"] {
            for _ in 0..<5 { #expect(try test.signIn(address, "x", from: "\(address)") == .wrong) }
            #expect(try test.signIn(address, "x", from: "\(address)") == .wait(seconds: 1))
            #expect(
                try test.signIn(address, "correct horse", from: "elsewhere") == .wait(seconds: 1))
        }
        #expect(isIn(try test.signIn("mo@example.org", "correct horse")))
        test.server.now += 1_000
        #expect(isIn(try test.signIn("ida@example.org", "correct horse")))
        // Coming in ends the lock.
        for _ in 0..<5 { #expect(try test.signIn("ida@example.org", "x", from: "b") == .wrong) }
    }

    @Test("Strangers do not lock a browser that its owner has signed in at")
    func device() throws {
        let test = try TestAccounts()
        let ida = try test.user("ida@example.org")
        let mo = try test.user("mo@example.org")
        let cookie = test.accountUseCases.devices.cookie(for: ida.id)
        for _ in 0..<6 { _ = try test.signIn("ida@example.org", "x", from: "stranger") }
        #expect(try test.signIn("ida@example.org", "correct horse") == .wait(seconds: 1))
        #expect(
            try test.signIn("ida@example.org", "correct horse", device: cookie)
                == .signedIn(ida, isNewDevice: false))
        // Another's cookie, and one that was changed, are nothing.
        let others = test.accountUseCases.devices.cookie(for: mo.id)
        let changed = String(cookie.dropLast()) + (cookie.hasSuffix("0") ? "1" : "0")
        for bad in [others, changed, "", "zz", String(cookie.dropLast(2))] {
            #expect(
                try test.signIn("ida@example.org", "correct horse", device: bad)
                    == .wait(seconds: 1), "\(bad)")
        }
    }

    @Test("A password kept at other costs is kept anew when its owner comes in")
    func renewed() throws {
        let old = PasswordHash.Costs(bits: 9, blockSize: 8, parallelism: 1)
        let test = try TestAccounts()
        _ = try Users(catalog: test.catalog, costs: old).create(
            email: "ida@example.org", password: Array("correct horse".utf8), now: 0)
        func kept() throws -> String? {
            try Users(catalog: test.catalog).find(email: "ida@example.org").password
        }
        #expect(try kept()?.hasPrefix("scrypt$9$") == true)
        #expect(try test.signIn("ida@example.org", "wrong") == .wrong)
        #expect(try kept()?.hasPrefix("scrypt$9$") == true)
        #expect(isIn(try test.signIn("ida@example.org", "correct horse")))
        #expect(try kept()?.hasPrefix("scrypt$8$") == true)
        #expect(isIn(try test.signIn("ida@example.org", "correct horse")))
    }

    @Test(
        "A password that is set while the previous one is hashed anew stays, and that one is wrong")
    func renewedTooLate() throws {
        let random = InterruptedRandom()
        let test = try TestAccounts(random: random.source)
        let users = Users(
            catalog: test.catalog, costs: PasswordHash.Costs(bits: 9, blockSize: 8, parallelism: 1))
        _ = try users.create(
            email: "ida@example.org", password: Array("correct horse".utf8), now: 0)
        random.interrupt {
            #expect(throws: Never.self) {
                try users.setPassword(Array("battery staple".utf8), email: "ida@example.org")
            }
        }
        #expect(try test.signIn("ida@example.org", "correct horse") == .wrong)
        // Where it is the same one that was stored meanwhile, it is right.
        random.interrupt {
            #expect(throws: Never.self) {
                try users.setPassword(Array("battery staple".utf8), email: "ida@example.org")
            }
        }
        let outcome = try test.signIn("ida@example.org", "battery staple")
        let stored = try users.find(email: "ida@example.org")
        #expect(outcome == .signedIn(stored, isNewDevice: true))
    }

    @Test("A sign-in with a password that is another one by the end of it comes to nothing")
    func resetMeanwhile() throws {
        let test = try TestAccounts()
        let ida = try test.user("ida@example.org")
        try test.catalog.set(.all, of: ida.id, now: 0)
        guard case .signedIn(let account, _) = try test.signIn("ida@example.org", "correct horse")
        else { throw CatalogRefusal.accountUnknown }
        let (sessions, passwords) = (test.accountUseCases.sessions, test.accountUseCases.passwords)
        try passwords.set(Array("battery staple".utf8), of: ida.id)
        #expect(throws: CatalogRefusal.passwordChanged) {
            try sessions.begin(for: account, device: "Fox", isKept: true, now: test.server.now)
        }
        #expect(throws: CatalogRefusal.passwordChanged) {
            try passwords.set(
                Array("correct horse".utf8), of: ida.id, inPlaceOf: account.password)
        }
        #expect(try sessions.list(ida.id, now: test.server.now).isEmpty)
        #expect(isIn(try test.signIn("ida@example.org", "battery staple")))
    }

    @Test("An operator's sign-in with a password that is another one by the end of it is refused")
    func operatorResetMeanwhile() throws {
        let random = InterruptedRandom()
        let test = try TestAccounts(random: random.source)
        let ida = try test.user("ida@example.org")
        try test.catalog.set(.all, of: ida.id, now: 0)
        let users = Users(catalog: test.catalog, costs: test.server.settings.passwordCosts)
        func begin(_ password: String) throws -> OperatorSessions.Outcome {
            try test.accountUseCases.operatorSessions.begin(
                OperatorSessions.Attempt(
                    address: "ida@example.org", password: Array(password.utf8), code: nil,
                    client: nil), wantsSecondFactor: false, now: test.server.now)
        }
        random.interrupt {
            #expect(throws: Never.self) {
                try users.setPassword(Array("battery staple".utf8), email: "ida@example.org")
            }
        }
        #expect(try begin("correct horse") == .wrong)
        #expect(try test.catalog.browserSessions(.console, .account(ida.id)).isEmpty)
        guard case .signedIn = try begin("battery staple") else {
            Issue.record("the new password is not taken")
            return
        }
    }

    /// The time that this thread has used the processor for.
    private func work(_ body: () throws -> Void) rethrows -> Double {
        func used() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
        }
        let start = used()
        try body()
        return used() - start
    }

    @Test("Refusing an address that nobody has takes as much work as refusing a wrong password")
    func sameWork() throws {
        let test = try TestAccounts {
            $0.passwordCosts = PasswordHash.Costs(bits: 11, blockSize: 8, parallelism: 1)
            $0.accountPolicy.free = 100_000
        }
        for number in 0..<50 { try test.user("user\(number)@example.org") }
        // A difference would show each time; what else a machine does that runs other tests, does not.
        let rounds = try (0..<4).map { _ in try compare(test) }
        // Where nothing else runs, one row more that is read shows in the share: a hundredth of this work, and far less
        // of what a password costs by default.
        let isAlike = rounds.contains { round in
            let difference = abs(round.ratio - 1)
            return difference < 0.02 || difference < 0.1 && (0.35...0.65).contains(round.share)
        }
        #expect(isAlike, "\(rounds)")
    }

    /// How often the refusal of a known address took more than that of an unknown one, and their medians' ratio.
    ///
    /// The share is an even half when nobody can tell them apart.
    private func compare(_ test: TestAccounts) throws -> (share: Double, ratio: Double) {
        var known: [Double] = []
        var unknown: [Double] = []
        for number in 0..<150 {
            // In turns, so that whatever else the machine does happens to both.
            known.append(
                try work { _ = try test.signIn("user\(number % 50)@example.org", "x", from: nil) })
            unknown.append(
                try work { _ = try test.signIn("none\(number % 50)@example.org", "x", from: nil) })
        }
        let more = known.reduce(0) { sum, one in sum + unknown.count { one > $0 } }
        return (
            Double(more) / Double(known.count * unknown.count),
            known.sorted()[75] / unknown.sorted()[75]
        )
    }

    @Test("Looking for a hidden person takes as much work as looking for one who is not there")
    func sameWorkOfDiscovery() throws {
        let test = try TestAccounts()
        for number in 0..<200 {
            try test.user("user\(number)@example.org")
            _ = try test.server.webToken("user\(number)@example.org")
        }
        // A difference would show each time; what else a machine does that runs other tests, does not.
        let ratios = try (0..<4).map { _ in try compareDiscovery(test) }
        #expect(ratios.contains { (0.75...1.33).contains($0) }, "\(ratios)")
    }

    /// The ratio of the medians: one who is hidden to one who is not there.
    private func compareDiscovery(_ test: TestAccounts) throws -> Double {
        let known = try (0..<200).map { try AddressFormat.email("user\($0)@example.org") }
        let unknown = try (0..<200).map { try AddressFormat.email("none\($0)@example.org") }
        var samples: (known: [Double], unknown: [Double]) = ([], [])
        for round in 0..<6 {
            for number in 0..<200 {
                let (first, second) = (known[number], unknown[number])
                let one = try work { () throws in
                    #expect(try test.catalog.discoverable(first, in: test.server.container) == nil)
                }
                let other = try work { () throws in
                    #expect(try test.catalog.discoverable(second, in: test.server.container) == nil)
                }
                // The first rounds only warm caches.
                guard round > 1 else { continue }
                samples.known.append(one)
                samples.unknown.append(other)
            }
        }
        return samples.known.sorted()[400] / samples.unknown.sorted()[400]
    }

    @Test("A browser's session ends with its time, by signing out, and everywhere at once")
    func sessions() throws {
        let test = try TestAccounts()
        let ida = try test.user("ida@example.org")
        let sessions = test.accountUseCases.sessions
        func begin(_ isKept: Bool = false) throws -> String {
            try sessions.begin(for: ida, device: "Fox", isKept: isKept, now: test.server.now)
                .cookie
        }
        let (short, long) = (try begin(), try begin(true))
        #expect(try sessions.find(short, now: test.server.now)?.account == ida)
        #expect(try sessions.find(short, now: test.server.now + 43_200_000) == nil)
        #expect(try sessions.find(long, now: test.server.now + 43_200_000) != nil)
        #expect(try sessions.find(long, now: test.server.now + 2_592_000_000) == nil)
        for bad in [
            nil, "", String(short.dropLast()), short + "0", String(repeating: "0", count: 64),
        ] {
            #expect(try sessions.find(bad, now: test.server.now) == nil)
        }
        let kept = try #require(try sessions.find(long, now: test.server.now))
        let web = try test.server.webToken()
        let api = try test.server.apiToken()
        let query = "ckAPIToken=\(api.token)&ckWebAuthToken=\(web.token)"
        #expect(test.server.identify(query: query).identified != nil)
        try sessions.endAll(of: ida.id, except: kept.session)
        #expect(try sessions.find(short, now: test.server.now) == nil)
        #expect(try sessions.find(long, now: test.server.now) != nil)
        #expect(test.server.identify(query: query).fault?.code == .authenticationRequired)
        try test.accountUseCases.passwords.set(Array("battery staple".utf8), of: ida.id)
        #expect(try sessions.find(long, now: test.server.now) == nil)
        #expect(try test.signIn("ida@example.org", "correct horse") == .wrong)
        #expect(isIn(try test.signIn("ida@example.org", "battery staple")))
    }
}
