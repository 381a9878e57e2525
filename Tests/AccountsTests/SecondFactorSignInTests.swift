import Accounts
import CloudModel
import Cryptography
import Dispatch
import Foundation
import Storage
import Synchronization
import Testing

@Suite("The second factor of an account")
struct SecondFactorSignInTests {
    let test: TestAccounts
    let ida: AccountRecord
    let secret: [UInt8]
    let recovery: [String]

    init() throws {
        test = try TestAccounts()
        ida = try test.user("ida@example.org")
        secret = test.accountUseCases.secondFactors.makeSecret()
        let step = TimeCodes.step(at: test.server.now)
        recovery = try #require(
            try test.accountUseCases.secondFactors.set(
                secret: secret, code: TimeCodes(secret: secret).code(ofStep: step), of: ida.id,
                now: test.server.now))
        test.server.now += 90_000
    }

    private var code: String {
        TimeCodes(secret: secret).code(ofStep: TimeCodes.step(at: test.server.now))
    }

    private func check(
        _ code: String, from client: NetworkOrigin? = "here", device: String? = nil
    ) throws -> SecondFactors.Outcome {
        try test.accountUseCases.secondFactors.check(
            SecondFactors.Attempt(code: code, client: client, device: device), of: ida.id,
            now: test.server.now)
    }

    @Test("A code of the app counts once, and so does each recovery code")
    func once() throws {
        #expect(try check(code) == .right(recoveryLeft: nil))
        #expect(try check(code) == .wrong)
        #expect(try check(recovery[3].uppercased()) == .right(recoveryLeft: 9))
        #expect(try check(recovery[3]) == .wrong)
        #expect(try check(recovery[0]) == .right(recoveryLeft: 8))
        #expect(try test.accountUseCases.secondFactors.recoveryLeft(of: ida.id) == 8)
        try test.accountUseCases.secondFactors.remove(of: ida.id)
        #expect(try check(recovery[1]) == .wrong)
    }

    @Test("The secret is kept sealed, and opens for no other account")
    func sealed() throws {
        let kept = try #require(try test.catalog.secondFactor(of: ida.id))
        #expect(!Data(kept.secret).contains(Data(secret)) && kept.recovery.count == 10)
        let mo = try test.user("mo@example.org")
        try test.catalog.set(
            SecondFactor(
                account: mo.id, secret: kept.secret, lastStep: 0, recovery: kept.recovery,
                madeAt: 1))
        #expect(throws: SecretRefusal.notAuthentic) {
            try test.accountUseCases.secondFactors.check(
                SecondFactors.Attempt(code: code, client: nil, device: nil), of: mo.id,
                now: test.server.now)
        }
    }

    @Test("Of 64 who use one code at once, one comes in", arguments: [false, true])
    func race(isRecovery: Bool) throws {
        let open = TestAccounts.patient
        let accountUseCases = try TestAccounts.accountUseCases(over: test.catalog, open)
        let right = Mutex(0)
        let text = isRecovery ? recovery[5] : code
        let (account, now) = (ida.id, test.server.now)
        DispatchQueue.concurrentPerform(iterations: 64) { number in
            let outcome = try? accountUseCases.secondFactors.check(
                SecondFactors.Attempt(code: text, client: "c\(number)", device: nil), of: account,
                now: now)
            if case .right = outcome { right.withLock { $0 += 1 } }
        }
        #expect(right.withLock { $0 } == 1)
    }

    @Test("Ten recovery codes used at once are ten that count")
    func raceOfDifferent() throws {
        let open = TestAccounts.patient
        let accountUseCases = try TestAccounts.accountUseCases(over: test.catalog, open)
        let right = Mutex(0)
        let (account, now, codes) = (ida.id, test.server.now, recovery)
        DispatchQueue.concurrentPerform(iterations: 10) { number in
            let outcome = try? accountUseCases.secondFactors.check(
                SecondFactors.Attempt(code: codes[number], client: nil, device: nil), of: account,
                now: now)
            if case .right = outcome { right.withLock { $0 += 1 } }
        }
        #expect(right.withLock { $0 } == 10)
        #expect(try test.accountUseCases.secondFactors.recoveryLeft(of: account) == 0)
    }

    @Test(
        "Of 10,000 guesses in an hour hardly any is compared, from one address or spread over many",
        arguments: [1, 10_000])
    func guesses(addresses: Int) throws {
        var compared = 0
        let start = test.server.now
        for number in 0..<10_000 {
            test.server.now = start + Milliseconds(number) * 360
            let guess = String(format: "%06d", number * 97 % 1_000_000)
            switch try check(guess, from: "client \(number % addresses)") {
            case .wrong: compared += 1
            case .wait: continue
            case .right: Issue.record("guessed \(guess)")
            }
        }
        // Five at once, then after 1, 2, 4 … 512 seconds and every quarter of an hour.
        #expect((10...20).contains(compared), "\(compared)")
        // At the owner's own browser nobody has guessed.
        let cookie = test.accountUseCases.devices.cookie(for: ida.id)
        #expect(try check(code, from: "home", device: cookie) == .right(recoveryLeft: nil))
    }

    @Test("What one page hands to the next is good in one browser, for one purpose and its time")
    func pageTokens() throws {
        let (pageTokens, now) = (test.accountUseCases.pageTokens, test.server.now)
        let pageToken = pageTokens.make(
            .secondFactor, ["a", "", "é\u{0}"], browser: "fox", seconds: 60, now: now)
        func open(
            _ text: String?, _ purpose: PageTokens.Purpose = .secondFactor,
            in browser: String? = "fox",
            after seconds: Int = 0
        ) -> [String]? {
            pageTokens.open(
                text, purpose, browser: browser, now: now + Milliseconds(seconds) * 1_000)
        }
        #expect(open(pageToken) == ["a", "", "é\u{0}"])
        #expect(open(pageToken, after: 59) != nil && open(pageToken, after: 60) == nil)
        #expect(open(pageToken, .newSecondFactor) == nil)
        #expect(open(pageToken, in: "other") == nil && open(pageToken, in: nil) == nil)
        #expect(open(nil) == nil && open("") == nil && open("!") == nil)
        let bytes = try #require(Base64.decode(pageToken, .urlSafe))
        for location in bytes.indices {
            var changed = bytes
            changed[location] ^= 1
            #expect(open(Base64.encode(changed, .urlSafe)) == nil, "\(location)")
        }
        let spent = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 64) { _ in
            if (try? pageTokens.spend(pageToken, seconds: 60, now: now)) == true {
                spent.withLock { $0 += 1 }
            }
        }
        #expect(spent.withLock { $0 } == 1)
    }
}

extension TestAccounts {
    /// Has nobody wait, so that races are about what is used and not about who may try.
    static let patient: @Sendable (inout AccountsSettings) -> Void = {
        $0.accountPolicy.free = 1_000
        $0.clientPolicy.free = 1_000
    }

    /// Another server's reception over a catalog.
    static func accountUseCases(
        over catalog: any CatalogStorage, _ change: (inout AccountsSettings) -> Void
    ) throws -> AccountUseCases {
        var settings = AccountsSettings()
        change(&settings)
        return try AccountUseCases(
            catalog: catalog, secrets: .forTests(), settings: settings, signUp: .open,
            letterKinds: [.email], publicBaseURL: "https://sync.example")
    }
}
