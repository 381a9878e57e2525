import CloudModel
import Storage

/// Shows those who decide on a share that somebody asks to take part (rulings.md 50).
///
/// It saves the share's record again, so that it comes up in their feeds. It is queued work, so that a request
/// takes the same time whether it led to a share or not.
enum RequestTelling {
    /// How long the share's change tag stays the same at least, in milliseconds.
    private static let pauseMilliseconds: Milliseconds = 60_000

    /// - Returns: when to try again; nil when there is nothing left to tell.
    static func tell(
        _ number: ShareNumber, _ transaction: any StoreTransaction
    ) throws -> Milliseconds? {
        guard var share = try transaction.share(number), share.ended == nil,
            let zone = try transaction.zone(share.zone), !zone.isDeleted,
            let location = try transaction.location(of: share.record),
            let owner = try ParticipantList(transaction.participants(of: number)).owner?.user,
            try !AccessRequestList(transaction.accessRequests(of: number)).waiting.isEmpty
        else { return nil }
        // A clock that was set back must not hold up the work.
        let now = transaction.now
        if let told = share.requestsToldAt, told <= now, told + pauseMilliseconds > now {
            return told + pauseMilliseconds
        }
        _ = try RecordRewriter(transaction: transaction).rewrite(
            RecordKey(zone: location.zone, name: location.name), in: zone,
            ZoneJSON.identifier(zone.name, owner: owner))
        share.requestsToldAt = now
        try transaction.save(share)
        return nil
    }
}
