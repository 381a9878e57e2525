import CloudModel
import Storage

/// Puts the notices of a page of changes into the outbox.
struct NoticeWriting: Sendable {
    /// How many notices may wait for one destination.
    let waitingMax: Int

    /// Writes a piece; the last one in the transaction that notes that the page was dealt with.
    func write(_ page: NoticePage, in transaction: any StoreTransaction) throws {
        let isCurrent = try transaction.subscriptionRevision() == page.revision
        var badges: [DestinationNumber: Int64] = [:]
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
                    scope: draft.owner.scope, ground: draft.ground, mergeKey: draft.mergeKey,
                    collapseID: draft.payload.info.collapseID,
                    payload: draft.rendered ?? draft.payload.bytes(badge: badge))
                try put(notice, draft.payload, in: transaction)
            }
        }
        for webhook in page.webhooks {
            guard try isCurrent || transaction.destination(webhook.number) != nil else { continue }
            for body in page.bodies {
                _ = try transaction.enqueue(
                    NewNotice(
                        destination: webhook.number, identifier: body.identifier,
                        scope: body.scope, payload: body.bytes), countedMax: 0)
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
    /// When too many wait, one notice for each database replaces them all.
    private func put(
        _ notice: NewNotice, _ payload: NoticePayload, in transaction: any StoreTransaction
    ) throws {
        let waiting = try transaction.enqueue(notice, countedMax: waitingMax + 1)
        guard waiting > waitingMax else { return }
        let scopes = try transaction.waitingScopes(for: notice.destination)
        try transaction.removeNotices(for: notice.destination, through: NoticeNumber(.max))
        for scope in scopes {
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
