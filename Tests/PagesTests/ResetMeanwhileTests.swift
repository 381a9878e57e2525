import Accounts
import CloudModel
import Cryptography
import Storage
import Synchronization
import Testing

@testable import Pages

/// Randomness before which something else happens, once.
private final class InterruptedRandom: Sendable {
    private let interruption = Mutex<(bytes: Int, body: @Sendable () -> Void)?>(nil)

    /// Has something happen before so many bytes are made.
    func interrupt(before bytes: Int, _ body: @escaping @Sendable () -> Void) {
        interruption.withLock { $0 = (bytes, body) }
    }

    var source: RandomSource {
        RandomSource { [self] count in
            let body = interruption.withLock { interruption -> (@Sendable () -> Void)? in
                guard let next = interruption, next.bytes == count else { return nil }
                interruption = nil
                return next.body
            }
            body?()
            return RandomSource.system.bytes(count)
        }
    }
}

@Suite("A password that is set while somebody signs in with the previous one")
struct ResetMeanwhileTests {
    private static let cookieBytes = 32
    private static let webTokenBytes = 52

    private let random = InterruptedRandom()
    private let server: PageServer
    private let browser: Browser
    private let ida: AccountID

    init() throws {
        server = try PageServer(random: random.source)
        browser = Browser(server)
        ida = try server.user().id
    }

    /// Sets the password, and ends all sessions, before the next secret of a length is made.
    private func reset(before bytes: Int) {
        let (passwords, ida) = (server.accountUseCases.passwords, ida)
        random.interrupt(before: bytes) {
            #expect(throws: Never.self) {
                try passwords.set(Array("battery staple".utf8), of: ida)
            }
        }
    }

    private func sessions() throws -> [BrowserSession] {
        try server.accountUseCases.sessions.list(ida, now: server.now)
    }

    @Test("The sign-in begins no session, and takes no deletion of the account back")
    func signIn() throws {
        try server.accountUseCases.endings.ask(for: ida, publicRecords: .keep, now: server.now)
        try browser.get("/sign-in")
        reset(before: Self.cookieBytes)
        let refused = try browser.signIn("/sign-in")
        #expect(refused.status == 403 && refused.text.contains(Phrase.tookTooLong.text))
        #expect(try sessions().isEmpty)
        #expect(try server.catalog.ending(of: ida) != nil)
        #expect(try browser.signIn("/sign-in", "ida@example.org", "battery staple").status == 303)
        #expect(try sessions().count == 1 && server.catalog.ending(of: ida) == nil)
    }

    @Test("An app that is let in by a session that ends gets no token")
    func app() throws {
        let api = try server.apiToken(origins: ["https://app.example"])
        let path = try server.signInPath(api)
        try browser.get(path)
        try browser.signIn(path)
        try browser.get(path)
        reset(before: Self.webTokenBytes)
        let sent = try browser.post(path, ["step": "continue"])
        #expect(sent.status == 303 && sent.header("Location") == path)
        #expect(try browser.get(path).text.contains("name=\"password\""))
        let tokens = try server.catalog.webSessions(
            .account(ida), livingAt: server.now, ListRequest())
        #expect(try tokens.items.isEmpty && sessions().isEmpty)
    }

    @Test("A change of the password by the previous one changes nothing")
    func change() throws {
        try browser.get("/sign-in")
        try browser.signIn("/sign-in")
        try browser.get("/account")
        reset(before: 16)
        let refused = try browser.post(
            "/account",
            ["do": "password", "present": "correct horse", "password": "horse of another"])
        #expect(refused.status == 403 && refused.text.contains(Phrase.presentWrong.text))
        let other = Browser(server)
        try other.get("/sign-in")
        #expect(try other.signIn("/sign-in", "ida@example.org", "battery staple").status == 303)
    }
}
