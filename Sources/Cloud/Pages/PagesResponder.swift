import Accounts
import CloudModel
import Dispatch
import Fairness
import HTTP

/// What the operator is told of a page that was asked for.
package struct PageObservation: Sendable {
    package let requestID: String
    /// Which page, never a piece of the address itself.
    package let page: String
    /// Where on the network the request came from; nil for a proxy that says nothing of its clients.
    package let client: String?
    package let status: Int
    package let durationNanoseconds: UInt64
    /// What the machinery reported; nil where all went well.
    package let failure: String?
}

/// Answers the pages for people: `/sign-in`, `/account`, `/share` and what belongs to them.
///
/// Threads of its own make the pages, and callers take turns. What hashes a password takes long, whether it is
/// right or wrong. It has a lane of its own, with one thread and a short queue that refuses what comes on top,
/// so that guesses cannot hold up event loops, apps or other pages. People at a browser in which they have signed in
/// before have another one: a flood of guesses does not keep them out.
package final class PagesResponder: Sendable {
    private static let bodyBytesMax = 65_536
    /// Requests that wait for their password to be hashed, each for some 0.2 s: one more is told to come again.
    private static let passwordsWaitingMax = 32
    /// Of those, from one widest block of addresses.
    private static let passwordsWaitingPerBlockMax = 4
    /// Requests of people whose browser is known, in a queue of their own; and of one account.
    private static let knownPasswordsWaitingMax = 32
    private static let knownPasswordsWaitingPerAccountMax = 2

    private let pages: Pages
    private let clock: Clock
    private let isSecure: Bool
    private let observe: @Sendable (PageObservation) -> Void
    private let workers: WorkPool<String>
    private let passwords: WorkPool<String>
    private let knownPasswords: WorkPool<AccountID>

    /// - Parameters:
    ///   - shares: what share pages know of links; nil where nothing is shared.
    ///   - books: the languages at hand.
    ///   - mark: whose server it is.
    ///   - clientFolder: where the files of the JavaScript client are, such as `/client/1.0.0`.
    ///   - observe: told of each page; from any thread, must not block.
    package init(
        _ accountUseCases: AccountUseCases, shares: (any SharedLinks)? = nil,
        books: Phrasebooks = .english,
        mark: ServiceMark = ServiceMark(name: "Lenticular"), clientFolder: String = "/client",
        clock: Clock,
        observe: @escaping @Sendable (PageObservation) -> Void
    ) throws {
        pages = try Pages(
            accountUseCases, shares: shares, books: books, mark: mark,
            clientFolder: clientFolder)
        isSecure = accountUseCases.publicBaseURL.hasPrefix("https:")
        self.clock = clock
        self.observe = observe
        var options = WorkOptions()
        // Half of them may wait for identity providers at a time.
        (options.shortThreads, options.longThreads, options.commitThreads) = (8, 1, 1)
        options.waitingPerPrincipalMax = 32
        options.waitingMax = 1_024
        options.longNanoseconds = .max
        workers = WorkPool(name: "pages", options)
        (options.shortThreads, options.waitingMax) = (1, Self.passwordsWaitingMax)
        options.waitingPerPrincipalMax = Self.passwordsWaitingPerBlockMax
        passwords = WorkPool(name: "passwords", options)
        options.waitingMax = Self.knownPasswordsWaitingMax
        options.waitingPerPrincipalMax = Self.knownPasswordsWaitingPerAccountMax
        knownPasswords = WorkPool(name: "known passwords", options)
    }

    /// Whether an address is a page's.
    package static func isBelow(_ target: [UInt8]) -> Bool {
        roots.contains { root in
            guard target.starts(with: root) else { return false }
            let next = target.dropFirst(root.count).first
            return next == nil || next == UInt8(ascii: "/") || next == UInt8(ascii: "?")
        }
    }

    private static let roots = [
        "/sign-in", "/account", "/share", "/share-sheet", "/favicon.ico",
    ].map {
        Array($0.utf8)
    }

    private static var tooMuch: PageAnswer {
        PageAnswer(413, title: Phrase.tooMuch.text, .nothing)
    }

    /// Refuses what is too long for a form before it comes in.
    package func decide(on request: HTTPRequest, reply: HTTPReply) -> BodyDecision {
        if let length = request.headers["content-length"].flatMap({ Int($0) }),
            length > Self.bodyBytesMax
        {
            let page = PageRequest(request, isSecure: isSecure, now: clock.now())
            reply.send(pages.speaking(to: page) { Self.tooMuch }.response(under: pages.mark))
            return .answered
        }
        return .receive(BodyOptions(owner: .block(request.client)))
    }

    /// Answers a request; never blocks.
    package func respond(to request: HTTPRequest, reply: HTTPReply) {
        let start = DispatchTime.now().uptimeNanoseconds
        let page = PageRequest(request, isSecure: isSecure, now: clock.now())
        let (observe, mark) = (observe, pages.mark)
        @Sendable func finish(_ answer: PageAnswer, _ name: String, _ failure: String? = nil) {
            var response = answer.response(under: mark)
            response.headers.append(("X-Apple-Request-UUID", request.id))
            // Before the answer, so that it is noted when the answer arrives.
            observe(
                PageObservation(
                    requestID: request.id, page: name, client: page.client?.blocks[0],
                    status: response.status,
                    durationNanoseconds: DispatchTime.now().uptimeNanoseconds &- start,
                    failure: failure))
            reply.send(response)
        }
        guard [.get, .head, .post].contains(request.method) else {
            var answer = pages.speaking(to: page) {
                PageAnswer(405, title: Phrase.notHere.text, .nothing)
            }
            answer.headers.append(("Allow", "GET, HEAD, POST"))
            return finish(answer, PageName.none.rawValue)
        }
        guard request.body.count <= Self.bodyBytesMax else {
            return finish(pages.speaking(to: page) { Self.tooMuch }, PageName.none.rawValue)
        }
        let found = pages.find(page)
        @Sendable func work() {
            do {
                let answer = try found.work(page)
                finish(answer, found.page.rawValue, answer.failure)
            } catch {
                let answer = pages.speaking(to: page) {
                    PageAnswer(500, title: Phrase.failure.text, .nothing)
                }
                finish(answer, found.page.rawValue, "\(error)")
            }
        }
        if found.isFixed { return work() }
        do throws(WorkRefusal) {
            if found.action?.hashesPassword == true {
                try submitPassword(of: page, work) { [self] in
                    finish(busy(page, $0), found.page.rawValue)
                }
            } else {
                try workers.submit(.short, for: page.client?.blocks[0] ?? Self.proxy, work)
            }
        } catch {
            finish(busy(page, error), found.page.rawValue)
        }
    }

    /// Has a password hashed: at once in line for strangers, for others once a page's thread has seen who they are.
    ///
    /// - Parameter refuse: told of a refusal that comes later.
    private func submitPassword(
        of page: PageRequest, _ work: @escaping @Sendable () -> Void,
        refuse: @escaping @Sendable (WorkRefusal) -> Void
    ) throws(WorkRefusal) {
        let strangers = page.client?.widest ?? Self.proxy
        guard pages.mayBeKnown(page) else {
            return try passwords.submit(.short, for: strangers, work)
        }
        try workers.submit(.short, for: page.client?.blocks[0] ?? Self.proxy) { [self] in
            do throws(WorkRefusal) {
                // NB: who cannot be looked up waits with strangers.
                if let account = try? pages.knownAccount(page) {
                    try knownPasswords.submit(.short, for: account, work)
                } else {
                    try passwords.submit(.short, for: strangers, work)
                }
            } catch {
                refuse(error)
            }
        }
    }

    /// The client that requests count for when a proxy does not name one.
    private static let proxy = "a proxy"

    /// Asks the caller to try again: too many of their requests wait, or too many of all.
    private func busy(_ page: PageRequest, _ refusal: WorkRefusal) -> PageAnswer {
        var answer = pages.speaking(to: page) {
            PageAnswer(
                refusal == .principalIsFull ? 429 : 503, title: Phrase.busy.text, .nothing)
        }
        answer.headers.append(("Retry-After", "\(Self.busySeconds)"))
        return answer
    }

    private static let busySeconds = 5
}
