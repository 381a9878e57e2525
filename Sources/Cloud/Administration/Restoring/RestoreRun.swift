import Accounts
import AssetStorage
import CloudDatabase
import CloudModel
import JSON
import Storage

/// One undo on its way: finds what differs from the backup, and writes that.
///
/// What is found goes to a file of the backup's folder, in the form of an export, however much it is.
final class RestoreRun {
    /// What is gone through at once: one environment's zones of one owner.
    struct Part {
        let target: TransferTarget
        /// Nil for all records.
        let names: Set<String>?

        init(_ target: TransferTarget, names: [String]? = nil) {
            self.target = target
            self.names = names.map { Set($0) }
        }
    }

    /// A record of the backup, with the files of its assets.
    private struct BackedUp {
        let zone: ZoneName
        let body: [UInt8]
        let files: [AssetDigest]
        let share: SurveyedRecord.SharedRoot?
    }

    /// A record of the backup that is looked for here.
    private struct AskedRecord {
        let former: BackedUp
        let record: JSONValue
        let name: String
    }

    private static let pieceBytes = 1_048_576

    private let backup: OpenedBackup
    private let data: any ServerData
    private let withShares: Bool
    private let goesOn: @Sendable () -> Bool
    private var found: Set<String> = []
    var report = RestoreReport()
    private var text = JSONWriter()
    private var end: Int64 = 0
    /// How many records of the part are here as well as in the backup.
    private var inBoth = 0

    init(
        from backup: OpenedBackup, into data: any ServerData, withShares: Bool,
        while goesOn: @escaping @Sendable () -> Bool
    ) {
        self.backup = backup
        self.data = data
        self.withShares = withShares
        self.goesOn = goesOn
    }

    // MARK: - What differs

    /// Finds what of a part is not here as the backup has it.
    func collect(_ part: Part) throws {
        (end, inBoth) = (0, 0)
        text.bytes.removeAll(keepingCapacity: true)
        guard let target = try environment(part, in: backup.data), try isKnown(part) else {
            return lacking(part)
        }
        let former = try selection(part, in: backup.data)
        try survey(former, target, in: backup.data) { page in try self.compare(page, part, target) }
        try flush(isLast: true)
        lacking(part)
        if part.names == nil { try countNewer(part, target) }
    }

    /// The environment of a part, where the backup has data of it; nil elsewhere.
    private func environment(
        _ part: Part, in backup: any ServerData
    ) throws -> ContainerEnvironment? {
        do {
            let target = try part.target.target.found(in: backup)
            return try backup.environments(of: target.container).contains(target) ? target : nil
        } catch CatalogRefusal.containerUnknown {
            return nil
        }
    }

    /// Whether the part's container is here.
    private func isKnown(_ part: Part) throws -> Bool {
        do {
            _ = try part.target.target.found(in: data)
            return true
        } catch CatalogRefusal.containerUnknown {
            report.notes.append("the container \(part.target.target.container) is not here")
            return false
        }
    }

    private func selection(_ part: Part, in data: any ServerData) throws -> RecordSelection {
        var selection = RecordSelection()
        selection.zone = try part.target.zoneName()
        // By the account that has the address here: it may have had another one then.
        selection.owner =
            try part.target.email.map {
                let account = try self.data.users.find(email: $0)
                return try data.users.derivedName(
                    of: account, in: part.target.target.found(in: data).container)
            } ?? .publicOwner
        return selection
    }

    /// Goes through records, a page at a time, each page in a snapshot of its own.
    private func survey(
        _ selection: RecordSelection, _ target: ContainerEnvironment, in data: any ServerData,
        _ page: ([BackedUp]) throws -> Void
    ) throws {
        let store = try data.store(of: target.container, in: target.environment)
        let viewed = ViewedDatabases(target, store, data)
        let survey = SurveyRecords(
            selection, of: store, limits: data.limits, viewed: viewed.database)
        var next: SurveyCursor? = .start
        while let cursor = next {
            guard goesOn() else { throw TransferAbandoned() }
            var records: [BackedUp] = []
            let step = try survey.step(after: cursor) { record in
                records.append(
                    BackedUp(
                        zone: record.zone, body: [UInt8](record.body), files: record.files,
                        share: record.share))
            }
            if step.damaged > 0 {
                report.problems.append("a record that is not what was written is left out")
            }
            try page(records)
            next = step.cursor
        }
    }

