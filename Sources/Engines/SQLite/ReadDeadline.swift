import CSQLite

/// When the snapshot that a connection reads has to end.
///
/// SQLite asks from within its scans, so it is kept at a fixed place.
struct ReadDeadline {
    let nanosecondsMax: UInt64
    let now: @Sendable () -> UInt64
    var endsAt: UInt64?
    /// By which others end the snapshot.
    let mark: OpenSnapshots.Mark
    /// Whether nobody wants the present snapshot any more; asked on its thread.
    var isStopped: (() -> Bool)?

    /// How many steps of SQLite's machine go by between two looks at the clock, near 100 µs.
    static let stepsBetween: Int32 = 10_000
}

extension Connection {
    /// Ends every later snapshot that takes longer, with an error of kind `interrupted`.
    ///
    /// A snapshot held open keeps the write-ahead log from being started over.
    ///
    /// - Parameters:
    ///   - now: a monotonic clock, in nanoseconds.
    ///   - snapshots: where those are known that others may end.
    package func limitSnapshots(
        secondsMax: Double, now: @escaping @Sendable () -> UInt64, snapshots: OpenSnapshots? = nil
    ) {
        removeDeadline()
        snapshots?.add(mark)
        let pointer = UnsafeMutablePointer<ReadDeadline>.allocate(capacity: 1)
        pointer.initialize(
            to: ReadDeadline(
                nanosecondsMax: UInt64(secondsMax * 1e9), now: now, endsAt: nil, mark: mark))
        deadline = pointer
        sqlite3_progress_handler(
            handle, ReadDeadline.stepsBetween,
            { context in
                guard let deadline = context?.assumingMemoryBound(to: ReadDeadline.self),
                    let endsAt = deadline.pointee.endsAt
                else { return 0 }
                if deadline.pointee.mark.isEnded { return 1 }
                if let isStopped = deadline.pointee.isStopped, isStopped() { return 1 }
                return deadline.pointee.now() >= endsAt ? 1 : 0
            }, pointer)
    }

    func startDeadline() {
        guard let deadline else { return }
        let moment = deadline.pointee.now()
        deadline.pointee.endsAt = moment &+ deadline.pointee.nanosecondsMax
        mark.begin(at: moment)
    }

    /// Ends the snapshot that goes on after so long, if it would not end sooner.
    ///
    /// Only after `limitSnapshots`.
    package func endSnapshot(afterSeconds seconds: Double) {
        guard let deadline, let endsAt = deadline.pointee.endsAt else { return }
        let wanted = deadline.pointee.now() &+ UInt64(max(0, seconds) * 1e9)
        deadline.pointee.endsAt = min(endsAt, wanted)
    }

    func stopDeadline() {
        deadline?.pointee.endsAt = nil
        mark.end()
    }

    /// Ends later snapshots, with an error of kind `interrupted`, soon after that is so; nil asks no more.
    ///
    /// Only after `limitSnapshots`.
    package func endSnapshots(when isStopped: (() -> Bool)?) {
        deadline?.pointee.isStopped = isStopped
    }

    func removeDeadline() {
        guard let deadline else { return }
        sqlite3_progress_handler(handle, 0, nil, nil)
        deadline.deinitialize(count: 1)
        deadline.deallocate()
        self.deadline = nil
    }
}
