import CloudModel
import Dispatch
import Storage
import Synchronization

/// Hands notices to devices that wait for them at this moment, before anything of them is written.
///
/// What has arrived needs no row of the outbox. After a crash before the page is noted as dealt with, the whole page
/// comes again: then a device hears of a change twice, with the same identifiers, as after any crash.
///
/// A notice with a badge is not handed on: the count is in the store. Nor is one of a subscription that fires once: who
/// hears of it may look, and finds the subscription gone. Nor is one that follows another which the device did not
/// take: each device gets its notices in their order.
struct NoticeHandover {
    /// What no event loop has tried to send by then goes into the outbox (`ServiceLimits.handoverMilliseconds`).
    let waitMilliseconds: Int
    let hasEnded: (StoredDestination) throws -> Bool

    /// The place of one notice in its page.
    private struct Spot: Hashable {
        let draft: Int
        let destination: DestinationNumber
    }

    private static func mayGoFromHandToHand(_ draft: NoticeDraft) -> Bool {
        draft.rendered != nil && !draft.subscription.firesOnce
    }

    /// Blocks until the event loops have tried to send what was handed.
    ///
    /// No client is waited for: what its system does not take at once has not arrived.
    ///
    /// - Returns: the page without what has arrived.
    func hand(_ page: NoticePage, of storage: any Store) throws -> NoticePage {
        let notices = storage.notices
        let areAwaited = page.drafts.map { draft in
            Self.mayGoFromHandToHand(draft)
                && draft.destinations.contains {
                    $0.kind == .courier && notices.takes(at: .destination($0.number))
                }
        }
        guard areAwaited.contains(true) else { return page }
        let mayTell = try rights(to: page, areAwaited, of: storage)
        var left: Set<DestinationNumber> = []
        let arrivals = Arrivals<Spot>()
        for (index, draft) in page.drafts.enumerated() {
            for destination in draft.destinations where !left.contains(destination.number) {
                let spot = Spot(draft: index, destination: destination.number)
                guard destination.kind == .courier, mayTell[index],
                    let payload = draft.rendered, let user = destination.user
                else {
                    left.insert(destination.number)
                    continue
                }
                let handed = HandedNotice(
                    user: user, payload: payload,
                    whenSent: { arrivals.note(spot, hasArrived: $0) })
                arrivals.begin()
                guard !notices.hand(handed, at: .destination(destination.number)) else { continue }
                arrivals.cancel()
                left.insert(destination.number)
            }
        }
        let arrived = arrivals.wait(milliseconds: waitMilliseconds)
        guard !arrived.isEmpty else { return page }
        var rest = page
        for index in rest.drafts.indices {
            rest.drafts[index].destinations.removeAll {
                arrived.contains(Spot(draft: index, destination: $0.number))
            }
        }
        return rest
    }

    /// Whether each draft that somebody waits for may be told to its user, as of now; none where somebody has changed a
    /// subscription or a destination since the page was read.
    private func rights(
        to page: NoticePage, _ areAwaited: [Bool], of storage: any Store
    ) throws -> [Bool] {
        struct Question: Hashable {
            let user: UserRecordName
            let scope: DatabaseScope
            let condition: NoticeCondition
        }
        var sessions: [[UInt8]?: Bool] = [:]
        func isAlive(_ destination: StoredDestination) throws -> Bool {
            if let known = sessions[destination.session] { return known }
            let found = try !hasEnded(destination)
            sessions[destination.session] = found
            return found
        }
        return try storage.read { snapshot in
            guard try snapshot.subscriptionRevision() == page.revision else {
                return page.drafts.map { _ in false }
            }
            var answers: [Question: Bool] = [:]
            return try zip(page.drafts, areAwaited).map { draft, isAwaited in
                guard isAwaited, try draft.destinations.allSatisfy(isAlive) else { return false }
                let question = Question(
                    user: draft.owner.user, scope: draft.owner.scope, condition: draft.condition)
                if let known = answers[question] { return known }
                let found = try NoticeRights.allow(
                    question.scope, question.condition, to: question.user, snapshot)
                answers[question] = found
                return found
            }
        }
    }
}

/// What has been handed on, and what of it has arrived.
private final class Arrivals<Spot: Hashable & Sendable>: Sendable {
    private struct State {
        var openCount = 0
        /// Those of which it is known.
        var told: Set<Spot> = []
        var arrived: Set<Spot> = []
        /// Whether somebody waits for those that are open.
        var isAwaited = false
        /// What arrives from now on counts for nothing.
        var isOver = false
    }

    private let state = Mutex(State())
    private let allThere = DispatchSemaphore(value: 0)

    func begin() { state.withLock { $0.openCount += 1 } }

    func cancel() {
        state.withLock {
            $0.openCount -= 1
            assert($0.openCount >= 0, "what is not handed on had begun")
        }
    }

    func note(_ spot: Spot, hasArrived: Bool) {
        let isLast = state.withLock { state in
            // What arrives after all was said not to arrive in time, and is in the outbox by now.
            guard !state.isOver, state.told.insert(spot).inserted else { return false }
            state.openCount -= 1
            if hasArrived { state.arrived.insert(spot) }
            return state.isAwaited && state.openCount == 0
        }
        if isLast { allThere.signal() }
    }

    func wait(milliseconds: Int) -> Set<Spot> {
        let mustWait = state.withLock { state in
            state.isAwaited = true
            return state.openCount > 0
        }
        // NB: whether all came in time is seen by what has arrived.
        if mustWait { _ = allThere.wait(timeout: .now() + .milliseconds(milliseconds)) }
        return state.withLock { state in
            state.isOver = true
            return state.arrived
        }
    }
}
