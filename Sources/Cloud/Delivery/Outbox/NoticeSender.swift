import CloudModel
import Storage

/// Carries notices to destinations of one kind: webhooks, browsers by Web Push, devices by APNs.
///
/// `OutboxRunner` calls it. It takes what waits from the outbox of each store, hands it over, and
/// notes what became of it. The sender stores nothing. After a crash, a notice may be handed over
/// again, with the same `identifier` (rulings.md 58). So a sender need not remember what it has
/// sent.
///
/// A sender's own queues, connections and back-off towards a service are its business. What concerns one
/// destination is not: after `later` the runner tries that destination again after a growing delay.
package protocol NoticeSender: Sendable {
    /// How many notices of one destination may be under way at a time; 1 keeps their order.
    var noticesAtOncePerDestinationMax: Int { get }

    /// Begins to send a notice, and reports the outcome once, on any thread.
    ///
    /// Called on a thread of the runner's, and must not block. Calling `then` before it returns is fine. An
    /// attempt without an outcome counts as under way for ever, so a sender gives each attempt a deadline.
    func send(
        _ notice: OutgoingNotice, then: @escaping @Sendable (DeliveryOutcome) -> Void)
}

/// One notice with its destination, on its way.
package struct OutgoingNotice: Sendable {
    package let container: ContainerID
    package let environment: Environment
    /// How it is reached is in its `address`; how often it has failed in a row is in `failures`.
    package let destination: StoredDestination
    /// What to send is its `payload`; `identifier` is the same whenever it is sent again.
    package let notice: StoredNotice
    /// The server's clock, in milliseconds since 1970.
    package let now: Milliseconds

    package init(
        container: ContainerID, environment: Environment, destination: StoredDestination,
        notice: StoredNotice, now: Milliseconds
    ) {
        self.container = container
        self.environment = environment
        self.destination = destination
        self.notice = notice
        self.now = now
    }
}

/// What came of an attempt to send a notice.
package enum DeliveryOutcome: Sendable, Equatable {
    /// The destination has it.
    case delivered
    /// It may go well later: the destination waits, and its notices with it.
    ///
    /// - Parameters:
    ///   - reason: for operators; names no secret.
    ///   - seconds: what the destination asked for (`Retry-After`); nil for the runner's own growing delay.
    case later(reason: String, seconds: Int? = nil)
    /// The destination takes nothing any more. It is removed, with everything that waits for it. A
    /// webhook stays; its notices become dead letters one by one.
    case gone(reason: String)
    /// This notice will never be accepted, but others may be: it is given up. A webhook's becomes a dead
    /// letter.
    case refused(reason: String)
}
