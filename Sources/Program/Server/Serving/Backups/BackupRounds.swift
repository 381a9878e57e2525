import Background
import Backups
import CloudModel
import Configuration
import Files
import Synchronization

/// Makes backups by itself, as often as `backups.everyMinutes` says, and checks the last one once a week.
final class BackupRounds: Sendable {
    /// What the metrics tell of backups.
    struct State: Sendable {
        /// When the last good one was made; nil for none.
        var lastGood: Milliseconds?
        var lastStoredBytes = 0
        var lastMilliseconds: Milliseconds = 0
        var failures = 0
        /// When the last backup was found good by restoring it; nil for never.
        var verified: Milliseconds?
        /// Whether the last check was left out for want of room.
        var isCheckSkipped = false
        var badChecks = 0
        /// Whether one is asked for or being made.
        var isUnderWay = false
        /// Whether somebody wants one before it is due.
        var isAsked = false
        /// Why the last attempt failed; nil where it did not.
        var failure: String?
        /// When those that are kept were begun, the oldest first.
        var kept: [Milliseconds] = []
    }

    private static let week: Milliseconds = 7 * 86_400_000

    private let folder: DataFolder
    private let target: BackupTarget
    private let log: Log
    private let process: ProcessEnvironment
    private let runner: Runner
    private let current = Mutex(State())
    // Touched in looks only.
    private nonisolated(unsafe) var opened: BackupRepository?

    var state: State { current.withLock { $0 } }

    /// Begins to look; nil where backups are off, which the log is told.
    static func begin(
        _ folder: DataFolder, metrics: Metrics, log: Log
    ) throws -> BackupRounds? {
        let configuration = folder.configuration
        guard
            let target = try BackupTarget(
                of: configuration, clock: folder.clock, random: folder.random)
        else {
            log.info("no backups are made: backups.to is not set")
            metrics.observeBackups(nil)
            return nil
        }
        if target.isOnDisk(of: folder.path) {
            log.warning(
                "backups.to is on the disk of the data: when it fails, both are lost",
                [("path", .text(target.name))])
        }
        let rounds = BackupRounds(folder, target, log: log)
        metrics.observeBackups(rounds)
        folder.serving.note(rounds)
        return rounds
    }

    private init(_ folder: DataFolder, _ target: BackupTarget, log: Log) {
        (self.folder, self.target, self.log) = (folder, target, log)
        process = ProcessEnvironment(
            environment: [:], folder: folder.path, isTerminal: false, readInput: { _ in nil },
            ask: { _ in "" }, writeOutput: { _ in }, clock: folder.clock, random: folder.random)
        runner = Runner("lenticular.backups", qos: .background) { error in
            log.error("no backup could be made", [("failure", .text("\(error)"))])
        }
        runner.use { [weak self] in try self?.look() ?? .never }
        runner.wake()
    }

    /// Has one made now, or after the one that is being made; does not wait.
    func ask() {
        current.withLock { ($0.isAsked, $0.isUnderWay) = (true, true) }
        runner.wake()
    }

    /// Ends it, and gives up what goes on: only a finished backup is one.
    func stop() { runner.stop() }

    private func look() throws -> Runner.Next {
        do {
            let repository = try repository()
            let wait = untilDue()
            guard wait <= 0 else { return .later(milliseconds: wait) }
            try make(in: repository)
            if isCheckDue() { check(repository) }
        } catch {
            guard !runner.isStopped else { return .never }
            current.withLock {
                $0.failures += 1
                $0.failure = "\(error)"
                ($0.isAsked, $0.isUnderWay) = (false, false)
            }
            throw error
        }
        return .later(milliseconds: max(1, untilDue()))
    }

    private func repository() throws -> BackupRepository {
        if let opened { return opened }
        let repository = try target.open(for: folder)
        let (kept, verified) = (try repository.moments(), try repository.verified())
        current.withLock { ($0.lastGood, $0.kept, $0.verified) = (kept.last, kept, verified) }
        opened = repository
        return repository
    }

    private var goesOn: @Sendable () -> Bool { { [runner] in !runner.isStopped } }

    private func untilDue() -> Milliseconds {
        let state = state
        guard let last = state.lastGood, !state.isAsked else { return 0 }
        let each = Milliseconds(folder.configuration.backups.everyMinutes) * 60_000
        let now = folder.clock.now()
        // A clock that was set back delays no backup.
        return last > now ? 0 : last + each - now
    }

