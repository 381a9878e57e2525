import CloudModel

/// What a write costs the others that share the store.
package struct WriteLoad: Sendable {
    /// How many records it may write; an engine that commits several writes at once limits their sum.
    package var cost: Int
    /// About how many bytes it brings; an engine limits by it what waits in memory.
    package var bytes: Int
    /// Whether it only removes; an engine without room (`StorageFailure.full`) may still do it.
    package var frees: Bool
    /// Whose turn it takes; the writes of one caller run in the order in which they were handed in.
    package var caller: StoreCaller
    /// Who makes its changes, as followers are told; nil for the server itself.
    package var author: ChangeAuthor?
    /// What it will ask for; called only by an engine that fetches it.
    package var needs: @Sendable () -> StoreNeeds

    package init(
        cost: Int = 1, bytes: Int = 0, frees: Bool = false, caller: StoreCaller = .server,
        author: ChangeAuthor? = nil,
        needs: @escaping @Sendable () -> StoreNeeds = { StoreNeeds() }
    ) {
        self.author = author
        self.needs = needs
        self.cost = cost
        self.bytes = bytes
        self.frees = frees
        self.caller = caller
    }
}
