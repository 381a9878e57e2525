import Dispatch
import Network
import Synchronization

/// The threads that wait for disks in place of the event loops, shared out among clients.
///
/// Clients take turns, and none has more than half of the threads. So a client that reads much from
/// a slow disk does not hold up others. A connection has one piece of work at a time, which bounds
/// what waits.
final class FileWorkers: Sendable {
    /// As many reads may wait for a disk at a time.
    private static let count = 8
    private static let countPerClientMax = count / 2

    typealias Work = @Sendable () -> Void

    /// Of one client, which is nil for those of Unix sockets.
    private struct Line {
        private var work: [Work?] = []
        private var begun = 0
        var running = 0

        var isWaiting: Bool { begun < work.count }

        mutating func removeFirst() -> Work? {
            defer {
                work[begun] = nil
                begun += 1
            }
            return work[begun]
        }

        mutating func append(_ next: @escaping Work) {
            if begun > work.count / 2 {
                work.removeFirst(begun)
                begun = 0
            }
            work.append(next)
        }
    }

    private struct State {
        var lines: [AddressBlock?: Line] = [:]
        /// The clients whose work waits, the next one first.
        var turns: [AddressBlock?] = []
        var free = Array(0..<FileWorkers.count)
    }

    private struct Turn {
        let client: AddressBlock?
        let queue: Int
        let work: Work
    }

    private let queues = (0..<FileWorkers.count).map { DispatchQueue(label: "http.file.\($0)") }
    private let state = Mutex(State())

    deinit {
        assert(
            state.withLock { $0.free.count == Self.count && $0.lines.isEmpty && $0.turns.isEmpty },
            "work holds its workers until it has ended: one that is not free again would be one less"
        )
    }

    /// Runs work in its client's turn; from any thread.
    func run(for client: AddressBlock?, _ work: @escaping Work) {
        let turn = state.withLock { state in
            if !(state.lines[client]?.isWaiting ?? false) { state.turns.append(client) }
            state.lines[client, default: Line()].append(work)
            return Self.next(&state)
        }
        if let turn { begin(turn) }
    }

    private func begin(_ turn: Turn) {
        queues[turn.queue].async {
            turn.work()
            let next = self.state.withLock { state in
                state.free.append(turn.queue)
                if var line = state.lines[turn.client] {
                    line.running -= 1
                    state.lines[turn.client] = line.running > 0 || line.isWaiting ? line : nil
                }
                return Self.next(&state)
            }
            if let next { self.begin(next) }
        }
    }

    /// The next work that may begin; nil when none may.
    private static func next(_ state: inout State) -> Turn? {
        guard let queue = state.free.last,
            let index = state.turns.firstIndex(where: {
                state.lines[$0]?.running ?? 0 < countPerClientMax
            })
        else { return nil }
        let client = state.turns.remove(at: index)
        guard var line = state.lines.removeValue(forKey: client), let work = line.removeFirst()
        else { return nil }
        line.running += 1
        if line.isWaiting { state.turns.append(client) }
        state.lines[client] = line
        state.free.removeLast()
        return Turn(client: client, queue: queue, work: work)
    }
}
