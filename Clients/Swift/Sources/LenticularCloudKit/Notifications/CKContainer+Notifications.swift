import CloudKitTransport
import Foundation

/// How a server tells a device what its subscriptions have to say.
public enum CKNotificationDelivery: Sendable {
    /// Over one connection that stays; a server without event streams is polled.
    case eventStream
    /// By requests that the server holds until there is something, for networks that break long answers.
    case longPoll
}

// Notifications without Apple's push service; beyond Apple's framework.
extension CKContainer {
    /// What the caller's subscriptions tell this device, as long as somebody reads it.
    ///
    /// Connections that break are made again, and what was missed meanwhile comes then; the same notification comes
    /// once. Changes that this device has made itself are not told. Up to 1,000 notifications wait for a slow reader,
    /// the newest: take each as a sign to fetch.
    ///
    /// ```swift
    /// for try await notification in container.notifications() {
    ///     if let changed = notification as? CKRecordZoneNotification { … }
    /// }
    /// ```
    ///
    /// - Returns: a sequence for one reader. It throws `CKError` where trying again is of no use: `notAuthenticated` when
    ///   nobody is signed in, `unknownItem` for a server that has no notifications. It ends when its task is cancelled.
    public func notifications(
        by delivery: CKNotificationDelivery = .eventStream
    ) -> AsyncThrowingStream<CKNotification, any Error> {
        access.notifications(by: delivery)
    }
}

extension DatabaseAccess {
    /// Notifications that wait for a slow reader.
    private static let waitingMax = 1_000

    /// - Parameter sleep: waits so many seconds; in tests as the test wants it.
    func notifications(
        by delivery: CKNotificationDelivery,
        sleep: @escaping @Sendable (Double) async throws -> Void = {
            try await Task.sleep(nanoseconds: UInt64($0 * 1e9))
        }
    ) -> AsyncThrowingStream<CKNotification, any Error> {
        let (stream, continuation) = AsyncThrowingStream<CKNotification, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(Self.waitingMax))
        let courier = NotificationCourier(
            connection: connection, caller: caller,
            way: delivery == .eventStream ? .eventStream : .longPoll, sleep: sleep)
        let task = Task {
            do {
                try await courier.run { continuation.yield($0) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: CKError(error))
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
