import CloudModel
import Storage
import Synchronization

/// Puts the notices of a page of changes into the outbox.
struct NoticeWriting: Sendable {
    /// How many notices may wait for one destination.
    let waitingMax: Int
    private let bounds = WaitingBounds()

    init(waitingMax: Int) { self.waitingMax = waitingMax }

    /// Writes a piece; the last one in the transaction that notes that the page was dealt with.
    func write(_ page: NoticePage, in transaction: any StoreTransaction) throws {
        let isCurrent = try transaction.subscriptionRevision() == page.revision
        var badges: [DestinationNumber: Int64] = [:]
        var merged: Set<DestinationNumber> = []
        for draft in page.drafts {
            guard
                try isCurrent
                    || transaction.subscription(
                        draft.subscription.id, of: draft.owner) == draft.subscription
            else { continue }
            for destination in draft.destinations {
                guard
                    try isCurrent
                        || transaction.destination(destination.number)?.user
                            == destination.user
                else { continue }
                let badge = try self.badge(for: destination, draft, &badges, transaction)
                let notice = NewNotice(
                    destination: destination.number, identifier: draft.payload.identifier,
                    scope: draft.owner.scope, condition: draft.condition, mergeKey: draft.mergeKey,
                    collapseID: draft.payload.info.collapseID,
                    payload: draft.rendered ?? draft.payload.bytes(badge: badge))
                try put(notice, draft.payload, &merged, in: transaction)
            }
        }
        for webhook in page.webhooks {
            guard try isCurrent || transaction.destination(webhook.number) != nil else { continue }
            for body in page.bodies {
                _ = try transaction.enqueue(
                    NewNotice(
                        destination: webhook.number, identifier: body.identifier,
                        scope: body.scope, payload: body.bytes, trace: body.trace),
                    countedMax: 0)
            }
        }
        for (number, badge) in badges { try transaction.setBadge(badge, of: number) }
        for spent in page.spent {
            try transaction.deleteSubscription(spent.id, of: spent.owner)
        }
        if !page.spent.isEmpty { try ChangeWatch.renew(in: transaction) }
    }

    /// The number that the app's badge should show; nil for a notice that does not count.
    private func badge(
        for destination: StoredDestination, _ draft: NoticeDraft,
        _ badges: inout [DestinationNumber: Int64], _ transaction: any StoreTransaction
    ) throws -> Int64? {
        guard draft.payload.info.countsBadge else { return nil }
        let shown =
            try badges[destination.number] ?? transaction.destination(destination.number)?.badge
            ?? 0
        badges[destination.number] = shown + 1
        return shown + 1
    }

    /// Puts a notice behind the others.
    ///
    /// When too many wait, one notice for each database replaces them all. They are counted only where they
    /// may be too many.
    ///
    /// - Parameter merged: those for whom this transaction has done that: nothing is kept of their counts, since it may
    ///   be undone.
    private func put(
        _ notice: NewNotice, _ payload: NoticePayload, _ merged: inout Set<DestinationNumber>,
        in transaction: any StoreTransaction
    ) throws {
        let destination = notice.destination
        if !merged.contains(destination), bounds.add(to: destination, max: waitingMax) {
            _ = try transaction.enqueue(notice, countedMax: 0)
            return
        }
        let waiting = try transaction.enqueue(notice, countedMax: waitingMax + 1)
        guard waiting > waitingMax else {
            if !merged.contains(destination) { bounds.set(waiting, for: destination) }
            return
        }
        merged.insert(destination)
        bounds.forget(destination)
        let scopes = Set(
            try transaction.notices(for: destination, after: NoticeNumber(0), limit: .max)
                .map(\.scope))
        try transaction.removeNotices(for: notice.destination, through: NoticeNumber(.max))
        for scope in DatabaseScope.allCases where scopes.contains(scope) {
            let merged = NoticePayload(
                container: payload.container, identifier: payload.identifier, user: payload.user,
                subscription: payload.subscription, scope: scope, zone: nil, subject: .merged,
                info: NotificationInfo())
            _ = try transaction.enqueue(
                NewNotice(
                    destination: notice.destination, identifier: payload.identifier, scope: scope,
                    payload: merged.bytes(badge: nil)), countedMax: 0)
        }
    }
}

/// How many notices wait for each destination, at most.
///
/// Only this server puts notices into the outbox, so a count stays a bound: it grows with each notice, and what is
/// sent only makes it too high. A transaction that is undone does no more. Kept while the store is open.
private final class WaitingBounds: Sendable {
    private static let destinationsMax = 65_536

    private let bounds = Mutex<[DestinationNumber: Int]>([:])

    /// Adds one notice where no more than `most` wait then.
    ///
    /// - Returns: false, and nothing is added, where more may wait, or where nobody has counted yet.
    func add(to destination: DestinationNumber, max most: Int) -> Bool {
        bounds.withLock { bounds in
            guard let bound = bounds[destination], bound < most else { return false }
            bounds[destination] = bound + 1
            return true
        }
    }

    func set(_ count: Int, for destination: DestinationNumber) {
        bounds.withLock { bounds in
            if bounds.count >= Self.destinationsMax { bounds = [:] }
            bounds[destination] = count
        }
    }

    func forget(_ destination: DestinationNumber) { bounds.withLock { $0[destination] = nil } }
}
