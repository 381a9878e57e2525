import Dispatch
import Foundation
import Synchronization
import Testing

@testable import SQLite

@Suite("Callers who are not to wait with those who fill the log")
struct SparedCallersTests {
    private static let greedy: UInt64 = 7
    private static let quiet: UInt64 = 8

    /// The time of the machine, and what jobs say they have taken.
    private final class Moment: Sendable {
        private let added = Atomic<UInt64>(0)
        var now: UInt64 {
            DispatchTime.now().uptimeNanoseconds + added.load(ordering: .relaxed)
        }
        func add(seconds: UInt64) {
            added.wrappingAdd(seconds * 1_000_000_000, ordering: .relaxed)
        }
    }

    private let folder: TemporaryFolder
    private let writer: GroupWriter
    private let pool: ReaderPool
    private let moment = Moment()

    init() throws {
        folder = try TemporaryFolder()
        var options = WriterOptions()
        var checkpoints = CheckpointOptions()
        checkpoints.checkpointPages = 50
        checkpoints.restartPages = 100
        checkpoints.logPagesMax = 200
        // Whoever waits for readers waits for longer than any test.
        checkpoints.readerWaitSecondsMax = 36_000
        options.checkpoints = checkpoints
        options.groups.now = { [moment] in moment.now }
        writer = try GroupWriter(
            path: folder.file(), options: options,
            makeHooks: {
                try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body)")
                return nil
            }, onIndeterminate: { Issue.record("indeterminate: \($0)") })
        pool = ReaderPool(path: folder.file())
    }

    private func submit(
        by caller: UInt64, bytes: Int, seconds: UInt64 = 0, to done: DispatchGroup
    ) {
        done.enter()
        writer.submit(caller: caller) { [moment] in
            try $0.execute("INSERT INTO t (body) VALUES (randomblob(\(bytes)))")
            moment.add(seconds: seconds)
        } completion: { result in
            if case .failure(let error) = result { Issue.record("\(error)") }
            done.leave()
        }
    }

    private func write(by caller: UInt64, bytes: Int, seconds: UInt64 = 0) throws {
        let done = DispatchGroup()
        submit(by: caller, bytes: bytes, seconds: seconds, to: done)
        try #require(done.wait(timeout: .now() + 60) == .success)
    }

    @Test("They write on while a reader is in the way of the log; those who fill it wait")
    func reader() throws {
        let reader = try pool.makeReader()
        let greedy = DispatchGroup()
        try write(by: Self.greedy, bytes: 100, seconds: 100)
        try write(by: Self.quiet, bytes: 100)
        try reader.snapshot { reader in
            #expect(try reader.integer("SELECT count(*) FROM t") == 2)
            var (writes, waiting) = (0, 0)
            var tries: UInt64 { writer.measurements.checkpoints.writerHeldSeconds.count }
            while tries < 5 || waiting < 3, writes < 900 {
                if tries > 0 { waiting += 1 }
                if waiting < 20 { submit(by: Self.greedy, bytes: 40_000, to: greedy) }
                try write(by: Self.quiet, bytes: 100)
                writes += 1
            }
            #expect(tries >= 5 && writer.measurements.checkpoints.restarts == 0)
            #expect(greedy.wait(timeout: .now()) == .timedOut, "what came since then waits")
        }
        try #require(greedy.wait(timeout: .now() + 60) == .success)
        writer.close()
        #expect(writer.measurements.checkpoints.restarts > 0)
    }
}
