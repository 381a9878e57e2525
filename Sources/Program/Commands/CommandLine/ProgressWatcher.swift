import Control
import Dispatch
import Server
import Synchronization

/// Hears how far a command has come, and passes on a line of it a few times a second.
package final class ProgressWatcher: Sendable {
    private static let nanosecondsMin: UInt64 = 200_000_000

    private let show: @Sendable (String) -> Bool
    private let last = Mutex<UInt64>(0)

    /// - Parameter show: false when nobody waits for the command any more.
    init(_ show: @escaping @Sendable (String) -> Bool) { self.show = show }

    /// - Returns: false when nobody waits for the command any more.
    package func tell(_ line: @autoclosure () -> String) -> Bool {
        let now = DispatchTime.now().uptimeNanoseconds
        let isDue = last.withLock { last in
            guard now &- last >= Self.nanosecondsMin else { return false }
            last = now
            return true
        }
        return isDue ? show(line()) : true
    }
}

/// A line on a terminal that is written over; nothing where nobody looks.
struct ProgressLine: Sendable {
    private static let clearing = "\r\u{1B}[K"

    private let process: ProcessEnvironment

    init(_ process: ProcessEnvironment) { self.process = process }

    @Sendable func show(_ text: String) -> Bool {
        write(Self.clearing + ProgressBar.drawn(text))
        return true
    }

    func clear() { write(Self.clearing) }

    func receive(_ frame: ControlFrame) {
        if case .progress(let text) = frame { _ = show(text) }
    }

    private func write(_ text: String) {
        guard process.isOutputTerminal else { return }
        process.writeOutput(Array(text.utf8))
    }
}
