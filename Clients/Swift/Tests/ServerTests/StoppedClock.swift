import CloudKitTransport
import CloudKitWire

/// Time that passes when a test says so.
final class StoppedClock: Sendable {
    private struct Sleeper {
        let wakes: Duration
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct Contents {
        var now = Duration.zero
        var waits: [Duration] = []
        var sleepers: [Sleeper] = []
        var isRunning = false
    }

    private let contents = Locked(Contents())

    /// How long somebody wanted to wait, each time.
    var waits: [Duration] { contents.withLock { $0.waits } }

    /// What requests go by.
    var requests: RequestClock {
        RequestClock(
            now: { self.contents.withLock { $0.now } }, sleep: { await self.sleep($0) })
    }

    private func sleep(_ time: Duration) async {
        await withCheckedContinuation { continuation in
            let isOver = contents.withLock { contents in
                contents.waits.append(time)
                let wakes = contents.now + time
                guard contents.isRunning else {
                    contents.sleepers.append(Sleeper(wakes: wakes, continuation: continuation))
                    return false
                }
                contents.now = wakes
                return true
            }
            if isOver { continuation.resume() }
        }
    }

    /// Lets so much time pass.
    func advance(by time: Duration) {
        let due = contents.withLock { contents in
            contents.now += time
            let due = contents.sleepers.filter { $0.wakes <= contents.now }
            contents.sleepers.removeAll { $0.wakes <= contents.now }
            return due
        }
        for sleeper in due { sleeper.continuation.resume() }
    }

    /// From now on whatever is waited for is over at once.
    func run() {
        let furthest = contents.withLock { contents in
            contents.isRunning = true
            return contents.sleepers.map(\.wakes).max().map { $0 - contents.now }
        }
        advance(by: furthest ?? .zero)
    }
}
