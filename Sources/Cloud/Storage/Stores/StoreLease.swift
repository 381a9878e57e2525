/// What one process at a time does in a store.
package enum StoreDuty: Hashable, Sendable {
    /// The queued work whose steps lie outside of transactions.
    case work
    /// To find the notices of changes.
    case notices
    /// To hand notices to senders.
    case outbox
    /// To hand a notice to a poll of a courier: until the lease is ended, or for a minute at most.
    case courier(NoticeNumber)
}

/// The right of this process to a duty, until another process takes it over.
///
/// Nobody can tell a process that was stopped from one that has ended. So a process may wake up and go on when another
/// has taken over. Hence each step checks the lease in its own transaction: there it still stands, or nothing is done.
/// What leaves the store between two steps may happen once more.
package struct StoreLease: Sendable {
    /// Another process has taken the duty over.
    package struct Lost: Error, Equatable {
        package init() {}
    }

    package typealias Step = @Sendable (any StoreTransaction) throws -> Void

    private let checkIn: Step
    private let endIn: Step

    /// - Parameter endIn: lets the duty go; nothing for one that this process keeps.
    package init(_ checkIn: @escaping Step, endIn: @escaping Step = { _ in }) {
        self.checkIn = checkIn
        self.endIn = endIn
    }

    /// Of a store that no other process has.
    package static let sole = StoreLease { _ in }

    /// - Throws: `Lost`.
    package func check(in transaction: any StoreTransaction) throws { try checkIn(transaction) }

    /// Lets a notice of a courier go, with the transaction's commit.
    package func end(in transaction: any StoreTransaction) throws { try endIn(transaction) }
}
