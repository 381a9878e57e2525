/// Whom a write counts to when many wait: groups are filled from all of them in turn.
package struct WriteCaller: Hashable, Sendable {
    package let value: UInt64

    /// - Parameter value: the same for all that one caller sends; by chance two may share one.
    package init(_ value: UInt64) { self.value = value }

    /// Writes that nobody in particular asked for, such as commands.
    package static let server = WriteCaller(0)
    /// Work that the store does by itself.
    package static let background = WriteCaller(1)
}

/// What a write is to the others that it shares groups and the disk with.
package struct WriteLoad: Sendable {
    /// How many records it may write, to bound a group.
    package var cost: Int
    /// About how many bytes it brings, to bound a group and what waits in memory.
    package var bytes: Int
    /// Whether it only removes, and may run while the disk is full.
    package var frees: Bool
    package var caller: WriteCaller

    package init(cost: Int = 1, bytes: Int = 0, frees: Bool = false, caller: WriteCaller = .server)
    {
        self.cost = cost
        self.bytes = bytes
        self.frees = frees
        self.caller = caller
    }
}
