/// What one process at a time does in a store.
package enum StoreDuty: String, Sendable {
    /// The queued work whose steps lie outside of transactions.
    case work
    /// To find the notices of changes.
    case notices
    /// To hand notices to senders.
    case outbox
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

    private let checkIn: @Sendable (any StoreTransaction) throws -> Void

    package init(_ checkIn: @escaping @Sendable (any StoreTransaction) throws -> Void) {
        self.checkIn = checkIn
    }

    /// Of a store that no other process has.
    package static let sole = StoreLease { _ in }

    /// - Throws: `Lost`.
    package func check(in transaction: any StoreTransaction) throws { try checkIn(transaction) }
}
