import CFaultVFS
import CSQLite
import GroupCommit
import Synchronization
import Testing

@testable import SQLite

@Suite struct FaultSweepTests {
    struct Fault: CustomTestStringConvertible, Sendable {
        let operation: fault_operation
        let code: Int32
        let testDescription: String
    }

    static let faults = [
        Fault(operation: FAULT_WRITE, code: 778, testDescription: "write: I/O error"),
        Fault(operation: FAULT_WRITE, code: SQLITE_FULL, testDescription: "write: disk full"),
        Fault(operation: FAULT_SYNC, code: 1_034, testDescription: "sync: I/O error"),
        Fault(operation: FAULT_TRUNCATE, code: 1_546, testDescription: "truncate: I/O error"),
        Fault(operation: FAULT_SHARED_MEMORY, code: 4_874, testDescription: "log index: I/O error"),
        Fault(operation: FAULT_DELETE, code: 2_570, testDescription: "delete: I/O error"),
    ]

    @Test(
        "Whichever call fails, what was acknowledged is there and what was refused is not",
        arguments: faults, [false, true])
    func sweep(fault: Fault, persists: Bool) throws {
        for checkpoints in [false, true] {
            var nth = 0
            var fired = true
            while fired {
                nth += 1
                let folder = try TemporaryFolder(inMemory: true)
                let plan = FaultPlan(
                    fault.operation, code: fault.code, nth: nth, persists: persists)
                let disk = FaultDisk("sweep-\(folder.path)") { operation, _ in
                    plan.decide(operation)
                }
                let script = WriteScript()
                script.run(path: folder.file(), disk: disk.name, checkpoints: checkpoints)
                fired = plan.hasFired
                try script.verify(
                    folder.file(), told: script.told,
                    "\(fault.testDescription) no. \(nth), again: \(persists), \(checkpoints)")
                if !fired { #expect(script.told.values.allSatisfy { $0 == .acknowledged }) }
            }
            print(
                "\(fault.testDescription), from then on: \(persists), checkpoints: \(checkpoints):"
                    + " \(nth - 1) positions")
        }
    }

    @Test(
        "Whichever call fails while pages are given back, what was acknowledged is there",
        arguments: faults)
    func givingBack(fault: Fault) throws {
        var (nth, fired) = (0, true)
        while fired {
            nth += 1
            let folder = try TemporaryFolder(inMemory: true)
            let plan = FaultPlan(fault.operation, code: fault.code, nth: nth, persists: false)
            let disk = FaultDisk("back-\(folder.path)") { operation, _ in plan.decide(operation) }
            let script = WriteScript(givingBackPages: true)
            script.run(path: folder.file(), disk: disk.name, checkpoints: true)
            fired = plan.hasFired
            try script.verify(
                folder.file(), told: script.told, "\(fault.testDescription) no. \(nth)")
        }
    }

    @Test("An I/O error from COMMIT is indeterminate, and the writer takes no more work")
    func indeterminate() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let plan = FaultPlan(FAULT_SYNC, code: 1_034, nth: 1, persists: false)
        let isArmed = Mutex(false)
        let disk = FaultDisk("commit-\(folder.path)") { operation, _ in
            isArmed.withLock { $0 } ? plan.decide(operation) : SQLITE_OK
        }
        var options = WriterOptions()
        options.fileSystem = disk.name
        let reported = Mutex<SQLiteError?>(nil)
        let writer = try GroupWriter(
            path: folder.file(), options: options,
            makeHooks: {
                try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
                return nil
            }, onIndeterminate: { error in reported.withLock { $0 = error as? SQLiteError } })
        try writer.write { try $0.execute("INSERT INTO t VALUES (1)") }
        isArmed.withLock { $0 = true }
        #expect(throws: WriterError.indeterminate) {
            try writer.write { try $0.execute("INSERT INTO t VALUES (2)") }
        }
        #expect(throws: WriterError.closed) {
            try writer.write { try $0.execute("INSERT INTO t VALUES (3)") }
        }
        writer.betweenGroups { _ in }
        writer.close()
        #expect(reported.withLock { $0 }?.code == 1_034)
        #expect(writer.measurements.groups.isFailed)
        // The log lies as the failed sync left it: recovery finds the whole group in it.
        let left = try Connection(path: folder.file(), mode: .readWrite)
        #expect(try left.integers("SELECT id FROM t") == [1, 2])
    }

    @Test("A disk full in COMMIT is definite: the group is undone and the writer goes on")
    func fullCommit() throws {
        let folder = try TemporaryFolder(inMemory: true)
        let plan = FaultPlan(FAULT_WRITE, code: SQLITE_FULL, nth: 2, persists: false)
        let isArmed = Mutex(false)
        let disk = FaultDisk("full-\(folder.path)") { operation, _ in
            isArmed.withLock { $0 } ? plan.decide(operation) : SQLITE_OK
        }
        var options = WriterOptions()
        options.fileSystem = disk.name
        options.groups.fullProbeSeconds = 0
        options.reserve = DiskReserve.Options(path: folder.file("reserve"), bytes: 100_000)
        let writer = try GroupWriter(
            path: folder.file(), options: options,
            makeHooks: {
                try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
                return nil
            }, onIndeterminate: { _ in Issue.record("indeterminate") })
        isArmed.withLock { $0 = true }
        let error = #expect(throws: SQLiteError.self) {
            try writer.write { try $0.execute("INSERT INTO t VALUES (1)") }
        }
        #expect(error?.kind == .full)
        #expect(writer.isDiskFull)
        try writer.write { try $0.execute("INSERT INTO t VALUES (2)") }
        #expect(!writer.isDiskFull)
        writer.close()
        let left = try Connection(path: folder.file(), mode: .readWrite)
        #expect(try left.integers("SELECT id FROM t") == [2])
    }
}
