import CloudModel
import Storage

/// A notice that tells of no change, by which somebody finds out whether notices reach a user's devices.
package enum TestNotice {
    /// Stands where a notice of a change names its subscription.
    private static let subscription = "_test"
    private static let title = "Test"

    /// Puts one into the outbox for each destination of a user, in place of an earlier one that still waits.
    ///
    /// - Parameter identifier: tells it from others.
    /// - Returns: the destinations.
    package static func enqueue(
        for user: UserRecordName, of container: ContainerID, identifier: String,
        in transaction: any StoreTransaction
    ) throws -> [StoredDestination] {
        let destinations = try transaction.destinations(of: user)
        guard let subscription = SubscriptionID(subscription) else { return [] }
        var info = NotificationInfo()
        info.title.plain = title
        info.isContentAvailable = true
        let payload = NoticePayload(
            container: container, identifier: identifier, user: user, subscription: subscription,
            scope: .private, zone: nil, subject: .database, info: info)
        for destination in destinations {
            _ = try transaction.enqueue(
                NewNotice(
                    destination: destination.number, identifier: identifier, scope: .private,
                    mergeKey: Array(Self.subscription.utf8),
                    payload: payload.bytes(badge: nil)), countedMax: 0)
        }
        return destinations
    }
}
