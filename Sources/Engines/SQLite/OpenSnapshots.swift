import Synchronization

/// The snapshots of one database file that this process is reading.
///
/// Those that keep the log from being started over can be ended.
package final class OpenSnapshots: Sendable {
    /// What one connection reads.
    final class Mark: Sendable {
        /// When the snapshot that goes on began, in nanoseconds; 0 for none.
        private let began = Atomic<UInt64>(0)
        /// Of the snapshot that is to end, when it began.
        private let ended = Atomic<UInt64>(0)

        func begin(at moment: UInt64) { began.store(max(1, moment), ordering: .relaxed) }

        func end() { began.store(0, ordering: .relaxed) }

        /// Whether the snapshot that goes on has been ended.
        var isEnded: Bool {
            let end = ended.load(ordering: .relaxed)
            return end != 0 && end == began.load(ordering: .relaxed)
        }

        fileprivate func end(ifBegunBefore moment: UInt64) -> Ending? {
            let began = began.load(ordering: .relaxed)
            guard began != 0, began < moment else { return nil }
            return ended.exchange(began, ordering: .relaxed) == began ? .underWay : .begun
        }
    }

    /// Whether a snapshot that goes on was told to end by this call, or before.
    fileprivate enum Ending { case begun, underWay }

    private struct WeakMark {
        weak var mark: Mark?
    }

    private let marks = Mutex<[WeakMark]>([])

    package init() {}

    /// Adds the mark of a connection, known as long as that keeps it.
    func add(_ mark: Mark) {
        marks.withLock { marks in
            marks.removeAll { $0.mark == nil || $0.mark === mark }
            marks.append(WeakMark(mark: mark))
        }
    }

    /// Ends every snapshot that began before a moment, with an error of kind `interrupted`.
    ///
    /// Where SQLite is searching, this happens within 100 µs; otherwise with the next row that
    /// somebody asks for.
    ///
    /// - Returns: how many this call has told, and how many it found, those told before among them.
    @discardableResult
    func end(begunBefore moment: UInt64) -> (told: Int, found: Int) {
        let endings = marks.withLock { $0.compactMap { $0.mark?.end(ifBegunBefore: moment) } }
        return (endings.count { $0 == .begun }, endings.count)
    }
}