    private func compare(
        _ page: [BackedUp], _ part: Part, _ target: ContainerEnvironment
    ) throws {
        let store = try data.store(of: target.container, in: target.environment)
        let owner = try selection(part, in: data).owner ?? .publicOwner
        let database = ViewedDatabases(target, store, data).database(of: owner)
        let asked = try page.compactMap { former -> AskedRecord? in
            let record = try JSONDocument(parsing: former.body).root
            guard let name = record["recordName"]?.string, part.names?.contains(name) ?? true
            else { return nil }
            return AskedRecord(former: former, record: record, name: name)
        }
        if !asked.isEmpty { found.formUnion(part.names == nil ? [""] : asked.map(\.name)) }
        let here = try store.read { snapshot in
            try Dictionary(grouping: asked, by: \.former.zone).mapValues { records in
                try lookup(records[0].former.zone, database, snapshot).map {
                    try current(records.map(\.name), $0)
                } ?? [:]
            }
        }
        for one in asked
        where take(one.former, one.record, one.name, here[one.former.zone]?[one.name], target) {
            try keep(one.former, target)
        }
    }

    /// Nil for a zone that is not here.
    private func lookup(
        _ zone: ZoneName, _ database: Database, _ snapshot: any StoreSnapshot
    ) throws -> LookupRecords? {
        do {
            return try LookupRecords(
                in: ZoneID(name: zone), of: database, snapshot: snapshot)
        } catch let fault as Fault where fault.code == .zoneNotFound {
            return nil
        }
    }

    /// Those of some records that are here, by their names.
    private func current(
        _ names: [String], _ lookup: LookupRecords
    ) throws -> [String: JSONValue] {
        var here: [String: JSONValue] = [:]
        for (name, found) in zip(names, try lookup.bodies(named: names)) {
            do { here[name] = try JSONDocument(parsing: found.get()).root } catch let fault as Fault
                where fault.code == .notFound
            {}
        }
        return here
    }

    /// Counts what becomes of a record of the backup.
    ///
    /// - Returns: whether anything is to be written.
    private func take(
        _ former: BackedUp, _ record: JSONValue, _ name: String, _ here: JSONValue?,
        _ target: ContainerEnvironment
    ) -> Bool {
        if here != nil { inBoth += 1 }
        if former.share != nil {
            // Who takes part in a share that stands, its owner has said since.
            guard here == nil else { return false }
            if withShares { report.shares += 1 } else { report.sharesLeft += 1 }
            return withShares
        }
        let differences = here.map {
            RecordComparison.differences(here: $0, backup: record)
        }
        switch differences {
        case nil: report.made += 1
        case .some(let parts) where parts.isEmpty:
            report.same += 1
            return false
        case .some: report.changed += 1
        }
        report.add(
            RestoreReport.Record(
                environment: target, zone: former.zone, name: name,
                type: record["recordType"]?.string ?? "", differences: differences))
        return true
    }

    /// Names records that were asked for and are not in the backup.
    private func lacking(_ part: Part) {
        guard let names = part.names else { return }
        report.problems += names.subtracting(found).sorted().map {
            "the backup has no record '\(Fault.shown($0))' there"
        }
    }

    private func countNewer(_ part: Part, _ target: ContainerEnvironment) throws {
        var here = 0
        try survey(try selection(part, in: data), target, in: data) { here += $0.count }
        report.newer += max(0, here - inBoth)
    }

    // MARK: - The file

    private func keep(_ former: BackedUp, _ target: ContainerEnvironment) throws {
        if let root = former.share {
            former.body.withUnsafeBytes { TransferLine.appendShare(root, $0, to: &text) }
        } else {
            text.raw(former.body)
            text.raw("\n")
        }
        for digest in former.files { try keep(digest, target) }
        try flush()
    }

    private func flush(isLast: Bool = false) throws {
        guard isLast || text.bytes.count >= Self.pieceBytes else { return }
        try backup.files.write(.main, at: end, text.bytes)
        end += Int64(text.bytes.count)
        text.bytes.removeAll(keepingCapacity: true)
        if isLast { try backup.files.finish(.main, size: end) }
    }

    /// Brings the file of an asset out of the backup, or from here where the backup leaves files out.
    private func keep(_ digest: AssetDigest, _ target: ContainerEnvironment) throws {
        let file = TransferFile.asset(checksum: ReceiptText.checksum(of: digest))
        guard try backup.files.size(of: file) == nil else { return }
        let former = try backup.data.assetStore(of: target).storage.open(digest)
        guard let reader = try former ?? data.assetStore(of: target).storage.open(digest) else {
            report.problems.append("the file of \(digest.hexadecimal) is missing")
            return
        }
        var offset: Int64 = 0
        _ = try reader.readAll { piece in
            try backup.files.write(file, at: offset, [UInt8](piece))
            offset += Int64(piece.count)
        }
        if offset == 0 { try backup.files.write(file, at: 0, []) }
    }

    // MARK: - Writing

    /// Saves what was found, as an import of it would.
    func write(_ part: Part, by actor: Operator) throws {
        guard end > 0 else { return }
        var options = ImportRecords.Options()
        options.mode = .update
        options.canResume = false
        let written = try ImportRecords(part.target, options, from: backup.files)
            .run(in: data, by: actor)
        report.failed += written.failed
        report.failures += written.failures
        report.notes += written.notes
    }
}
