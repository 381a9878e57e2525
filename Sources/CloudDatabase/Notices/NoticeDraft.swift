import CloudModel
import Storage

/// What is to be told because of one change, before it is known to which destinations.
struct NoticeDraft: Sendable {
    let owner: SubscriptionOwner
    let subscription: Subscription
    let payload: NoticePayload
    let ground: NoticeGround
    /// Notices of the same subscription and key say the same: the later one is enough.
    let mergeKey: [UInt8]?
    /// Whose device is not told.
    let author: ChangeAuthor?
    /// The user's, as they were when the change was read.
    let destinations: [StoredDestination]

    /// Whether a destination is the device that made the change.
    static func isOrigin(_ destination: StoredDestination, of author: ChangeAuthor?) -> Bool {
        guard let author, let device = author.device else { return false }
        return destination.user == author.user && destination.device == device
    }
}

/// What one page of changes comes to.
struct NoticePage: Sendable {
    var drafts: [NoticeDraft] = []
    /// What webhooks are told.
    var bodies: [WebhookBody] = []
    /// Subscriptions that have fired and were to fire once.
    var spent: Set<SubscriptionPlace> = []
    /// Of subscriptions and destinations, as they were when the page was read.
    var revision: Int64 = 0
    var webhooks: [StoredDestination] = []
}

/// Names a subscription in its store.
struct SubscriptionPlace: Hashable, Sendable {
    let owner: SubscriptionOwner
    let id: SubscriptionID
}
