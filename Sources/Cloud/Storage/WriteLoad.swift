/// The caller that a write counts towards: when many wait, callers take turns.
package struct WriteCaller: Hashable, Sendable {
    package let value: UInt64

    /// - Parameter value: the same for all writes of one caller; two callers may share a value by chance.
    package init(_ value: UInt64) { self.value = value }

    /// Writes that no caller in particular asked for, such as those of commands.
    package static let server = WriteCaller(0)
    /// Work that the store does by itself.
    package static let background = WriteCaller(1)
}

/// What a write costs the others that share the store.
package struct WriteLoad: Sendable {
    /// How many records it may write; an engine that commits several writes at once limits their sum.
    package var cost: Int
    /// About how many bytes it brings; an engine limits by it what waits in memory.
    package var bytes: Int
    /// Whether it only removes; an engine without room (`StorageFailure.full`) may still do it.
    package var frees: Bool
    /// Whose turn it takes; the writes of one caller run in the order in which they were handed in.
    package var caller: WriteCaller

    package init(cost: Int = 1, bytes: Int = 0, frees: Bool = false, caller: WriteCaller = .server)
    {
        self.cost = cost
        self.bytes = bytes
        self.frees = frees
        self.caller = caller
    }
}
