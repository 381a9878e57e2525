import CloudModel
import Cryptography
import Storage

/// Signs operators in to their interface: with address, password and second factor.
///
/// Nothing that lets people in to the server's other pages counts here, and their session is none of those.
package struct OperatorSessions: Sendable {
    /// What an operator typed, and where.
    package struct Attempt: Sendable {
        package let address: String
        package let password: [UInt8]
        /// Of their second factor; nil for none.
        package let code: String?
        package let client: NetworkOrigin?

        package init(
            address: String, password: [UInt8], code: String?, client: NetworkOrigin?
        ) {
            self.address = address
            self.password = password
            self.code = code
            self.client = client
        }
    }

    package enum Outcome: Sendable, Equatable {
        /// - Parameter cookie: what the browser keeps, 64 hexadecimal digits.
        case signedIn(cookie: String, seconds: Int)
        /// Address, password or code are not those of an operator.
        case wrong
        /// The password was right, and the second factor is asked for.
        case codeNeeded
        /// The operator has to set up a second factor first, on their account's page.
        case secondFactorMissing
        /// Too many guesses; the next may come in so many seconds.
        case wait(seconds: Int)
        /// There is no memory to compare passwords.
        case unavailable
    }

    /// An operator who is signed in.
    package struct SignedIn: Sendable {
        package let record: OperatorRecord
        package let session: BrowserSession
        /// What a page shows with each request that it is the one that was signed in.
        package let pageSecret: String
    }

    /// However much it is used: a day's work.
    package static let seconds = 36_000
    /// Of one operator.
    private static let countMax = 16
    private static let cookieBytes = 32

    private let catalog: any CatalogStorage
    private let signIn: PasswordSignIn
    private let secondFactors: SecondFactors
    private let random: RandomSource
    private let pageKey: HMACSHA256

    init(
        catalog: any CatalogStorage, signIn: PasswordSignIn, secondFactors: SecondFactors,
        random: RandomSource
    ) throws {
        self.catalog = catalog
        self.signIn = signIn
        self.secondFactors = secondFactors
        self.random = random
        pageKey = HMACSHA256(
            key: try catalog.secret("operator-pages", orStore: random.bytes(32)))
    }

    /// Compares; blocks for as long as a password takes, so never on an event loop.
    ///
    /// Somebody who is no operator is refused like a wrong password.
    ///
    /// - Parameter wantsSecondFactor: false only where everybody is on this machine.
    /// - Throws: what the catalog reports.
    package func begin(
        _ attempt: Attempt, wantsSecondFactor: Bool, now: Milliseconds
    ) throws -> Outcome {
        let outcome = try signIn.run(
            PasswordSignIn.Attempt(
                address: attempt.address, password: attempt.password, client: attempt.client,
                device: nil), now: now)
        let account: AccountRecord
        switch outcome {
        case .wrong: return .wrong
        case .wait(let seconds): return .wait(seconds: seconds)
        case .unavailable: return .unavailable
        case .signedIn(let found, _): account = found
        }
        guard try catalog.operatorRecord(of: account.id) != nil,
            try catalog.ending(of: account.id) == nil
        else { return .wrong }
        if try secondFactors.recoveryLeft(of: account.id) != nil {
            guard let code = attempt.code, !code.isEmpty else { return .codeNeeded }
            let checked = try secondFactors.check(
                SecondFactors.Attempt(code: code, client: attempt.client, device: nil),
                of: account.id, now: now)
            switch checked {
            case .right: break
            case .wrong: return .wrong
            case .wait(let seconds): return .wait(seconds: seconds)
            }
        } else if wantsSecondFactor {
            return .secondFactorMissing
        }
        let cookie = Hexadecimal.encode(random.bytes(Self.cookieBytes))
        do {
            try catalog.add(
                BrowserSession(
                    hash: Self.hash(cookie), kind: .console, account: account.id, device: "",
                    madeAt: now, usedAt: now, provedAt: now,
                    expiresAt: now + Milliseconds(Self.seconds) * 1_000),
                password: account.password, countMax: Self.countMax, now: now)
        } catch CatalogRefusal.operatorUnknown, CatalogRefusal.passwordChanged {
            return .wrong
        }
        return .signedIn(cookie: cookie, seconds: Self.seconds)
    }

    /// The operator behind a cookie; nil for one that does not count now.
    package func find(_ cookie: String, now: Milliseconds) throws -> SignedIn? {
        guard cookie.utf8.count == 2 * Self.cookieBytes,
            let session = try catalog.browserSession(.console, hash: Self.hash(cookie)),
            now < session.expiresAt,
            let record = try catalog.operatorRecord(of: session.account)
        else { return nil }
        return SignedIn(
            record: record, session: session,
            pageSecret: Hexadecimal.encode(pageKey.code(for: Array(cookie.utf8))))
    }

    /// Signs a browser out.
    package func end(_ session: BrowserSession) throws {
        try catalog.note(nil, of: session.hash)
    }

    private static func hash(_ cookie: String) -> [UInt8] { SHA256.digest(Array(cookie.utf8)) }
}
