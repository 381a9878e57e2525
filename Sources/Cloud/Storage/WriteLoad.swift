import CloudModel

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

/// What a write will ask for, handed over beside its closure.
///
/// An engine behind a network fetches it for all the writes of a group at once, before their closures run, together with
/// the schema. Then these questions cost nothing; further ones are answered, too, only slower. An engine to which
/// questions cost little may pass it over. It changes nothing of what a closure sees.
package struct WriteNeeds: Sendable {
    /// The owner of the zone that is written to.
    package var owner: UserRecordName?
    /// The zone that is written to, with what is stored of the owner.
    package var zone: ZoneName?
    /// Whose view, grants and roles are looked at; nil where nobody else's matter.
    package var viewer: UserRecordName?
    /// The names in the zone whose current records are looked at, parents and other targets included.
    package var records: [RecordName] = []

    package init() {}
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
    /// Who makes its changes, as followers are told; nil for the server itself.
    package var author: ChangeAuthor?
    /// What it will ask for; called only by an engine that fetches it.
    package var needs: @Sendable () -> WriteNeeds

    package init(
        cost: Int = 1, bytes: Int = 0, frees: Bool = false, caller: WriteCaller = .server,
        author: ChangeAuthor? = nil,
        needs: @escaping @Sendable () -> WriteNeeds = { WriteNeeds() }
    ) {
        self.author = author
        self.needs = needs
        self.cost = cost
        self.bytes = bytes
        self.frees = frees
        self.caller = caller
    }
}
