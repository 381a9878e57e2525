import Dispatch
import Foundation
import GroupCommit
import Synchronization
import Testing

@testable import SQLite

/// Counts what the writer tells it.
private final class RecordingHooks: GroupHooks, @unchecked Sendable {
    // Touched on the writer's queue, and by the test when the writer is closed.
    var calls: [String] = []
    var failsLast = false

    func groupBegan(_ connection: Connection) throws { calls.append("began") }
    func jobBegan() { calls.append("job") }
    func jobRolledBack() { calls.append("undo") }
    func groupWillCommit(_ connection: Connection) throws {
        calls.append("last")
        if failsLast { throw Refusal() }
    }
    func groupCommitted() { calls.append("committed") }
    func groupRolledBack() { calls.append("undone") }
}

private struct Refusal: Error {}

/// A writer on a table `t (id INTEGER PRIMARY KEY, body)`, with a way to hold its queue.
private struct Bench: Sendable {
    let folder: TemporaryFolder
    let hooks = RecordingHooks()
    let writer: GroupWriter

    /// A group ends by what it holds: not by the time that a busy machine takes for it.
    static var patientOptions: WriterOptions {
        var options = WriterOptions()
        options.groups.millisecondsMax = 600_000
        return options
    }

    init(_ options: WriterOptions = patientOptions) throws {
        folder = try TemporaryFolder()
        writer = try GroupWriter(
            path: folder.file(), options: options,
            makeHooks: { [hooks] connection in
                try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, body)")
                return hooks
            }, onIndeterminate: { _ in Issue.record("indeterminate") })
    }

    /// Waits for jobs that were handed in; fails when they do not end.
    static func end(_ done: DispatchGroup) throws {
        try #require(done.wait(timeout: .now() + 60) == .success, "jobs that do not end")
    }

    /// Submits all jobs while the queue is held, so that they are one group, and waits for them.
    func group(
        _ jobs: [@Sendable (Connection) throws -> Void]
    ) throws -> [Result<Void, any Error>] {
        let gate = DispatchSemaphore(value: 0)
        let done = DispatchGroup()
        let outcomes = Mutex<[Int: Result<Void, any Error>]>([:])
        return try withExtendedLifetime(outcomes) {
            writer.betweenGroups { _ in gate.wait() }
            for (index, job) in jobs.enumerated() {
                done.enter()
                writer.submit(job) { outcome in
                    outcomes.withLock { $0[index] = outcome }
                    done.leave()
                }
            }
            gate.signal()
            try Self.end(done)
            return outcomes.withLock { found in jobs.indices.compactMap { found[$0] } }
        }
    }

    func ids() throws -> [Int64] {
        try Connection(path: folder.file(), mode: .readOnly).integers("SELECT id FROM t")
    }
}

private func insert(_ id: Int64) -> @Sendable (Connection) throws -> Void {
    { try $0.execute("INSERT INTO t VALUES (\(id), 'x')") }
}

