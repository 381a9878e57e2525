import Accounts
import CloudModel
import Cryptography
import Dispatch
import Foundation
import HTTP
import SQLiteStorage
import Storage
import Synchronization
import Testing

@testable import Pages

/// The pages over a catalog of their own, without sockets, at a time that tests set.
final class PageServer: Sendable {
    static let container = "iCloud.org.example.Tea"

    let folder: URL
    let catalog: SQLiteCatalog
    let responder: PagesResponder
    let accountUseCases: AccountUseCases
    let settings: AccountsSettings
    let authenticator: Authenticator
    let container: ContainerID
    let clock: PageClock
    let log: PageLog
    let noted = NotedActions()
    private let books: Phrasebooks

    init(
        signUp: SignUpMode = .open, letterKinds: Set<Address.Kind> = [.email],
        base: String = "https://sync.example", fetch: (any ProviderFetch)? = nil,
        shares: (any SharedLinks)? = nil, books: Phrasebooks = .english,
        mark: ServiceMark = ServiceMark(name: "Elm & Sync"), processCount: Int = 1,
        random: RandomSource = .system,
        _ change: (inout AccountsSettings) -> Void = { _ in }
    ) throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "pages-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        catalog = try SQLiteCatalog(path: folder.appending(path: "catalog.sqlite").path) { _ in }
        var settings = AccountsSettings()
        settings.passwordCosts = PasswordHash.Costs(bits: 8, blockSize: 8, parallelism: 1)
        change(&settings)
        self.settings = settings
        accountUseCases = try AccountUseCases(
            catalog: catalog, random: random, secrets: .forTests(), settings: settings,
            signUp: signUp, letterKinds: letterKinds,
            publicBaseURL: base, processCount: { processCount },
            note: { [noted] what, _, _ in noted.add(what) },
            fetch: fetch)
        authenticator = try Authenticator(
            catalog: catalog, settings: settings, publicBaseURL: base, report: { _ in })
        container = try Containers(catalog: catalog).create(Self.container, now: 0).id
        let clock = PageClock()
        self.clock = clock
        let seen = PageLog()
        log = seen
        self.books = books
        responder = try PagesResponder(
            accountUseCases, shares: shares, books: books, mark: mark, clock: Clock { clock.now }
        ) { seen.add($0) }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    var now: Milliseconds { clock.now }

    @discardableResult
    func user(
        _ email: String = "ida@example.org", given: String? = "Ida",
        password: String = "correct horse"
    ) throws -> AccountRecord {
        try Users(catalog: catalog, costs: settings.passwordCosts).create(
            email: email, givenName: given, familyName: "Roe", password: Array(password.utf8),
            now: now)
    }

    func apiToken(
        origins: [String] = [], callback: String? = nil, name: String? = nil
    ) throws -> APITokens.Created {
        try APITokens(catalog: catalog).create(
            container: container, environment: .development, name: name, origins: origins,
            callback: callback, now: now)
    }

    /// The path of the sign-in address that a request without a user is answered with.
    func signInPath(
        _ token: APITokens.Created, origin: String? = "https://app.example", query: String = ""
    ) throws -> String {
        let fault = authenticator.authenticationRequired(
            for: token.record, origin: origin, now: now)
        let url = try #require(fault.redirectURL)
        return String(url.dropFirst("https://sync.example".count)) + query
    }

    /// Who is behind a web token.
    func caller(_ token: String, _ api: APITokens.Created) -> Caller? {
        let target = "/database/1/x?ckAPIToken=\(api.token)&ckWebAuthToken=\(token)"
        let found = authenticator.identify(
            Credentials(query: QueryString(target: Array(target.utf8))), container: container,
            environment: .development, now: now)
        return try? found.result.get().caller
    }

    /// What the letters that are due say, and to whom.
    func letters() throws -> [(address: String, text: LetterText)] {
        let compose = LetterTexts.compose(
            base: "https://sync.example", books: books, service: "Elm & Sync")
        let due = try Address.Kind.allCases.flatMap {
            try catalog.dueLetters(to: $0, now: now, countMax: 100)
        }
        return try due.compactMap { letter in
            defer { try? catalog.deleteLetter(letter.number, by: .sole) }
            return try accountUseCases.letters.contents(of: letter, now: now).map {
                (letter.address.text, compose($0, letter))
            }
        }
    }
}

extension SealedSecrets {
    static func forTests() throws -> SealedSecrets {
        try #require(SealedSecrets(keys: [[UInt8](repeating: 7, count: 32)], random: .system))
    }
}

/// What somebody did to their own account, as it was noted.
final class NotedActions: Sendable {
    private let noted = Mutex<[String]>([])

    func add(_ what: String) { noted.withLock { $0.append(what) } }

    var all: [String] { noted.withLock { $0 } }
}

final class PageClock: Sendable {
    private let moment = Mutex<Milliseconds>(1_767_225_600_000)

    var now: Milliseconds { moment.withLock { $0 } }

    func advance(_ milliseconds: Milliseconds) { moment.withLock { $0 += milliseconds } }
}

/// An answer that another thread hands in.
final class Arrival: Sendable {
    private let response = Mutex<HTTPResponse?>(nil)
    private let arrived = DispatchSemaphore(value: 0)

