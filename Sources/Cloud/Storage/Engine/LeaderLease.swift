/// The right of this process to do what one process does for all stores, until another process takes it over.
///
/// As with `StoreLease`, a process that was stopped may wake up and go on. So what it writes into the catalog for all names
/// the lease, and is refused where the lease is not the last one any more. What leaves the house before that, such as a
/// letter, may leave once more.
package struct LeaderLease: Equatable, Sendable {
    /// Grows each time that another process takes it over.
    package let number: Int64

    package init(number: Int64) { self.number = number }

    /// Of an engine that one process has to itself.
    package static let sole = LeaderLease(number: 0)
}