    private func make(in repository: BackupRepository) throws {
        let began = folder.clock.now()
        current.withLock { ($0.isAsked, $0.isUnderWay) = (false, true) }
        let made = try folder.makeBackup(in: repository, while: goesOn)
        let took = folder.clock.now() - began
        let kept = try repository.moments()
        current.withLock {
            ($0.lastGood, $0.lastStoredBytes, $0.lastMilliseconds) = (began, made.storedBytes, took)
            ($0.kept, $0.failure, $0.isUnderWay) = (kept, nil, $0.isAsked)
        }
        log.info(
            "backup made",
            [
                ("storedBytes", .number(Int64(made.storedBytes))), ("milliseconds", .number(took)),
                ("problems", .number(Int64(made.problems.count))),
            ])
        for problem in made.problems {
            log.error("a backup lacks something", [("what", .text(problem))])
        }
    }

    private func isCheckDue() -> Bool {
        guard !runner.isStopped else { return false }
        return Self.isCheckDue(verified: state.verified, now: folder.clock.now())
    }

    /// Whether a week has passed since a backup was restored and found good.
    static func isCheckDue(verified: Milliseconds?, now: Milliseconds) -> Bool {
        verified.map { $0 + week <= now } ?? true
    }

    private func check(_ repository: BackupRepository) {
        do {
            guard try hasRoom(for: repository) else {
                current.withLock { $0.isCheckSkipped = true }
                return log.warning(
                    "the last backup was not checked: a restored copy would leave less than a fifth of the disk"
                )
            }
            let problems = try DataFolder.verifyBackup(
                target.name, folder.configuration, process, while: goesOn)
            let now = folder.clock.now()
            current.withLock { $0.isCheckSkipped = false }
            guard problems.isEmpty else {
                current.withLock { $0.badChecks += 1 }
                for problem in problems {
                    log.error("the last backup is not good", [("what", .text(problem))])
                }
                return
            }
            try repository.putVerified(at: now)
            current.withLock { $0.verified = now }
            log.info("the last backup was restored and is good")
        } catch {
            guard !runner.isStopped else { return }
            current.withLock { $0.badChecks += 1 }
            log.error("the last backup cannot be checked", [("failure", .text("\(error)"))])
        }
    }

    private func hasRoom(for repository: BackupRepository) throws -> Bool {
        guard let last = try repository.last() else { return false }
        return try Self.leavesRoom(
            bytes: repository.contents(of: last).byteCount(),
            freeBytes: FileSystem.freeBytes(at: folder.path),
            diskBytes: FileSystem.diskBytes(at: folder.path))
    }

    /// Whether a restored copy leaves a fifth of the disk, or takes too little of what is free to matter.
    static func leavesRoom(bytes: Int64, freeBytes: Int, diskBytes: Int) -> Bool {
        bytes <= Int64(freeBytes) / 100 || Int64(freeBytes) - bytes >= Int64(diskBytes) / 5
    }
}

extension Metrics {
    /// Tells of backups.
    ///
    /// - Parameter rounds: nil where backups are off.
    func observeBackups(_ rounds: BackupRounds?) {
        gauge("lenticular_backups_on", "Whether the server makes backups by itself (1).") {
            rounds == nil ? 0 : 1
        }
        guard let rounds else { return }
        gauge(
            "lenticular_backup_last_good_timestamp_seconds",
            "When the last good backup was begun; 0 for never."
        ) { Double(rounds.state.lastGood ?? 0) / 1_000 }
        gauge("lenticular_backup_last_stored_bytes", "What the last backup had to store.") {
            Double(rounds.state.lastStoredBytes)
        }
        gauge("lenticular_backup_last_seconds", "How long the last backup took.") {
            Double(rounds.state.lastMilliseconds) / 1_000
        }
        counter("lenticular_backup_failures_total", "Backups that could not be made.") {
            Double(rounds.state.failures)
        }
        gauge(
            "lenticular_backup_verified_timestamp_seconds",
            "When a backup was last restored and found good; 0 for never."
        ) { Double(rounds.state.verified ?? 0) / 1_000 }
        gauge(
            "lenticular_backup_check_skipped",
            "Whether the last check was left out for want of room (1)."
        ) { rounds.state.isCheckSkipped ? 1 : 0 }
        counter("lenticular_backup_bad_checks_total", "Checks that found a backup not good.") {
            Double(rounds.state.badChecks)
        }
    }
}
