import CloudModel
import Dispatch
import Foundation
import HTTP
import Storage
import Synchronization
import Testing

@testable import Pages

/// Links that nobody gets to look at until the test says so: a page that asks stands still.
private final class HeldLinks: SharedLinks {
    let asked = DispatchSemaphore(value: 0)
    private let gate = DispatchSemaphore(value: 0)
    private let isOpen = Mutex(true)

    func hold() { isOpen.withLock { $0 = false } }

    func open() {
        isOpen.withLock { $0 = true }
        gate.signal()
    }

    func look(at link: String, as visitor: AccountRecord?) throws -> SharedThing? {
        guard !isOpen.withLock({ $0 }) else { return nil }
        asked.signal()
        _ = gate.wait(timeout: .now() + 60)
        gate.signal()
        return nil
    }

    func join(_ link: String, as visitor: AccountRecord) throws -> Bool { false }
    func ask(for link: String, as visitor: AccountRecord) throws {}
    func sheet(of link: String, as visitor: AccountRecord, change: String?) -> [UInt8]? { nil }
    func usage(of account: AccountRecord) throws -> [AppUsage] { [] }
    func shares(of account: AccountRecord) throws -> [KnownShare] { [] }
}

@Suite("Passwords have a lane of their own")
struct PasswordLaneTests {
    private let links = HeldLinks()
    private let server: PageServer
    private let path = "/share/0abAbCdEfGhIjKlMnOpQrStUv"

    init() throws { server = try PageServer(shares: links) }

    /// Sends a sign-in form with a wrong password from an address, without waiting for the answer.
    private func guess(_ browser: Browser, from client: String) throws -> Arrival {
        let shown = try #require(browser.last)
        let body = "step=sign-in&address=a&password=b&guard=\(shown.guardField ?? "")"
        let cookies = browser.cookies.map { "\($0)=\($1)" }.joined(separator: "; ")
        let arrival = Arrival()
        server.responder.respond(
            to: HTTPRequest(
                id: "", method: .post, target: Array(path.utf8),
                headers: HTTPHeaders([("Host", "sync.example"), ("Cookie", cookies)]),
                body: Array(body.utf8),
                peer: Peer(address: client, isLoopback: false, isTLS: true),
                client: ClientBlock(client), loop: 0),
            reply: HTTPReply { arrival.arrive($0) })
        return arrival
    }

    @Test(
        "While passwords wait for their turn, pages and style sheets come, and one more is refused")
    func lane() throws {
        let browser = Browser(server)
        try browser.get(path)
        links.hold()
        defer { links.open() }
        var waiting = [try guess(browser, from: "192.0.2.1")]
        // The lane's only thread stands still now.
        #expect(links.asked.wait(timeout: .now() + 60) == .success)
        for number in 0..<32 {
            waiting.append(try guess(browser, from: "198.51.100.\(number / 4)"))
        }
        let own = try guess(browser, from: "198.51.100.0").wait()
        #expect(own.status == 429)
        let other = try guess(browser, from: "203.0.113.1").wait()
        #expect(other.status == 503)
        #expect(other.headers.contains { $0.name == "Retry-After" && $0.value == "5" })
        #expect(String(decoding: other.body, as: UTF8.self).contains("The server is busy"))
        #expect(try browser.get("/sign-in/style.css").status == 200)
        #expect(try browser.get("/sign-in").status == 200)
        #expect(try browser.get("/account").status == 303)
        links.open()
        for arrival in waiting { #expect([403, 429].contains(try arrival.wait().status)) }
    }

    @Test(
        "While strangers' guesses fill their lane, who has signed in at a browser before gets in there"
    )
    func known() throws {
        try server.user()
        let known = Browser(server)
        try known.get("/sign-in")
        try known.signIn("/sign-in")
        known.cookies = known.cookies.filter { !$0.key.contains("session") }
        let stranger = Browser(server)
        try stranger.get(path)
        links.hold()
        defer { links.open() }
        var waiting = [try guess(stranger, from: "192.0.2.1")]
        #expect(links.asked.wait(timeout: .now() + 60) == .success)
        for number in 0..<32 {
            waiting.append(try guess(stranger, from: "198.51.100.\(number / 4)"))
        }
        // The right password of somebody whose browser nobody knows has to come again.
        let new = Browser(server)
        try new.get("/sign-in")
        #expect(try new.signIn("/sign-in").status == 503)
        try known.get("/sign-in")
        #expect(try known.signIn("/sign-in").status == 303)
        // A browser is known for its own account alone.
        known.cookies = known.cookies.filter { !$0.key.contains("session") }
        try server.user("ben@example.org")
        try known.get("/sign-in")
        #expect(try known.signIn("/sign-in", "ben@example.org").status == 503)
        links.open()
        for arrival in waiting { _ = try arrival.wait() }
    }

    @Test("A /48 has as many places in the queue as one address")
    func prefixes() throws {
        let browser = Browser(server)
        try browser.get(path)
        links.hold()
        defer { links.open() }
        _ = try guess(browser, from: "192.0.2.1")
        #expect(links.asked.wait(timeout: .now() + 60) == .success)
        for number in 0..<4 { _ = try guess(browser, from: "2001:db8:1:\(number)00::1") }
        #expect(try guess(browser, from: "2001:db8:1:ff::1").wait().status == 429)
    }
}
