import CloudModel
import Storage

/// Registers where a user's notices go (web-services.md §4.16).
package struct RegisterDestination: Sendable {
    private let destination: NewDestination
    private let other: [UInt8]?
    private let sessions: DestinationSessions
    private let destinationsMax: Int
    private let caller: Caller
    private let storage: any Store

    /// - Parameters:
    ///   - other: the key of the destination that is made when the user has none with the first key; nil to
    ///     make one with the first key.
    ///   - destinationsMax: how many a user may have; of too many go those whose sessions have ended, or else
    ///     the courier that was not used for the longest.
    package init(
        _ destination: NewDestination, orElse other: [UInt8]? = nil,
        sessions: DestinationSessions, destinationsMax: Int, caller: Caller, storage: any Store
    ) {
        self.destination = destination
        self.other = other
        self.sessions = sessions
        self.destinationsMax = destinationsMax
        self.caller = caller
        self.storage = storage
    }

    /// Runs in the next group of the writer.
    ///
    /// - Parameter completion: gets whether the user has a destination with the first key; or `Fault`
    ///   BAD_REQUEST when they have too many destinations. Success means on disk.
    package func run(completion: @escaping @Sendable (Result<Bool, any Error>) -> Void) {
        let registration = self
        storage.write(
            WriteLoad(cost: 1, caller: StoreCaller(caller)),
            { try registration.register(in: $0) }, completion: completion)
    }

    private func register(in transaction: any StoreTransaction) throws -> Bool {
        guard let user = destination.user else { return false }
        let known = try transaction.destination(destination.kind, key: destination.key)
        if known?.user == user {
            _ = try transaction.register(destination)
            return true
        }
        var made = destination
        if let other { made.key = other }
        try makeRoom(for: user, transaction)
        _ = try transaction.register(made)
        return other == nil
    }

    private func makeRoom(
        for user: UserRecordName, _ transaction: any StoreTransaction
    ) throws {
        let all = try transaction.destinations(of: user)
        guard all.count >= destinationsMax else { return }
        let ended = try all.filter(sessions.hasEnded)
        for destination in ended { try transaction.removeDestination(destination.number) }
        guard all.count - ended.count >= destinationsMax else { return }
        let oldest = all.filter { $0.kind == .courier }.min { $0.usedAt < $1.usedAt }
        guard let oldest else {
            throw Fault.limitExceeded(
                "apnsToken: a user has at most \(destinationsMax) devices "
                    + "(limits.destinationsPerUserMax)")
        }
        try transaction.removeDestination(oldest.number)
    }
}