    func arrive(_ response: HTTPResponse) {
        self.response.withLock { $0 = response }
        arrived.signal()
    }

    /// - Throws: when nothing has come after a minute, which means that nothing will.
    func wait() throws -> HTTPResponse {
        guard arrived.wait(timeout: .now() + 60) == .success,
            let response = response.withLock({ $0 })
        else { throw CancellationError() }
        return response
    }
}

final class PageLog: Sendable {
    private let seen = Mutex<[PageObservation]>([])

    func add(_ page: PageObservation) { seen.withLock { $0.append(page) } }

    var all: [PageObservation] { seen.withLock { $0 } }
}

/// A page as a browser got it.
struct Shown {
    let status: Int
    let text: String
    let headers: [(name: String, value: String)]

    func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// The part of the page between a heading and the next one of its kind.
    func part(_ heading: String) -> Substring {
        guard let start = text.range(of: "<h2>\(heading)</h2>") else { return "" }
        let rest = text[start.upperBound...]
        return rest[..<(rest.range(of: "<h2>")?.lowerBound ?? rest.endIndex)]
    }

    /// What the browser calls the page.
    var title: String {
        text.split(separator: "<title>").last?.split(separator: "</title>").first
            .map(String.init) ?? ""
    }

    /// How many elements want the focus.
    var focusCount: Int { text.ranges(of: " autofocus").count }

    /// The value of an attribute, as the browser reads it.
    func attribute(_ name: String) -> String? {
        guard let start = text.range(of: "\(name)=\"") else { return nil }
        return String(text[start.upperBound...].prefix { $0 != "\"" }).replacing("&amp;", with: "&")
    }
}

/// A browser without scripts: keeps cookies, and sends the forms that it was shown.
final class Browser {
    private let server: PageServer
    private var responder: PagesResponder
    var cookies: [String: String] = [:]
    private(set) var last: Shown?
    var client = "192.0.2.7"
    var agent = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"

    init(_ server: PageServer) {
        self.server = server
        responder = server.responder
    }

    /// Has the cookies of another browser, too.
    func take(_ others: [String: String]) { cookies.merge(others) { $1 } }

    /// Does something at another server over the same catalog.
    func through<Outcome>(
        _ other: PagesResponder, _ body: (Browser) throws -> Outcome
    ) rethrows -> Outcome {
        responder = other
        defer { responder = server.responder }
        return try body(self)
    }

    @discardableResult
    func get(_ path: String) throws -> Shown { try send(path, method: .get) }

    /// Sends the form of the page that was shown last.
    @discardableResult
    func post(
        _ path: String, _ fields: [String: String],
        headers: [(name: String, value: String)] = []
    ) throws -> Shown {
        var fields = fields
        if fields["guard"] == nil, let shown = last {
            fields["guard"] = shown.guardField ?? ""
        }
        let body = fields.map { "\(Self.encoded($0))=\(Self.encoded($1))" }
            .joined(separator: "&")
        return try send(path, method: .post, body: Array(body.utf8), headers: headers)
    }

    func send(
        _ path: String, method: HTTPRequest.Method, body: [UInt8] = [],
        headers: [(name: String, value: String)] = []
    ) throws -> Shown {
        var fields = headers + [("User-Agent", agent), ("Host", "sync.example")]
        if !cookies.isEmpty {
            fields.append(
                ("Cookie", cookies.map { "\($0)=\($1)" }.joined(separator: "; ")))
        }
        let arrival = Arrival()
        let request = HTTPRequest(
            id: UUID().uuidString.lowercased(), method: method, target: Array(path.utf8),
            headers: HTTPHeaders(fields), body: body,
            peer: Peer(address: client, isLoopback: false, isTLS: true),
            client: ClientBlock(client), loop: 0)
        responder.respond(
            to: request,
            reply: HTTPReply { arrival.arrive($0) })
        let response = try arrival.wait()
        let shown = Shown(
            status: response.status, text: String(decoding: response.body, as: UTF8.self),
            headers: response.headers)
        // Markup that was put in as if it were text.
        #expect(!shown.text.contains("Markup(") && !shown.text.contains("&lt;ul"), "\(path)")
        for (name, value) in response.headers where name == "Set-Cookie" { keep(value) }
        if response.status != 303 { last = shown }
        return shown
    }

    private func keep(_ field: String) {
        let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
        let isRemoved = field.contains("Max-Age=0")
        cookies[String(pair[0])] = isRemoved || pair.count < 2 ? nil : String(pair[1])
    }

    /// Signs in on the page that is shown.
    @discardableResult
    func signIn(
        _ path: String, _ address: String = "ida@example.org", _ password: String = "correct horse",
        keep: Bool = false
    ) throws -> Shown {
        var fields = ["step": "sign-in", "address": address, "password": password]
        if keep { fields["keep"] = "1" }
        return try post(path, fields)
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

extension Shown {
    /// What its forms hold to show that they are ours.
    var guardField: String? {
        guard let start = text.range(of: "name=\"guard\" value=\"") else { return nil }
        return String(text[start.upperBound...].prefix { $0 != "\"" })
    }
}
