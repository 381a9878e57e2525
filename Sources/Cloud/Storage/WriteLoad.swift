/// Whom a write counts to when many wait: all of them are served in turn.
package struct WriteCaller: Hashable, Sendable {
    package let value: UInt64

    /// - Parameter value: the same for all that one caller sends; by chance two may share one.
    package init(_ value: UInt64) { self.value = value }

    /// Writes that nobody in particular asked for, such as commands.
    package static let server = WriteCaller(0)
    /// Work that the store does by itself.
    package static let background = WriteCaller(1)
}

/// What a write is to the others that it shares the store with.
package struct WriteLoad: Sendable {
    /// How many records it may write: an engine that commits several writes at once bounds them by it.
    package var cost: Int
    /// About how many bytes it brings: an engine bounds by it what waits in memory.
    package var bytes: Int
    /// Whether it only removes: an engine without room (`StorageFailure.full`) may still do it.
    package var frees: Bool
    /// In whose turn it comes; what one caller hands in runs in that order.
    package var caller: WriteCaller

    package init(cost: Int = 1, bytes: Int = 0, frees: Bool = false, caller: WriteCaller = .server)
    {
        self.cost = cost
        self.bytes = bytes
        self.frees = frees
        self.caller = caller
    }
}
