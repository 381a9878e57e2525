import CloudModel
import JSON

/// Takes a database of CloudKit over: reads it by Web Services into a file, and saves what the file has.
///
/// Either half goes on where it stopped. Refusals: `RecordsRefusal`, `ImportStopped`, `TransferAbandoned`,
/// `SchemaFileRefusal`; as `NamedEnvironment.store`.
package struct ImportFromCloudKit: AdministrativeAction {
    /// What came of it.
    package struct Report: Sendable {
        package struct Count: Sendable {
            package let type: String
            /// How many records are there.
            package let read: Int
            /// How many of them were saved.
            package let saved: Int
        }

        package let imported: ImportRecords.Report
        package let counts: [Count]
    }

    /// What is wanted, and how.
    package struct Options: Sendable {
        /// How the records are saved.
        package var saving: ImportRecords.Options
        /// What `cktool export-schema` has written; nil for nothing.
        package var schema: [UInt8]?
        package var skipsUnreadable = false
        /// What the pauses between attempts are measured in.
        package var pauseUnitMilliseconds = 1_000

        package init(saving: ImportRecords.Options) { self.saving = saving }
    }

    package var name: String { "import" }
    package var right: ActionRight { .container.proven.ofPerson }

    private let source: CloudKitSource
    private let target: TransferTarget
    private let options: Options
    private let files: any TransferFiles

    /// - Parameters:
    ///   - target: where the records go.
    ///   - files: of the file that is made on the way.
    package init(
        from source: CloudKitSource, _ target: TransferTarget, _ options: Options,
        by files: any TransferFiles
    ) {
        self.source = source
        self.target = target
        self.options = options
        self.files = files
    }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        try target.subject(in: data)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> Report {
        guard (source.scope == .private) == (target.email != nil) else {
            throw RecordsRefusal(
                source.scope == .private
                    ? "a private database is somebody's: name who gets it with --user"
                    : "--user needs the web token of somebody's private database")
        }
        // A user or container that is not there is told before anything is read.
        _ = try subject(in: data)
        _ = try target.target.found(in: data)
        let requests = CloudKitRequests(
            source, over: try data.sourceRequests(), for: files, data.clock,
            pauseUnitMilliseconds: options.pauseUnitMilliseconds)
        let reading = try ReadCloudKit(source, try selection(data.limits), requests, to: files)
        let notes = try reading.finish()
        let repeated = try RepeatedLines(in: files)
        var saving = options.saving
        saving.outdated = repeated.outdated
        var report = try ImportRecords(target, saving, from: files).run(in: data, by: actor)
        report.isContinued = report.isContinued || reading.isContinued
        report.notes = notes + report.notes
        let counts = repeated.counts.keys.sorted().map {
            Report.Count(type: $0, read: repeated.counts[$0] ?? 0, saved: report.types[$0] ?? 0)
        }
        return Report(imported: report, counts: counts)
    }

    private func selection(_ limits: ServiceLimits) throws -> ReadCloudKit.Selection {
        var selection = ReadCloudKit.Selection()
        selection.schema = try options.schema.map {
            try SchemaFile(named: "--schema-file", $0).schema(limits)
        }
        selection.type = options.saving.type
        selection.zone = target.zone
        selection.withAssets = options.saving.withAssets
        selection.skipsUnreadable = options.skipsUnreadable
        return selection
    }
}
