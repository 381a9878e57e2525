import Files

/// Gives what deletes have freed back to a disk that is full, in steps that fit into the room there is.
///
/// To give a page back costs room at first: before the file can end earlier, something has to move,
/// and the log takes it.
struct FreedSpace {
    private let connection: Connection
    private let now: @Sendable () -> UInt64

    /// - Parameter now: a monotonic clock, in nanoseconds.
    init(_ connection: Connection, now: @escaping @Sendable () -> UInt64) {
        self.connection = connection
        self.now = now
    }

    /// Gives back step by step what is free.
    ///
    /// Called outside of transactions; stops after half a second, because deletes wait meanwhile.
    func giveBack() {
        let start = now()
        var pages = Self.pagesPerStepMax
        // What the log holds already may be all that is missing.
        connection.truncateLog()
        while now() &- start < Self.nanosecondsMax {
            // NB: no row is touched, so whatever it was, the next write meets it and tells.
            guard let freed = try? connection.freePageCount(), freed > 0 else { return }
            // NB: a disk that does not tell is tried with the next number of pages.
            if let room = try? FileSystem.freeBytes(at: connection.path) {
                pages = min(pages, max(Self.pagesPerStepMin, room / Self.logBytesPerPage))
            }
            // NB: as above; a step that was too large has been undone as a whole.
            let isDone = (try? connection.giveBackFreePages(countMax: pages)) != nil
            connection.truncateLog()
            if !isDone {
                guard pages > Self.pagesPerStepMin else { return }
                pages /= 4
            }
        }
    }

    private static let pagesPerStepMax = 4_096
    private static let pagesPerStepMin = 16
    /// The most that the log takes for a page given back: the page in its new place, what points to
    /// it, and the list and the map that tell where everything is.
    private static let logBytesPerPage = 5 * 4_096
    /// How long deletes wait for it at a time.
    private static let nanosecondsMax: UInt64 = 500_000_000
}
