import CloudModel
import Foundation
import Storage
import Synchronization
import Testing

/// Reads that are told to end while they go on.
@Suite("Reads that are told to end")
struct StoppedReadTests {
    /// Tells the next read to make room as soon as it has begun.
    private final class StoppingStorage: ForwardingStorage {
        let store: any Store
        private let isArmed = Atomic(false)
        private let stopped = Atomic(0)

        init(_ store: any Store) { self.store = store }

        /// So reads are done by threads that may be told to make room, never on an event loop.
        var readsAtOnce: Bool { false }

        /// How many reads ended for it.
        var stoppedCount: Int { stopped.load(ordering: .acquiring) }

        func arm() { isArmed.store(true, ordering: .releasing) }

        func read<Value>(
            _ load: ReadLoad, _ body: (any StoreSnapshot) throws -> Value
        ) throws -> Value {
            guard let stop = load.stop, isArmed.exchange(false, ordering: .acquiringAndReleasing)
            else {
                return try store.read(load, body)
            }
            do {
                let value = try store.read(load) { snapshot in
                    stop.stop(.makesRoom)
                    return try body(snapshot)
                }
                // It was too short to be ended: the next one's turn.
                stop.goOn()
                arm()
                return value
            } catch let error as WorkStopped {
                stopped.add(1, ordering: .acquiringAndReleasing)
                throw error
            }
        }
    }

    @Test("Pages of changes and of queries end in the middle to make room, and are made anew whole")
    func pages() throws {
        let first = try WireServer()
        let storage = StoppingStorage(try first.store())
        let server = try WireServer(storage: storage)
        let ida = try server.user()
        try ida.make("Shelf")
        for part in 0..<2 {
            let operations = (0..<200).map { operation("create", "r\(part)-\($0)") }
            #expect(try ida.modify(operations).status == 200)
        }
        let zone = #"{"zoneName":"Shelf"}"#
        let pages = [
            ("private/changes/zone", #"{"resultsLimit":400,"zones":[{"zoneID":\#(zone)}]}"#),
            ("private/changes/zone", #"{"zones":[{"zoneID":\#(zone),"reverse":true}]}"#),
            (
                "private/records/query",
                #"{"resultsLimit":400,"zoneID":\#(zone),"query":{"recordType":"Cup"}}"#
            ),
        ]
        for (number, (path, body)) in pages.enumerated() {
            let whole = try ida.send(path, body)
            storage.arm()
            let again = try ida.send(path, body)
            #expect(storage.stoppedCount == number + 1, "\(path)")
            #expect(again.status == 200 && again.text == whole.text)
        }
    }
}