@Suite struct GroupWriterTests {
    @Test("What waits together is committed together, and every member is told after the commit")
    func oneCommit() throws {
        let bench = try Bench()
        let outcomes = try bench.group((1...5).map { insert($0) })
        #expect(outcomes.allSatisfy { (try? $0.get()) != nil })
        #expect(try bench.ids() == [1, 2, 3, 4, 5])
        let measured = bench.writer.measurements.groups
        #expect(measured.commits == 1 && measured.jobs == 5)
        #expect(measured.commitJobs.counts[3] == 1, "five jobs lie between 5 and 8")
        #expect(measured.commitSeconds.count == 1)
        #expect(bench.writer.measurements.logPages > 0)
        bench.writer.close()
        #expect(
            bench.hooks.calls == ["began", "job", "job", "job", "job", "job", "last", "committed"])
    }

    @Test("A job that throws undoes only itself and gets its own error")
    func savepoints() throws {
        let bench = try Bench()
        let outcomes = try bench.group([
            insert(1),
            { connection in
                try connection.execute("INSERT INTO t VALUES (2, 'x')")
                throw Refusal()
            },
            { try $0.execute("INSERT INTO t VALUES (3, 'x'), (1, 'again')") },
            insert(4),
        ])
        #expect(try bench.ids() == [1, 4])
        #expect(throws: Never.self) { try outcomes[0].get() }
        #expect(throws: Refusal.self) { try outcomes[1].get() }
        let third = #expect(throws: SQLiteError.self) { try outcomes[2].get() }
        #expect(third?.kind == .constraint)
        #expect(throws: Never.self) { try outcomes[3].get() }
        #expect(bench.writer.measurements.groups.jobRollbacks == 2)
        bench.writer.close()
        #expect(bench.hooks.calls.filter { $0 == "undo" }.count == 2)
    }

    @Test("Only a job that fails after it has written has the others run again")
    func runAgain() throws {
        let bench = try Bench()
        let runs = Mutex(0)
        try withExtendedLifetime(runs) {
            let counted: @Sendable (Int64) -> @Sendable (Connection) throws -> Void = { id in
                { connection in
                    runs.withLock { $0 += 1 }
                    try connection.execute("INSERT INTO t VALUES (\(id), 'x')")
                }
            }
            let refused = try bench.group([counted(1), { _ in throw Refusal() }, counted(2)])
            #expect(throws: Refusal.self) { try refused[1].get() }
            #expect(runs.withLock { $0 } == 2)
            let undone = try bench.group([
                counted(3),
                { connection in
                    try connection.execute("DELETE FROM t WHERE id = 1")
                    throw Refusal()
                },
                counted(4),
            ])
            for location in [0, 2] { #expect(throws: Never.self) { try undone[location].get() } }
            #expect(throws: Refusal.self) { try undone[1].get() }
            #expect(runs.withLock { $0 } == 5)
            let ids = try bench.ids()
            #expect(ids == [1, 2, 3, 4])
            #expect(bench.writer.measurements.groups.jobRollbacks == 2)
        }
        bench.writer.close()
        #expect(
            bench.hooks.calls == [
                "began", "job", "job", "undo", "job", "last", "committed",
                "began", "job", "job", "undone",
                "began", "job", "job", "undo", "job", "last", "committed",
            ])
    }

    @Test("A scan that an error leaves halfway does not hold up the others")
    func halfScan() throws {
        let bench = try Bench()
        _ = try bench.group((1...5).map { insert($0) })
        let outcomes = try bench.group([
            { connection in
                _ = try connection.prepare("SELECT id FROM t").step()
                throw Refusal()
            },
            { connection in
                let ids = try connection.integers("SELECT id FROM t")
                #expect(ids == [1, 2, 3, 4, 5])
            },
        ])
        #expect(throws: Never.self) { try outcomes[1].get() }
    }

    @Test("FULL inside a group undoes every member, and each gets that error")
    func fullInside() throws {
        var options = Bench.patientOptions
        options.pageCountMax = 8
        let time = Mutex<UInt64>(0)
        try withExtendedLifetime(time) {
            options.groups.now = { time.withLock { $0 } }
            let bench = try Bench(options)
            let big: @Sendable (Connection) throws -> Void = {
                try $0.execute("INSERT INTO t VALUES (9, zeroblob(100000))")
            }
            _ = try bench.group([insert(1)])
            let outcomes = try bench.group([insert(2), big, insert(3)])
            for outcome in outcomes {
                let error = #expect(throws: SQLiteError.self) { try outcome.get() }
                #expect(error?.kind == .full)
            }
            #expect(try bench.ids() == [1])
            #expect(bench.writer.isDiskFull)

            // Refused without a try, but for what frees.
            let refused = #expect(throws: SQLiteError.self) { try bench.writer.write(insert(4)) }
            #expect(refused?.kind == .full)
            try bench.writer.write(frees: true) { try $0.execute("DELETE FROM t WHERE id = 1") }
            #expect(try bench.ids() == [])
            #expect(bench.writer.measurements.groups.refusedWhileFull == 1)

            // A second later the next write is tried, and there is room.
            time.withLock { $0 += 1_000_000_000 }
            try bench.writer.write(insert(5))
            #expect(!bench.writer.isDiskFull)
            #expect(try bench.ids() == [5])
        }
    }

    @Test("A commit holds no more than its cost allows, and a dearer job goes alone")
    func costs() throws {
        var options = Bench.patientOptions
        options.groups.operationsMax = 3
        let bench = try Bench(options)
        let gate = DispatchSemaphore(value: 0)
        let done = DispatchGroup()
        bench.writer.betweenGroups { _ in gate.wait() }
        for (index, cost) in [1, 2, 1, 9, 3].enumerated() {
            done.enter()
            bench.writer.submit(cost: cost, insert(Int64(index))) { _ in done.leave() }
        }
        gate.signal()
        try Bench.end(done)
        #expect(bench.writer.measurements.groups.commits == 4)
        #expect(try bench.ids() == [0, 1, 2, 3, 4])
    }

    @Test("A group takes in no more once its time is over, and the rest goes with the next one")
    func time() throws {
        let now = Mutex<UInt64>(0)
        try withExtendedLifetime(now) {
            var options = Bench.patientOptions
            options.groups.millisecondsMax = 50
            options.groups.now = { now.withLock { $0 } }
            let bench = try Bench(options)
            let outcomes = try bench.group(
                (Int64(1)...6).map { id in
                    { connection in
                        now.withLock { $0 += 20_000_000 }
                        try insert(id)(connection)
                    }
                })
            #expect(outcomes.allSatisfy { (try? $0.get()) != nil })
            #expect(bench.writer.measurements.groups.commits == 2)
            #expect(try bench.ids() == [1, 2, 3, 4, 5, 6])
        }
    }

    @Test("What is too much to wait is refused at once, of one caller and of all")
    func refusals() throws {
        var options = Bench.patientOptions
        options.groups.waitingJobsMax = 16
        let bench = try Bench(options)
        let gate = DispatchSemaphore(value: 0)
        let done = DispatchGroup()
        let refused = Mutex<[UInt64: [WriterError]]>([:])
        try withExtendedLifetime(refused) {
            bench.writer.betweenGroups { _ in gate.wait() }
            for number in 0..<24 {
                let caller = UInt64(number < 4 ? 100 : 100 + number)
                done.enter()
                bench.writer.submit(caller: caller, insert(Int64(number))) { outcome in
                    if case .failure(let error as WriterError) = outcome {
                        refused.withLock { $0[caller, default: []].append(error) }
                    }
                    done.leave()
                }
            }
            gate.signal()
            try Bench.end(done)
            #expect(refused.withLock { $0[100] } == [.tooManyOfCaller, .tooManyOfCaller])
            #expect(
                refused.withLock { $0.filter { $0.key != 100 }.values.flatMap { $0 } }
                    == Array(repeating: .tooManyWaiting, count: 6))
        }
        // Once they are done, there is room again.
        try bench.writer.write(insert(99))
    }

    @Test("Closing finishes what waits, empties the log, and refuses what comes later")
    func closing() throws {
        let bench = try Bench()
        let done = DispatchGroup()
        for id in 1...50 {
            done.enter()
            bench.writer.submit(insert(Int64(id))) { _ in done.leave() }
        }
        bench.writer.close()
        try Bench.end(done)
        #expect(try bench.ids().count == 50)
        #expect(throws: WriterError.closed) { try bench.writer.write(insert(99)) }
        let log = bench.folder.file() + "-wal"
        let size = try? FileManager.default.attributesOfItem(atPath: log)[.size] as? Int
        #expect((size ?? 0) == 0)
    }

    @Test("Many submitters at once lose nothing and share commits")
    func manySubmitters() throws {
        let bench = try Bench()
        let done = DispatchGroup()
        @Sendable func save(_ lane: Int, _ number: Int) {
            guard number < 50 else { return done.leave() }
            bench.writer.submit(insert(Int64(lane * 1_000 + number))) { _ in
                DispatchQueue.global().async { save(lane, number + 1) }
            }
        }
        for lane in 0..<16 {
            done.enter()
            save(lane, 0)
        }
        try Bench.end(done)
        #expect(try bench.ids().count == 800)
        #expect(bench.writer.measurements.groups.jobs == 800)
        #expect(bench.writer.measurements.groups.commits < 800)
    }

    @Test("When the last statements of a group fail, every member gets that error")
    func hooksFail() throws {
        let bench = try Bench()
        bench.hooks.failsLast = true
        let outcomes = try bench.group([
            insert(1), { _ in throw SQLiteError(code: 1, message: "its own") },
        ])
        for outcome in outcomes { #expect(throws: Refusal.self) { try outcome.get() } }
        #expect(try bench.ids() == [])
        #expect(bench.writer.measurements.groups.groupRollbacks == 1)
        bench.writer.close()
        #expect(bench.hooks.calls.last == "undone")
    }

    @Test("A write waits for another program's lock, and a backup or reader never fails it")
    func otherPrograms() throws {
        let bench = try Bench()
        let shell = try Connection(path: bench.folder.file(), mode: .readWrite)
        try shell.execute("BEGIN IMMEDIATE; INSERT INTO t VALUES (1, 'shell')")
        let done = DispatchGroup()
        let outcome = Mutex<Result<Void, any Error>?>(nil)
        done.enter()
        bench.writer.submit(insert(2)) { result in
            outcome.withLock { $0 = result }
            done.leave()
        }
        try shell.execute("COMMIT")
        try Bench.end(done)
        #expect(throws: Never.self) { try outcome.withLock { try $0?.get() } }
        try shell.execute("BEGIN")
        #expect(try shell.integers("SELECT id FROM t") == [1, 2])
        try bench.writer.write(insert(3))
        try shell.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
        try bench.writer.write(insert(4))
        #expect(try bench.ids() == [1, 2, 3, 4])
    }
}
