import CloudModel

/// Who reads, until when, and of what kind the read is.
package struct ReadLoad: Sendable {
    /// Who reads, so that an engine can keep resources for each reader.
    package var reader: StoreReader
    /// Ends the read when a scan within it next looks; nil for a read that nobody stops.
    package var stop: StopSignal?
    /// Whether it reads a feed: then a copy of the store may answer that has all that the store had when it began.
    package var isOfFeed: Bool

    package init(
        by reader: StoreReader = .anybody, until stop: StopSignal? = nil, isOfFeed: Bool = false
    ) {
        self.reader = reader
        self.stop = stop
        self.isOfFeed = isOfFeed
    }
}

/// Who reads, so that an engine can keep for each what reading takes.
package enum StoreReader: Hashable, Sendable {
    case anybody
    /// The thread of one event loop: its reads are many and short, and never overlap.
    case loop(Int)

    /// - Parameter number: the number of the event loop; nil for any other reader.
    package init(loop number: Int?) { self = number.map { .loop($0) } ?? .anybody }
}
