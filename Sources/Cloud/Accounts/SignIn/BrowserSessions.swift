import CloudModel
import Cryptography
import Storage

/// Browsers that are signed in to the server's own pages, by what their cookie holds.
package struct BrowserSessions: Sendable {
    /// The account that a cookie stands for.
    package struct SignedIn: Sendable {
        package let account: AccountRecord
        package let session: BrowserSession

        package init(account: AccountRecord, session: BrowserSession) {
            self.account = account
            self.session = session
        }
    }

    private static let cookieBytes = 32
    /// How exactly the last use of a session is known.
    private static let useMilliseconds: Milliseconds = 600_000
    private static let deviceBytesMax = 120

    let catalog: any CatalogStorage
    let random: RandomSource
    let settings: AccountsSettings

    /// Begins a session, which ends after its greatest age however much it is used.
    ///
    /// When the account already has `browserSessionsMax`, the session that was unused for longest
    /// ends.
    /// - Parameter account: as it was read for the sign-in.
    /// - Returns: what the cookie holds, 64 hexadecimal digits, and how long it is good.
    /// - Throws: `accountUnknown`, `passwordChanged`.
    package func begin(
        for account: AccountRecord, device: String, isKept: Bool, now: Milliseconds
    ) throws -> (cookie: String, seconds: Int, session: BrowserSession) {
        let cookie = Hexadecimal.encode(random.bytes(Self.cookieBytes))
        let seconds = isKept ? settings.keptSessionSeconds : settings.sessionSeconds
        let session = BrowserSession(
            hash: Self.hash(cookie), kind: .pages, account: account.id,
            device: String(decoding: device.utf8.prefix(Self.deviceBytesMax), as: UTF8.self),
            madeAt: now, usedAt: now, provedAt: now,
            expiresAt: now + Milliseconds(seconds) * 1_000)
        try catalog.add(
            session, password: account.password, countMax: settings.browserSessionsMax, now: now)
        return (cookie, seconds, session)
    }

    /// The account behind a cookie; nil for a cookie that does not count now.
    package func find(_ cookie: String?, now: Milliseconds) throws -> SignedIn? {
        guard let cookie, cookie.utf8.count == 2 * Self.cookieBytes,
            let session = try catalog.browserSession(.pages, hash: Self.hash(cookie)),
            now < session.expiresAt, let account = try catalog.account(session.account)
        else { return nil }
        if now - session.usedAt > Self.useMilliseconds {
            try catalog.note(BrowserSessionUse(at: now, isProof: false), of: session.hash)
        }
        return SignedIn(account: account, session: session)
    }

    /// Whether the person has signed in recently enough for sensitive changes.
    package func isFresh(_ session: BrowserSession, now: Milliseconds) -> Bool {
        now - session.provedAt < Milliseconds(settings.proofSeconds) * 1_000
    }

    /// Notes that the person has signed in again.
    package func prove(_ session: BrowserSession, now: Milliseconds) throws {
        try catalog.note(BrowserSessionUse(at: now, isProof: true), of: session.hash)
    }

    /// The sessions of an account that can still be used.
    package func list(_ account: AccountID, now: Milliseconds) throws -> [BrowserSession] {
        try catalog.browserSessions(of: account).filter { now < $0.expiresAt }
    }

    /// Signs a browser out.
    package func end(_ session: BrowserSession) throws {
        try catalog.note(nil, of: session.hash)
    }

    /// Signs out one of an account's browsers; does nothing for another's.
    package func end(named name: String, of account: AccountID) throws {
        for session in try catalog.browserSessions(of: account) where session.name == name {
            try catalog.note(nil, of: session.hash)
        }
    }

    /// Signs out everywhere: browsers and apps.
    ///
    /// - Parameter kept: the session that stays; nil for none.
    package func endAll(of account: AccountID, except kept: BrowserSession?) throws {
        try catalog.change(account, by: AccountChange(ended: .all(except: kept?.hash)))
    }

    private static func hash(_ cookie: String) -> [UInt8] { SHA256.digest(Array(cookie.utf8)) }
}

extension BrowserSession {
    /// Names the session on its owner's page; lets nobody in.
    package var name: String { Hexadecimal.encode(hash.prefix(8)) }
}
