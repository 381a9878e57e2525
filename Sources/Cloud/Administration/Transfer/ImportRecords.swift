import CloudDatabase
import CloudModel
import JSON
import Storage

/// Reads records from a file that `ExportRecords` has written, or that has its form, and saves them, however many there are.
///
/// Each record succeeds or fails by itself. An import that was cut short goes on where it stopped. Refusals:
/// `RecordsRefusal`, `ImportStopped`, `TransferAbandoned`; as `NamedEnvironment.store`.
package struct ImportRecords: AdministrativeAction {
    /// What became of the lines.
    package struct Report: Sendable {
        package var records = 0
        /// How many of them are of each type.
        package var types: [String: Int] = [:]
        package var shares = 0
        package var assets = 0
        package var failed = 0
        /// The first of those that failed.
        package var failures: [Failure] = []
        /// Whether an earlier attempt had begun.
        package var isContinued = false
        /// What was not done, in a line each.
        package var notes: [String] = []

        static let failuresMax = 10_000
    }

    /// A line of which nothing was saved.
    package struct Failure: Sendable, Equatable, CustomStringConvertible {
        /// Where in the file the line begins.
        package let offset: Int64
        package let recordName: String
        package let reason: String

        package var description: String {
            "\(recordName.isEmpty ? "?" : recordName) (at byte \(offset)): \(reason)"
        }
    }

    package struct Options: Sendable {
        /// `update` makes a record that exists what its line says; `create` takes it for a failure.
        package var mode = SaveRecords.Mode.create
        package var format = TransferFormat.jsonl
        /// Records of this type alone; of a table, the type of rows that name none.
        package var type: String?
        /// Whether the first failure ends it.
        package var stops = false
        package var withAssets = true
        /// Whether development's schema becomes what the file says first.
        package var withSchema = false
        /// Whether the file can be read again from any place.
        package var canResume = true
        /// Where lines begin that count for nothing, because others of the same file have replaced them.
        package var outdated: Set<Int64> = []
        /// Hears of each failure.
        package var failed: @Sendable (Failure) throws -> Void = { _ in }

        package init() {}
    }

    package var name: String { "import" }
    package var right: ActionRight { .container.proven.ofPerson }

    private let target: TransferTarget
    private let options: Options
    private let files: any TransferFiles

    package init(_ target: TransferTarget, _ options: Options, from files: any TransferFiles) {
        self.target = target
        self.options = options
        self.files = files
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try target.subject(in: data)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> Report {
        try RecordsRefusal.of {
            try ImportRun(target, options, files, data, by: actor).finish()
        }
    }
}

/// A record failed, and the import was to stop then; it goes on at that place when it is run again.
package struct ImportStopped: Error, CustomStringConvertible {
    package let description: String
}

/// One import on its way: a stretch of the file after the other, each whole on disk before the next begins.
private final class ImportRun {
    /// What is read and noted at once.
    private static let stretchBytes = 8_388_608
    /// A line that is longer ends the import.
    private static let lineBytesMax = 67_108_864
    /// Lines that wait for others; more of them fail.
    private static let deferredMax = 50_000

    private let target: TransferTarget
    private let options: ImportRecords.Options
    private let files: any TransferFiles
    private let size: Int64
    private let lines: ImportLines
    private let targets: ImportTargets
    private let batches: ImportBatches
    private let makeName: () -> RecordName
    private let limits: ServiceLimits
    private let applySchema: (String) throws -> Void
    private var progress: ImportProgress
    private var report = ImportRecords.Report()
    private var pending: [UInt8] = []
    private var isAtEnd = false

    init(
        _ target: TransferTarget, _ options: ImportRecords.Options, _ files: any TransferFiles,
        _ data: any ServerData, by actor: Operator
    ) throws {
        (self.target, self.options, self.files) = (target, options, files)
        let found = try target.target.found(in: data)
        let environment = try OperatedEnvironment(found, in: data)
        size = options.canResume ? try files.size(of: .main) ?? 0 : 0
        let type = try options.type.map { try RecordTypeName(operatorGives: $0) }
        lines = ImportLines(options.format, type: type, zone: try target.zoneName()) {
            try environment.store.schema
        }
        targets = ImportTargets(environment, email: target.email, in: data)
        makeName = { RecordNames.random(data.random) }
        limits = data.limits
        batches = ImportBatches(
            mode: options.mode, assets: options.withAssets ? ImportAssets(files, found, data) : nil,
            limits: limits, makeName: makeName)
        applySchema = { text in
            guard found.environment == .development else { return }
            _ = try ImportSchemaFile(
                SchemaFile(named: "schema", Array(text.utf8)), into: found.container.name,
                prunes: false, isMeant: true
            ).run(in: data, by: actor)
        }
        let about = ImportProgress.About(
            target: "\(found.container.folded) \(found.environment.rawValue) "
                + "\(target.email ?? "") \(target.zone ?? "") \(options.type ?? "")",
            mode: options.mode.rawValue, size: size)
        progress = ImportProgress(about)
        if options.canResume, let kept = try ImportProgress.read(about, from: files) {
            progress = kept
            report.isContinued = true
            (report.records, report.shares) = (kept.records, kept.shares)
            (report.failed, report.types) = (kept.failed, kept.types)
            for (owner, email) in kept.owners { targets.note(owner: owner, email: email) }
        }
    }

    func finish() throws -> ImportRecords.Report {
        if options.format == .csv { try readHead() }
        while let stretch = try nextStretch() {
            let until = progress.from + Int64(stretch.count)
            let mayExist = progress.from < progress.until
            progress.until = max(progress.until, until)
            try keepProgress()
            try take(lines.split(stretch, at: progress.from), mayExist: mayExist)
            progress.from = until
            try tell()
        }
        progress.until = progress.from
        try keepProgress()
        try takeDeferred()
        if options.canResume, progress.isKept { try files.finish(.importProgress, size: 0) }
        report.assets = batches.assetCount
        return report
    }

    /// Reads the names of a table's columns, and begins behind them.
    private func readHead() throws {
        let resumed = progress.from
        progress.from = 0
        try fill()
        let used = try lines.takeHead(pending)
        progress.from = max(resumed, Int64(used))
        if resumed > Int64(used) {
            pending = []
            isAtEnd = false
        } else {
            pending.removeFirst(used)
        }
    }

    // MARK: - The file

    /// Reads on until there is a stretch, or the end of the file.
    private func fill() throws {
        while !isAtEnd, pending.count < Self.stretchBytes {
            let piece = try files.read(.main, at: progress.from + Int64(pending.count))
            isAtEnd = piece.isEmpty
            pending += piece
        }
    }

    /// The next whole lines; nil at the end.
    private func nextStretch() throws -> [UInt8]? {
        while true {
            try fill()
            guard !pending.isEmpty else { return nil }
            let end = isAtEnd ? pending.count : lines.endOfLines(pending)
            if end > 0 {
                let stretch = Array(pending[..<end])
                pending.removeFirst(end)
                return stretch
            }
            guard pending.count <= Self.lineBytesMax else {
                throw RecordsRefusal(
                    "the line at byte \(progress.from) is longer than \(Self.lineBytesMax) bytes")
            }
            let piece = try files.read(.main, at: progress.from + Int64(pending.count))
            isAtEnd = piece.isEmpty
            pending += piece
        }
    }

    private func keepProgress() throws {
        guard options.canResume else { return }
        (progress.records, progress.shares) = (report.records, report.shares)
        (progress.failed, progress.types) = (report.failed, report.types)
        try progress.write(to: files)
    }

    private func tell() throws {
        let share = size > 0 ? "\(progress.from * 100 / size) % " : ""
        guard files.tell("\(share)\(report.records) records, \(report.failed) failed") else {
            throw TransferAbandoned()
        }
    }

    // MARK: - Lines

    private func take(_ found: [ImportLine], mayExist: Bool) throws {
        let found = found.filter { !options.outdated.contains($0.offset) }
        try targets.prepare(found)
        for line in found {
            switch line.content {
            case .mistake(let reason): try fail(line, "", reason)
            case .schema(let text):
                if options.withSchema { try schema(text, line) }
            case .zone(let owner, let email):
                targets.note(owner: owner, email: email)
                progress.owners[owner] = email ?? progress.owners[owner]
            case .share: try deferLine(line)
            case .record(let record):
                do {
                    try batches.add(record, line, to: try targets.target(of: record)) {
                        try self.ended($0, $1, mayExist: mayExist, mayWait: true)
                    }
                } catch let refusal as RecordsRefusal {
                    try fail(line, record.name ?? "", refusal.description)
                }
            }
        }
        try batches.drain { try self.ended($0, $1, mayExist: mayExist, mayWait: true) }
    }

    private func schema(_ text: String, _ line: ImportLine) throws {
        do { try applySchema(text) } catch { try fail(line, "schema", "\(error)") }
    }

    /// Hears what became of one record.
    private func ended(
        _ line: ImportLine, _ outcome: RecordOutcome, mayExist: Bool, mayWait: Bool
    ) throws {
        guard case .failed(let name, let fault) = outcome else { return count(line) }
        switch fault.code {
        // An attempt that was cut short may have saved it.
        case .conflict where mayExist: count(line)
        // What it refers to may come later in the file.
        case .validatingReferenceError where mayWait: try deferLine(line, name)
        default: try fail(line, name, "\(fault.code.rawValue): \(fault.reason)")
        }
    }

    private func count(_ line: ImportLine) {
        report.records += 1
        if case .record(let record) = line.content {
            report.types[record.json["recordType"]?.string ?? "", default: 0] += 1
        }
    }

    private func deferLine(_ line: ImportLine, _ name: String = "") throws {
        guard progress.deferred.count < Self.deferredMax else {
            return try fail(
                line, name, "too many records wait for others that come later in the file")
        }
        progress.deferred.append(
            ImportProgress.Deferred(
                offset: line.offset, bytes: line.bytes, length: line.bytes.count))
    }

    private func fail(_ line: ImportLine, _ name: String, _ reason: String) throws {
        report.failed += 1
        let failure = ImportRecords.Failure(offset: line.offset, recordName: name, reason: reason)
        if report.failures.count < ImportRecords.Report.failuresMax {
            report.failures.append(failure)
        }
        try options.failed(failure)
        guard options.stops else { return }
        throw ImportStopped(description: "stopped at \(failure)")
    }

    // MARK: - What waits for other lines

    /// Saves what waits for what it refers to, again as long as that helps, and then the shares.
    private func takeDeferred() throws {
        var waiting = try progress.deferred.map { deferred in
            let bytes = deferred.bytes.isEmpty ? try read(deferred) : deferred.bytes
            return lines.line(bytes, at: deferred.offset)
        }
        progress.deferred = []
        try targets.prepare(waiting)
        let shared = waiting.filter(\.isShare)
        waiting.removeAll(where: \.isShare)
        while !waiting.isEmpty {
            let before = waiting.count
            try takeWaiting(waiting, mayWait: true)
            waiting = progress.deferred.map { lines.line($0.bytes, at: $0.offset) }
            progress.deferred = []
            guard waiting.count < before else {
                try takeWaiting(waiting, mayWait: false)
                break
            }
        }
        guard !shared.isEmpty else { return }
        // An attempt that was cut short here may have made some.
        let mayExist = progress.makesShares
        progress.makesShares = true
        progress.deferred = shared.map {
            ImportProgress.Deferred(offset: $0.offset, bytes: $0.bytes, length: $0.bytes.count)
        }
        try keepProgress()
        try takeShares(shared, mayExist: mayExist)
    }

    private func takeWaiting(_ waiting: [ImportLine], mayWait: Bool) throws {
        for line in waiting {
            guard case .record(let record) = line.content else { continue }
            try batches.add(record, line, to: try targets.target(of: record)) {
                try self.ended($0, $1, mayExist: true, mayWait: mayWait)
            }
        }
        try batches.drain { try self.ended($0, $1, mayExist: true, mayWait: mayWait) }
        try tell()
    }

    private func read(_ deferred: ImportProgress.Deferred) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < deferred.length {
            let piece = try files.read(.main, at: deferred.offset + Int64(bytes.count))
            guard !piece.isEmpty else { break }
            bytes += piece.prefix(deferred.length - bytes.count)
        }
        return bytes
    }

    private func takeShares(_ lines: [ImportLine], mayExist: Bool) throws {
        let shares = ImportShares(
            targets, options.mode, mayExist: mayExist, limits: limits, makeName: makeName
        ) { line, fault in
            guard let fault else { return self.report.shares += 1 }
            guard case .share(_, let record) = line.content else { return }
            try self.fail(line, record.name ?? "", "\(fault.code.rawValue): \(fault.reason)")
        }
        for line in lines {
            guard case .share(let root, let record) = line.content else { continue }
            do {
                try shares.add(line, record, root: root, in: targets.target(of: record))
            } catch let refusal as RecordsRefusal {
                try fail(line, record.name ?? "", refusal.description)
            }
        }
        try shares.finish()
        report.notes += shares.notes
    }
}
