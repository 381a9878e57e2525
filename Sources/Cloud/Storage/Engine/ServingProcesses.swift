import CloudModel

/// A process that has an engine's data open.
package struct ServingProcess: Sendable, Equatable {
    /// Random, made at its start.
    package let identity: [UInt8]
    /// Of the program.
    package let version: String
    package let begunAt: Milliseconds
    /// When it was heard of last.
    package let seenAt: Milliseconds
    /// Whether it is the one that asks.
    package let isOwn: Bool

    package init(
        identity: [UInt8], version: String, begunAt: Milliseconds, seenAt: Milliseconds, isOwn: Bool
    ) {
        self.identity = identity
        self.version = version
        self.begunAt = begunAt
        self.seenAt = seenAt
        self.isOwn = isOwn
    }
}

/// The processes that have an engine's data open, as this one knows them.
package struct ServingProcesses: Sendable {
    /// In the order in which they began; empty for an engine that one process has to itself.
    package let living: [ServingProcess]
    /// Of this process when it does what one of them does for all: the eldest, as long as the others know that it lives.
    package let lead: LeaderLease?
    /// Whether the others take this one for living: what they share has answered it within the last seconds.
    package let isLeased: Bool

    package init(living: [ServingProcess], lead: LeaderLease?, isLeased: Bool) {
        self.living = living
        self.lead = lead
        self.isLeased = isLeased
    }

    /// What an engine says that one process has to itself.
    package static let sole = ServingProcesses(living: [], lead: .sole, isLeased: true)

    package var leads: Bool { lead != nil }

    /// Of how many this process is one.
    package var count: Int { max(1, living.count) }
}
