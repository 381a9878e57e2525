import CloudModel
import Storage

/// Who follows which feed page after page, and which pages lie ready for them or are being made.
///
/// Decides alone whether the next page is made before it is asked for. A follower is known by the question that
/// they will foreseeably ask next. Whoever has asked as foreseen gets the page behind that one made ahead.
struct FeedFollowers {
    typealias Mark = CommitNotices.Mark

    /// How much may lie ready, or be in the making.
    struct Limits {
        /// Followers in all; one more takes the place of the one who has not asked for the longest.
        var countMax: Int
        var perCallerMax: Int
        /// Bytes of pages in all; 0 for none.
        var bytesMax: Int
        var bytesPerCallerMax: Int

        init(_ limits: ServiceLimits) {
            countMax = limits.pagesAheadMax
            perCallerMax = limits.pagesAheadPerUserMax
            bytesMax = limits.pagesAheadBytesMax
            bytesPerCallerMax = limits.pagesAheadBytesPerUserMax
        }
    }

    /// A page to be made ahead.
    struct Order: Sendable {
        let question: Question
        let body: [UInt8]
        fileprivate let number: UInt64
    }

    /// What there is for who asks.
    enum Found {
        case nothing
        case page(FeedAnswer)
        /// It is being made; whoever makes it answers the request.
        case soon
    }

    private enum Stage {
        case ordered
        case making(Mark, StopSignal)
        case made(FeedAnswer, Mark, at: UInt64)
    }

    private struct Page {
        let number: UInt64
        var stage: Stage
        /// What it takes, or foreseeably will.
        var bytes: Int
    }

    private struct Follower {
        let caller: Principal
        var page: Page?
        var usedAt: UInt64
        var patience = Patience()
        var trial: Trial
    }

    private let limits: Limits
    private(set) var counts = PagesAheadCounts()
    private var followers: [Question: Follower] = [:]
    private var bytes = 0
    private var bytesOfCallers: [Principal: Int] = [:]
    private var lastNumber: UInt64 = 0
    /// Who waits for a page that is being made, by its number; only its end takes them out.
    private var waiting: [UInt64: RequestContext] = [:]
    /// Whether the last follower who has tried it gains by it.
    private var outcome: (gains: Bool, at: UInt64)?

    /// A follower who asks for nothing is forgotten after so long.
    private static let followerNanosecondsMax: UInt64 = 30_000_000_000

    /// So long new followers do what was found to be faster, and do not try.
    private static let gainNanosecondsMax: UInt64 = 10_000_000_000
    /// A loss holds for less: on a machine that was at rest, the first pages made ahead are slow.
    private static let lossNanosecondsMax: UInt64 = 1_000_000_000

    init(_ limits: Limits) { self.limits = limits }

    var isEmpty: Bool { followers.isEmpty }

    // MARK: - Asking

    /// Finds what has been made for a question; a page is handed out once.
    ///
    /// - Parameters:
    ///   - mark: from before the look that the answer would need.
    ///   - request: who waits for a page that is being made.
    mutating func take(
        _ question: Question, since mark: Mark, _ request: RequestContext, now: UInt64
    ) -> Found {
        guard let page = followers[question]?.page else { return .nothing }
        switch page.stage {
        case .made(let answer, mark, let madeAt)
        where now &- madeAt < SharedAnswers.nanosecondsMax:
            removePage(of: question)
            followers[question]?.patience.noteUse()
            counts.used += 1
            return .page(answer)
        case .making(mark, _):
            // Who asks the same twice at a time has the other one made.
            guard waiting[page.number] == nil else { return .nothing }
            waiting[page.number] = request
            return .soon
        case .ordered, .made, .making:
            waste(question)
            return .nothing
        }
    }

    /// Takes note of an answer, and decides whether the page behind it is made ahead.
    ///
    /// - Parameters:
    ///   - next: what is foreseeably asked next; nil where that is not known.
    ///   - answer: of `question`.
    mutating func note(
        _ answer: FeedAnswer, to question: Question, next: [UInt8]?, of caller: Principal,
        now: UInt64
    ) -> Order? {
        if let page = followers[question]?.page {
            // Whoever waits for it goes on from there.
            guard waiting[page.number] == nil else { return nil }
            waste(question)
        }
        let known = followers.removeValue(forKey: question)
        guard let next, limits.perCallerMax > 0 else { return nil }
        let foreseen = question.asking(next)
        guard followers[foreseen] == nil else { return nil }
        var follower =
            known ?? Follower(caller: caller, usedAt: now, trial: trial(now: now))
        if known == nil {
            makeRoom(for: caller)
        } else if let gains = follower.trial.note(nanoseconds: now &- follower.usedAt) {
            outcome = (gains, now)
        }
        follower.usedAt = now
        guard known != nil, follower.trial.isAhead, follower.patience.takesPage(),
            fits(answer.body.count, caller)
        else {
            followers[foreseen] = follower
            return nil
        }
        lastNumber += 1
        counts.underWay += 1
        follower.page = Page(number: lastNumber, stage: .ordered, bytes: 0)
        followers[foreseen] = follower
        setBytes(answer.body.count, of: foreseen)
        return Order(question: foreseen, body: next, number: lastNumber)
    }

