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

    private static let realSleep: @Sendable (Double) async throws -> Void = {
        try await Task.sleep(nanoseconds: UInt64($0 * 1e9))
    }

    /// - Parameters:
    ///   - sleep: waits so many seconds; in tests as the test wants it.
    ///   - onBegin: called when telling begins: what has changed until then is not told.
    func notifications(
        by delivery: CKNotificationDelivery,
        sleep: @escaping @Sendable (Double) async throws -> Void = realSleep,
        onBegin: @escaping @Sendable () -> Void = {}
    ) -> AsyncThrowingStream<CKNotification, any Error> {
        let courier = NotificationCourier(
            connection: connection, caller: caller,
            way: delivery == .eventStream ? .eventStream : .longPoll, sleep: sleep,
            onBegin: onBegin)
        return Self.stream { yield in try await courier.run { yield($0) } }
    }

    /// What a sync engine goes by: notifications, and that telling begins.
    func signs() -> AsyncThrowingStream<SyncSign, any Error> {
        let (connection, caller) = (connection, caller)
        return Self.stream { yield in
            var courier = NotificationCourier(
                connection: connection, caller: caller, way: .eventStream, sleep: Self.realSleep)
            courier.onBegin = { yield(.begun) }
            try await courier.run { yield(.told($0)) }
        }
    }

    /// A sequence of what a task yields, which ends with the task and ends it.
    private static func stream<Element: Sendable>(
        _ body: @escaping @Sendable (@escaping @Sendable (Element) -> Void) async throws -> Void
    ) -> AsyncThrowingStream<Element, any Error> {
        let (stream, continuation) = AsyncThrowingStream<Element, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(waitingMax))
        let task = Task {
            do {
                try await body { continuation.yield($0) }
                continuation.finish()
            } catch {
                continuation.finish(throwing: CKError(error))
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }
}
