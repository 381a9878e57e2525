import GroupCommit
import Synchronization
import Testing

@testable import SQLite

/// A short life of a database, with an account of what its writer was told.
final class WriteScript: Sendable {
    enum Answer: Sendable { case acknowledged, refused, unknown }

    static let rowsPerJob = 5
    private let answers = Mutex<[Int64: Answer]>([:])
    /// Whether each job also leaves free pages or gives some back.
    private let givesBack: Bool

    init(givingBackPages givesBack: Bool = false) { self.givesBack = givesBack }

    /// What every job so far was told.
    var told: [Int64: Answer] { answers.withLock { $0 } }

    static func options(checkpoints: Bool) -> WriterOptions {
        var options = WriterOptions()
        var small = CheckpointOptions()
        small.checkpointPages = 4
        small.restartPages = 8
        small.logPagesMax = 16
        options.checkpoints = checkpoints ? small : nil
        options.cacheKiB = 64
        // Every write after a full disk is a try.
        options.groups.fullProbeSeconds = 0
        return options
    }

    /// Opens the database on the disk, writes job after job, and closes it.
    ///
    /// A job is five rows of its number.
    func run(
        path: String, disk: String, checkpoints: Bool, synchronous: String = "FULL",
        jobs: Int64 = 12
    ) {
        var options = Self.options(checkpoints: checkpoints)
        options.fileSystem = disk
        guard
            let writer = try? GroupWriter(
                path: path, options: options,
                makeHooks: {
                    try $0.execute(
                        """
                        CREATE TABLE junk (body); CREATE TABLE t (job INTEGER, part INTEGER, body);
                        CREATE INDEX j ON t (job)
                        """
                    )
                    return nil
                }, onIndeterminate: { _ in })
        else { return }
        writer.betweenGroups { _ = try? $0?.execute("PRAGMA synchronous = \(synchronous)") }
        for job in 1...jobs {
            answers.withLock { $0[job] = .unknown }
            let answer: Answer
            do {
                try writer.write { [self] in
                    if givesBack { try Self.giveBack(job, $0) }
                    try Self.insert(job, $0)
                }
                answer = .acknowledged
            } catch WriterError.indeterminate {
                answer = .unknown
            } catch {
                answer = .refused
            }
            answers.withLock { $0[job] = answer }
        }
        writer.close()
    }

    /// Pages before those of the rows come free, so that the rows' own have to move.
    private static func giveBack(_ job: Int64, _ connection: Connection) throws {
        switch job % 4 {
        case 1: try connection.execute("INSERT INTO junk VALUES (randomblob(40000))")
        case 2: try connection.execute("DELETE FROM junk")
        default: try connection.giveBackFreePages(countMax: 3)
        }
    }

    private static func insert(_ job: Int64, _ connection: Connection) throws {
        for part in 0..<rowsPerJob {
            try connection.execute("INSERT INTO t VALUES (\(job), \(part), randomblob(900))")
        }
    }

    /// How many acknowledged jobs are not there.
    func missing(_ path: String, told: [Int64: Answer]) throws -> Int {
        let left = try Connection(path: path, mode: .readWrite)
        guard try left.integer("SELECT count(*) FROM sqlite_schema WHERE name = 't'") == 1 else {
            return told.count { $0.value == .acknowledged }
        }
        return try told.count {
            let rows = try left.integer("SELECT count(*) FROM t WHERE job = \($0.key)")
            return $0.value == .acknowledged && rows == 0
        }
    }

    /// Opens what is left and compares it with what the writer's callers were told.
    func verify(_ path: String, told: [Int64: Answer], _ note: Comment) throws {
        guard told.contains(where: { $0.value != .refused }) else { return }
        let left = try Connection(path: path, mode: .readWrite)
        #expect(try left.integrityCheck() == [], note)
        let hasTable = try left.integer("SELECT count(*) FROM sqlite_schema WHERE name = 't'") == 1
        #expect(hasTable || !told.values.contains(.acknowledged), note)
        guard hasTable else { return }
        for (job, answer) in told {
            let rows = Int(try left.integer("SELECT count(*) FROM t WHERE job = \(job)"))
            switch answer {
            case .acknowledged: #expect(rows == Self.rowsPerJob, "lost job \(job): \(note)")
            case .refused: #expect(rows == 0, "job \(job) came back: \(note)")
            case .unknown: #expect(rows == 0 || rows == Self.rowsPerJob, "half \(job): \(note)")
            }
        }
    }
}
