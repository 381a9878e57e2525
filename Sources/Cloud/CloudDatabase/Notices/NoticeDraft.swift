import CloudModel
import Storage

/// What is to be told because of one change, before it is known to which destinations.
struct NoticeDraft: Sendable {
    let owner: SubscriptionOwner
    let subscription: Subscription
    let payload: NoticePayload
    /// The payload as it goes out, where it is the same for all destinations.
    let rendered: [UInt8]?
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
    /// For how many destinations the drafts are, all together.
    var noticeCount = 0

    /// What one transaction writes, while others wait.
    static let noticesPerPieceMax = 1_000

    /// The same in pieces, for as many transactions; webhooks and spent subscriptions come last.
    var pieces: [NoticePage] {
        var pieces: [NoticePage] = []
        var piece = NoticePage(revision: revision)
        for draft in drafts {
            if piece.noticeCount + draft.destinations.count > Self.noticesPerPieceMax,
                !piece.drafts.isEmpty
            {
                pieces.append(piece)
                piece = NoticePage(revision: revision)
            }
            piece.drafts.append(draft)
            piece.noticeCount += draft.destinations.count
        }
        (piece.bodies, piece.webhooks, piece.spent) = (bodies, webhooks, spent)
        return pieces + [piece]
    }
}

/// Names a subscription in its store.
struct SubscriptionPlace: Hashable, Sendable {
    let owner: SubscriptionOwner
    let id: SubscriptionID
}
