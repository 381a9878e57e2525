import CloudModel
import Storage

/// A notice of one change, before its destinations are known.
struct NoticeDraft: Sendable {
    let owner: SubscriptionOwner
    let subscription: Subscription
    let payload: NoticePayload
    /// The final payload, when it is the same for all destinations.
    let rendered: [UInt8]?
    let condition: NoticeCondition
    /// Notices of the same subscription and key say the same, so that the later one is enough.
    let mergeKey: [UInt8]?
    /// Who made the change; their device gets no notice.
    let author: ChangeAuthor?
    /// The user's destinations when the change was read, without those that have it already.
    var destinations: [StoredDestination]

    /// Whether a destination is the device that made the change.
    static func isOrigin(_ destination: StoredDestination, of author: ChangeAuthor?) -> Bool {
        guard let author, let device = author.device else { return false }
        return destination.user == author.user && destination.device == device
    }
}

/// The notices that one page of changes leads to.
struct NoticePage: Sendable {
    var drafts: [NoticeDraft] = []
    /// The bodies for webhooks.
    var bodies: [WebhookBody] = []
    /// Subscriptions that should fire once and have fired.
    var spent: Set<SubscriptionKey> = []
    /// The revision of subscriptions and destinations when the page was read.
    var revision: Int64 = 0
    var webhooks: [StoredDestination] = []
    /// How many notices the drafts make, over all destinations.
    var noticeCount = 0

    /// How many notices one transaction writes, while others wait.
    static let noticesPerPieceMax = 1_000

    /// The page in pieces, one for each transaction; webhooks and spent subscriptions come last.
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
struct SubscriptionKey: Hashable, Sendable {
    let owner: SubscriptionOwner
    let id: SubscriptionID
}
