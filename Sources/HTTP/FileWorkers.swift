import Dispatch
import Synchronization

/// The threads that wait for disks in place of the event loops.
final class FileWorkers: Sendable {
    /// As many reads may wait for a disk at a time.
    private static let count = 8

    private let queues = (0..<FileWorkers.count).map { DispatchQueue(label: "http.file.\($0)") }
    private let next = Atomic<Int>(0)

    func run(_ work: @escaping @Sendable () -> Void) {
        let turn = next.wrappingAdd(1, ordering: .relaxed).oldValue
        queues[Int(UInt(bitPattern: turn) % UInt(queues.count))].async(execute: work)
    }
}
