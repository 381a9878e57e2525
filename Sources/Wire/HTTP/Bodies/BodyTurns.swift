import Synchronization

/// Which large bodies of each caller come in at present; further ones of the same caller wait, unread.
///
/// So a caller with many connections neither has bodies refused for which there is room a moment later, nor has the
/// server receive what it can only throw away. A body counts by the length that it announces, until its request has
/// ended. Nobody's bodies wait for those of another caller.
final class BodyTurns: Sendable {
    /// A shorter body never waits.
    static let bytesMin = 64 * 1024

    /// The turn of one body, from its head until its request has ended; it ends with its last holder.
    final class Turn: Sendable {
        private let turns: BodyTurns
        private let entry: Entry

        fileprivate init(_ turns: BodyTurns, _ entry: Entry) {
            self.turns = turns
            self.entry = entry
        }

        deinit { turns.end(entry) }

        /// Whether the body waits for the end of others.
        var isWaiting: Bool { !entry.hasBegun.load(ordering: .acquiring) }
    }

    fileprivate final class Entry: Sendable {
        let owner: BodyOwner
        let bytes: Int
        let begin: @Sendable () -> Void
        /// Changed under the lock of the lines.
        let hasBegun = Atomic(false)

        init(_ owner: BodyOwner, _ bytes: Int, _ begin: @escaping @Sendable () -> Void) {
            self.owner = owner
            self.bytes = bytes
            self.begin = begin
        }
    }

    private struct Line {
        /// Of the bodies whose turn has come.
        var bytes = 0
        var waiting: [Entry] = []

        /// Takes those out of the line whose turn has come.
        mutating func takeNext(_ bytesMax: Int) -> [Entry] {
            var next: [Entry] = []
            while let first = waiting.first, bytes == 0 || first.bytes <= bytesMax - bytes {
                bytes += first.bytes
                first.hasBegun.store(true, ordering: .releasing)
                next.append(first)
                waiting.removeFirst()
            }
            return next
        }
    }

    /// What the bodies of one caller may take together; one alone may be larger.
    private let bytesMax: Int
    private let lines = Mutex<[BodyOwner: Line]>([:])

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    deinit {
        assert(
            lines.withLock { $0.isEmpty },
            "each turn holds the lines until it has ended: else bodies would wait for one that is over"
        )
    }

    /// Puts a body behind those of its caller that came before.
    ///
    /// - Parameters:
    ///   - bytes: as its head announces, at least 1.
    ///   - begin: called on any thread when its turn comes after it had to wait.
    func turn(
        for owner: BodyOwner, bytes: Int, _ begin: @escaping @Sendable () -> Void
    ) -> Turn {
        let entry = Entry(owner, bytes, begin)
        lines.withLock { lines in
            lines[owner, default: Line()].waiting.append(entry)
            _ = lines[owner]?.takeNext(bytesMax)
        }
        return Turn(self, entry)
    }

    private func end(_ entry: Entry) {
        let next = lines.withLock { lines -> [Entry] in
            guard var line = lines.removeValue(forKey: entry.owner) else { return [] }
            if entry.hasBegun.load(ordering: .relaxed) {
                line.bytes -= entry.bytes
                assert(line.bytes >= 0, "a turn ends once")
            } else {
                line.waiting.removeAll { $0 === entry }
            }
            let next = line.takeNext(bytesMax)
            if line.bytes > 0 || !line.waiting.isEmpty { lines[entry.owner] = line }
            return next
        }
        for entry in next { entry.begin() }
    }
}