    /// Of a new follower.
    private func trial(now: UInt64) -> Trial {
        let isKnown =
            outcome.map {
                now &- $0.at < ($0.gains ? Self.gainNanosecondsMax : Self.lossNanosecondsMax)
            } ?? false
        return Trial(startsAhead: outcome?.gains ?? true, isKnown: isKnown)
    }

    // MARK: - Making

    /// - Parameter mark: from before the look that makes the page.
    /// - Returns: false where nobody wants it any more.
    mutating func begin(_ order: Order, since mark: Mark, _ stop: StopSignal) -> Bool {
        guard case .ordered? = page(of: order)?.stage else {
            counts.underWay -= 1
            return false
        }
        followers[order.question]?.page?.stage = .making(mark, stop)
        return true
    }

    /// Takes note of a page that was made, or could not be.
    ///
    /// - Returns: who waits for it.
    mutating func end(_ order: Order, _ answer: FeedAnswer?, now: UInt64) -> RequestContext? {
        counts.underWay -= 1
        if answer != nil { counts.made += 1 }
        let asked = waiting.removeValue(forKey: order.number)
        if answer != nil, asked != nil { counts.used += 1 }
        guard case .making(let mark, _)? = page(of: order)?.stage else { return asked }
        if let asked {
            removePage(of: order.question)
            if answer == nil {
                followers[order.question]?.patience.noteWaste()
            } else {
                followers[order.question]?.patience.noteUse()
            }
            return asked
        }
        guard let answer else {
            waste(order.question)
            return nil
        }
        setBytes(answer.body.count, of: order.question)
        let caller = followers[order.question]?.caller
        guard bytes <= limits.bytesMax,
            caller.map({ bytesOfCallers[$0, default: 0] <= limits.bytesPerCallerMax }) ?? false
        else {
            waste(order.question)
            return nil
        }
        followers[order.question]?.page?.stage = .made(answer, mark, at: now)
        return nil
    }

    /// Takes back an order that nobody will see to.
    mutating func cancel(_ order: Order) {
        counts.underWay -= 1
        guard page(of: order) != nil else { return }
        removePage(of: order.question)
    }

    // MARK: - Forgetting

    /// Lets go of what nobody has asked for in time.
    mutating func forget(now: UInt64) {
        for (question, follower) in followers {
            if case .made(_, _, let madeAt)? = follower.page?.stage,
                now &- madeAt >= SharedAnswers.nanosecondsMax
            {
                waste(question)
            }
            if followers[question]?.page == nil,
                now &- follower.usedAt >= Self.followerNanosecondsMax
            {
                followers[question] = nil
            }
        }
    }

    private mutating func makeRoom(for caller: Principal) {
        var (ownCount, oldest, oldestOwn): (Int, Question?, Question?) = (0, nil, nil)
        var (oldestAt, oldestOwnAt): (UInt64, UInt64) = (.max, .max)
        for (question, follower) in followers {
            if follower.usedAt < oldestAt { (oldest, oldestAt) = (question, follower.usedAt) }
            guard follower.caller == caller else { continue }
            ownCount += 1
            if follower.usedAt < oldestOwnAt {
                (oldestOwn, oldestOwnAt) = (question, follower.usedAt)
            }
        }
        if ownCount >= limits.perCallerMax, let oldestOwn {
            remove(oldestOwn)
        } else if followers.count >= limits.countMax, let oldest {
            remove(oldest)
        }
    }

    private mutating func remove(_ question: Question) {
        waste(question)
        followers[question] = nil
    }

    // MARK: - Pages

    private func page(of order: Order) -> Page? {
        guard let page = followers[order.question]?.page, page.number == order.number else {
            return nil
        }
        return page
    }

    /// Removes a page; it was made in vain unless somebody waits for it.
    private mutating func waste(_ question: Question) {
        guard let page = followers[question]?.page else { return }
        removePage(of: question)
        guard waiting[page.number] == nil else { return }
        if case .making(_, let stop) = page.stage { stop.stop(.abandoned) }
        counts.wasted += 1
        followers[question]?.patience.noteWaste()
    }

    private mutating func removePage(of question: Question) {
        setBytes(0, of: question)
        followers[question]?.page = nil
    }

    private func fits(_ more: Int, _ caller: Principal) -> Bool {
        bytes + more <= limits.bytesMax
            && bytesOfCallers[caller, default: 0] + more <= limits.bytesPerCallerMax
    }

    private mutating func setBytes(_ count: Int, of question: Question) {
        guard let follower = followers[question], let page = follower.page else { return }
        followers[question]?.page?.bytes = count
        bytes += count - page.bytes
        let own = bytesOfCallers[follower.caller, default: 0] + count - page.bytes
        bytesOfCallers[follower.caller] = own > 0 ? own : nil
    }
}

/// What became of pages that were made before somebody asked for them.
package struct PagesAheadCounts: Sendable, Equatable {
    /// Are being made, or about to be.
    package var underWay = 0
    package var made = 0
    /// Answered with.
    package var used = 0
    /// Asked for by nobody in time, or not begun when somebody did.
    package var wasted = 0

    package init() {}
}
