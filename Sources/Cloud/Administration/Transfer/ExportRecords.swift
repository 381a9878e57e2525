import Accounts
import AssetStorage
import CloudDatabase
import CloudModel
import JSON
import Storage

/// What an export or an import is about.
package struct TransferTarget: Sendable {
    package let target: NamedEnvironment
    /// On whose private database alone; nil for everybody's and the public one.
    package let email: String?
    package let zone: String?

    package init(_ target: NamedEnvironment, of email: String? = nil, zone: String? = nil) {
        self.target = target
        self.email = email
        self.zone = zone
    }

    func subject(in data: any ServerData) throws -> ActionSubject {
        try ActionSubject(target, in: data, email: email, item: zone)
    }

    func zoneName() throws -> ZoneName? {
        try zone.map { text in
            guard let name = ZoneName(text) else {
                throw RecordsRefusal("'\(Fault.shown(text))' is no zone's name")
            }
            return name
        }
    }
}

/// Writes records to a file, a page at a time, however many there are.
///
/// An export that was cut short goes on at the last mark of its file. Refusals: `RecordsRefusal`, `TransferAbandoned`;
/// as `NamedEnvironment.store`.
package struct ExportRecords: AdministrativeAction {
    /// What was written.
    package struct Report: Sendable {
        package var records = 0
        package var assets = 0
        /// Files that are missing or damaged, and how many records are not what was written.
        package var problems: [String] = []
        /// Whether the file had been begun before.
        package var isContinued = false
    }

    /// Which records, and how.
    package struct Options: Sendable {
        package var type: String?
        package var filters: [String] = []
        package var format = TransferFormat.jsonl
        package var withAssets = true

        package init() {}
    }

    package var name: String { "export" }
    package var changes: Bool { false }
    package var right: ActionRight { .container.proven.ofPerson }
    package var looksAtPrivateData: Bool { true }

    private let target: TransferTarget
    private let options: Options
    private let files: any TransferFiles

    package init(_ target: TransferTarget, _ options: Options, to files: any TransferFiles) {
        self.target = target
        self.options = options
        self.files = files
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try target.subject(in: data)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> Report {
        try RecordsRefusal.of {
            let run = try ExportRun(target, options, files, data)
            return try run.finish()
        }
    }
}

/// One export on its way.
private final class ExportRun {
    /// What is gathered before it goes to the file, with a mark.
    private static let pieceBytes = 1_048_576

    private let options: ExportRecords.Options
    private let files: any TransferFiles
    private let data: any ServerData
    private let environment: ContainerEnvironment
    private let survey: SurveyRecords
    private let table: RecordsAsCSV?
    /// How many records there are to go through, about; nil where only going through them would tell.
    private let total: Int?
    private var report = ExportRecords.Report()
    private var cursor = SurveyCursor.start
    private var offset: Int64 = 0
    private var text = JSONWriter()
    private var zone: (owner: UserRecordName, name: ZoneName)?
    private var seenFiles: Set<AssetDigest> = []

    init(
        _ target: TransferTarget, _ options: ExportRecords.Options, _ files: any TransferFiles,
        _ data: any ServerData
    ) throws {
        self.options = options
        self.files = files
        self.data = data
        let environment = try target.target.found(in: data)
        self.environment = environment
        let store = try data.store(of: environment.container, in: environment.environment)
        let viewed = ViewedDatabases(environment, store, data)
        var selection = RecordSelection()
        selection.zone = try target.zoneName()
        selection.owner = try target.email.map {
            try data.users.derivedName(of: data.users.find(email: $0), in: environment.container)
        }
        selection.type = try options.type.map { try RecordTypeName(operatorGives: $0) }
        if let type = selection.type, !options.filters.isEmpty {
            let query = RecordQuery(
                type: type, filters: try options.filters.map { try FilterLanguage.filter($0) })
            selection.filters = try QueryCheck.admit(
                query, to: store.schema, in: viewed.database(of: .publicOwner), needsIndexes: false
            ).filters
        } else if !options.filters.isEmpty {
            throw RecordsRefusal("--filter needs --type: fields belong to a type")
        }
        guard options.format == .jsonl || selection.type != nil else {
            throw RecordsRefusal("--format csv needs --type: a table has the fields of one type")
        }
        total = try Self.total(selection, of: store) {
            try data.space(of: environment).size(owners: 0).amount.records
        }
        table = try selection.type.flatMap { type in
            options.format == .csv ? RecordsAsCSV(try store.schema.types[type]) : nil
        }
        survey = SurveyRecords(
            selection, of: store, limits: data.limits, viewed: viewed.database)
        if let table {
            text.raw(table.head)
            return
        }
        let beginning = TransferLine.beginning(environment, target, options)
        if try !takeUp(beginning) {
            text.raw(beginning)
            text.raw(TransferLine.schema(try store.schema))
        }
    }

    private static func total(
        _ selection: RecordSelection, of store: any Store, ofAll: () throws -> Int64
    ) throws -> Int? {
        guard selection.zone == nil, selection.type == nil else { return nil }
        guard let name = selection.owner else { return Int(clamping: try ofAll()) }
        return try store.read { snapshot in
            try snapshot.owner(named: name).flatMap { try snapshot.amount(of: $0.number).records }
        }
    }

    /// Goes on behind the last mark of a file that the same export has begun.
    private func takeUp(_ beginning: [UInt8]) throws -> Bool {
        guard let size = try files.size(of: .main), size > 0 else { return false }
        let begins = try files.read(.main, at: 0).prefix(beginning.count)
        guard beginning.starts(with: begins) else {
            throw RecordsRefusal(
                "the file is there already, and this export has not begun it; nothing is overwritten"
            )
        }
        let tail = try FileTail(of: .main, size: size, in: files)
        if let last = tail.lastLine(where: { _ in true }), TransferLine.isEnd(last.line) {
            throw RecordsRefusal("the file holds a whole export; nothing is overwritten")
        }
        guard let found = tail.lastLine(where: { TransferLine.mark(in: $0) != nil }),
            let mark = TransferLine.mark(in: found.line)
        else { return false }
        (cursor, report.records) = (mark.cursor, mark.records)
        offset = found.end
        report.isContinued = true
        return true
    }

    func finish() throws -> ExportRecords.Report {
        if table != nil, let size = try files.size(of: .main), size > 0 {
            throw RecordsRefusal("the file is there already; nothing is overwritten")
        }
        var next: SurveyCursor? = cursor
        while let after = next {
            var assets: [AssetDigest] = []
            let step = try survey.step(after: after) { record in
                append(record)
                if !record.files.isEmpty { assets += record.files }
            }
            if step.damaged > 0 {
                report.problems.append("a record that is not what was written is left out")
            }
            if options.withAssets { try write(assets) }
            next = step.cursor
            try flush(mark: next)
        }
        if table == nil { text.raw(TransferLine.end(records: report.records)) }
        try flush(isLast: true)
        try files.finish(.main, size: offset)
        return report
    }

    private func append(_ record: SurveyedRecord) {
        report.records += 1
        if let table { return table.append(record.body, to: &text) }
        if zone.map({ $0.owner != record.owner || $0.name != record.zone }) ?? true {
            zone = (record.owner, record.zone)
            text.raw(
                TransferLine.zone(record.zone, owner: record.owner, email: email(record.owner)))
        }
        if let root = record.share {
            return TransferLine.appendShare(root, record.body, to: &text)
        }
        text.raw(record.body)
        text.raw("\n")
    }

    private func email(_ owner: UserRecordName) -> String? {
        guard owner != .publicOwner else { return nil }
        // NB: a person whose address cannot be told is known by the name alone.
        return (try? data.users.emails(of: [owner], in: environment.container))?[owner]
    }

    private func flush(mark next: SurveyCursor? = nil, isLast: Bool = false) throws {
        guard isLast || text.bytes.count >= Self.pieceBytes else { return }
        if let next, table == nil { text.raw(TransferLine.mark(next, records: report.records)) }
        try files.write(.main, at: offset, text.bytes)
        offset += Int64(text.bytes.count)
        text.bytes.removeAll(keepingCapacity: true)
        let share = total.map { "\(min(99, report.records * 100 / max($0, 1))) % " } ?? ""
        guard files.tell("\(share)\(report.records) records, \(offset / 1_048_576) MB") else {
            throw TransferAbandoned()
        }
    }

    // MARK: - Files

    private func write(_ digests: [AssetDigest]) throws {
        let storage = data.assetStore(of: environment).storage
        for digest in digests where seenFiles.insert(digest).inserted {
            let file = TransferFile.asset(checksum: ReceiptText.checksum(of: digest))
            guard let reader = try storage.open(digest) else {
                report.problems.append("the file of \(digest.hexadecimal) is missing")
                continue
            }
            // What an earlier attempt has written whole is not written again.
            guard try files.size(of: file) != Int64(reader.byteCount) else { continue }
            var end: Int64 = 0
            let read = try reader.readAll { piece in
                try files.write(file, at: end, [UInt8](piece))
                end += Int64(piece.count)
            }
            if end == 0 { try files.write(file, at: 0, []) }
            try files.finish(file, size: end)
            report.assets += 1
            if read?.digest != digest {
                report.problems.append("the file of \(digest.hexadecimal) is damaged")
            }
        }
    }
}
