import Accounts
import CloudModel
import Cryptography
import Dispatch
import Fairness
import HTTP

/// What the operator is told of a page that was asked for.
package struct PageObservation: Sendable {
    package let requestID: String
    /// Which page, never a piece of the address itself.
    package let page: String
    package let status: Int
    package let durationNanoseconds: UInt64
    /// What the machinery reported; nil where all went well.
    package let failure: String?
}

/// Answers the pages for people: `/sign-in`, `/account`, `/share` and what belongs to them.
///
/// Threads of its own make everything, and those who ask take turns. Comparing a password takes
/// long, and must hold up neither event loops nor apps.
package final class PagesResponder: Sendable {
    private static let bodyBytesMax = 65_536

    private let pages: Pages
    private let clock: Clock
    private let isSecure: Bool
    private let observe: @Sendable (PageObservation) -> Void
    private let workers: WorkPool<String>

    /// - Parameters:
    ///   - shares: what share pages know of links; nil where nothing is shared.
    ///   - books: the languages at hand.
    ///   - mark: whose server it is.
    ///   - observe: told of each page; from any thread, must not block.
    package init(
        _ reception: Reception, shares: (any SharedLinks)? = nil, books: Phrasebooks = .english,
        mark: ServiceMark = ServiceMark(name: "Lenticular"), clock: Clock,
        observe: @escaping @Sendable (PageObservation) -> Void
    ) throws {
        pages = try Pages(reception, shares: shares, books: books, mark: mark)
        isSecure = reception.publicBaseURL.hasPrefix("https:")
        self.clock = clock
        self.observe = observe
        var options = WorkOptions()
        // Passwords are compared one at a time; more threads are for pages without one.
        // Half of them may wait for identity providers at a time.
        (options.shortThreads, options.longThreads, options.commitThreads) = (8, 1, 1)
        options.waitingPerPrincipalMax = 32
        options.waitingMax = 1_024
        options.longNanoseconds = .max
        workers = WorkPool(name: "pages", options)
    }

    /// Whether an address is a page's.
    package static func isBelow(_ target: [UInt8]) -> Bool {
        roots.contains { root in
            guard target.starts(with: root) else { return false }
            let next = target.dropFirst(root.count).first
            return next == nil || next == UInt8(ascii: "/") || next == UInt8(ascii: "?")
        }
    }

    private static let roots = ["/sign-in", "/account", "/share", "/favicon.ico"].map {
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
        return .receive(BodyReception(owner: .block(request.client)))
    }

    /// Answers a request; never blocks.
    package func respond(to request: HTTPRequest, reply: HTTPReply) {
        let start = DispatchTime.now().uptimeNanoseconds
        let page = PageRequest(request, isSecure: isSecure, now: clock.now())
        let (observe, mark) = (observe, pages.mark)
        @Sendable func finish(_ answer: PageAnswer, _ name: String, _ failure: String? = nil) {
            var response = answer.response(under: mark)
            response.headers.append(("X-Apple-Request-UUID", request.id))
            // Before the answer, so that who has it finds it noted.
            observe(
                PageObservation(
                    requestID: request.id, page: name, status: response.status,
                    durationNanoseconds: DispatchTime.now().uptimeNanoseconds &- start,
                    failure: failure))
            reply.send(response)
        }
        guard [.get, .head, .post].contains(request.method) else {
            var answer = pages.speaking(to: page) {
                PageAnswer(405, title: Phrase.notHere.text, .nothing)
            }
            answer.headers.append(("Allow", "GET, HEAD, POST"))
            return finish(answer, "none")
        }
        guard request.body.count <= Self.bodyBytesMax else {
            return finish(pages.speaking(to: page) { Self.tooMuch }, "none")
        }
        do {
            try workers.submit(.short, for: page.client ?? "a proxy") { [pages] in
                let (name, work) = pages.find(page)
                do {
                    let answer = try work(page)
                    finish(answer, name, answer.failure)
                } catch {
                    let answer = pages.speaking(to: page) {
                        PageAnswer(500, title: Phrase.failure.text, .nothing)
                    }
                    finish(answer, name, "\(error)")
                }
            }
        } catch {
            var answer = pages.speaking(to: page) {
                PageAnswer(429, title: Phrase.busy.text, .nothing)
            }
            answer.headers.append(("Retry-After", "2"))
            finish(answer, "none")
        }
    }
}
