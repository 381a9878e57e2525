import CloudModel
import Foundation
import SQLiteStorage
import Storage
import Synchronization
import Testing

/// Reads that are told to end while they go on.
@Suite("Reads that are told to end")
struct StoppedReadTests {
    /// Tells the next read to make room as soon as it has begun.
    private final class StoppingStorage: Storage {
        private let store: SQLiteStore
        private let isArmed = Atomic(false)
        private let stopped = Atomic(0)

        init(_ store: SQLiteStore) { self.store = store }

        var readsAtOnce: Bool { store.readsAtOnce }
        var notices: CommitNotices { store.notices }
        var writeCount: UInt64 { store.writeCount }
        /// How many reads ended for it.
        var stoppedCount: Int { stopped.load(ordering: .acquiring) }

        func arm() { isArmed.store(true, ordering: .releasing) }

        func read<Value>(
            by reader: StoreReader, until stop: StopSignal?,
            _ body: (any StoreSnapshot) throws -> Value
        ) throws -> Value {
            guard isArmed.exchange(false, ordering: .acquiringAndReleasing) else {
                return try store.read(by: reader, until: stop, body)
            }
            let signal = StopSignal()
            do {
                return try store.read(by: reader, until: signal) { snapshot in
                    signal.stop(.makesRoom)
                    return try body(snapshot)
                }
            } catch let error as WorkStopped {
                stopped.add(1, ordering: .acquiringAndReleasing)
                throw error
            }
        }

        func write<Value: Sendable>(
            _ load: WriteLoad,
            _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
            completion: @escaping @Sendable (Result<Value, any Error>) -> Void
        ) { store.write(load, body, completion: completion) }

        func attach(_ worker: any StoreWorker) { store.attach(worker) }

        func prepareIndexes(
            _ needs: [IndexNeed], ofType type: Int64, waitMillisecondsMax: Int
        ) throws -> IndexProgress? {
            try store.prepareIndexes(
                needs, ofType: type, waitMillisecondsMax: waitMillisecondsMax)
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
