import Awaiting
import Foundation
import SQLite
import Synchronization
import Testing

@Suite("Connections that end")
struct EndingTests {
    /// What several threads let go of at once.
    private final class Holders: @unchecked Sendable {
        // Unchecked: each thread empties a place of its own, once all have come.
        private let holders: [Holder]
        private let missing: Atomic<Int>

        final class Holder {
            var held: [AnyObject] = []
        }

        init(_ count: Int) {
            holders = (0..<count).map { _ in Holder() }
            missing = Atomic(count)
        }

        func give(_ thing: AnyObject, to index: Int) { holders[index].held.append(thing) }

        /// Waits for the others, then lets go.
        func letGo(_ index: Int) throws {
            missing.subtract(1, ordering: .sequentiallyConsistent)
            try Wait.until { missing.load(ordering: .sequentiallyConsistent) <= 0 }
            holders[index].held.removeAll()
        }
    }

    private static let threadCount = 3
    private static let statementCount = 192

    /// Has threads let go of everything, all at once.
    private static func end(_ holders: Holders) throws {
        let others = (1..<threadCount).map { index in
            let ended = Awaited<Bool>()
            Thread.detachNewThread {
                // NB: who waited in vain has not told `true`.
                ended.tell((try? holders.letGo(index)) != nil)
            }
            return ended
        }
        try holders.letGo(0)
        for ended in others { #expect(try ended.value()) }
    }

    @Test(
        "A connection and its statements may go on several threads at once",
        arguments: [false, true])
    func together(connectionGoesFirst: Bool) throws {
        let path = FileManager.default.temporaryDirectory
            .appending(path: "ending-\(UUID().uuidString).sqlite").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        _ = try Connection(path: path, mode: .readWrite)
        for _ in 0..<300 {
            let holders = Holders(Self.threadCount)
            do {
                let connection = try Connection(path: path, mode: .readOnly)
                if !connectionGoesFirst { holders.give(connection, to: 0) }
                for number in 0..<Self.statementCount {
                    // Neighbours in SQLite's list of statements are of different threads.
                    holders.give(
                        try connection.prepare("SELECT \(number)"), to: number % Self.threadCount)
                }
            }
            try Self.end(holders)
        }
    }
}
