import Administration
import CloudModel
import Control

extension Command {
    /// What takes records of a whole environment in and out.
    static let transfers: [Command] = [
        Command(
            "export", "write records to a file", reach: [.looks, .person],
            positionals: CommandPositional.containerAndEnvironment + [
                CommandPositional(
                    "FILE", "a file that is not there yet, or an export that goes on",
                    kind: .streamed)
            ],
            options: CommandOption.transfer + [
                CommandOption(
                    "filter", value: "\"FIELD OP VALUE\"",
                    "only those of the type for which it holds",
                    isRepeatable: true)
            ],
            isLong: true,
            action: .streamed { try export($0, by: $1, to: $2) }),
        Command(
            "import", "save the records of a file that export has written, or of CloudKit",
            reach: .person,
            positionals: CommandPositional.containerAndEnvironment + [
                CommandPositional(
                    "FILE",
                    "the file; - for standard input. With --from, one that is not there yet, or an "
                        + "import that goes on",
                    kind: .streamed)
            ],
            options: CommandOption.transfer + CommandOption.source + [
                CommandOption(
                    "create", "a record that exists is a failure (as if nothing is said)"),
                CommandOption("update", "a record that exists becomes what its line says"),
                CommandOption("stop", "end at the first record that fails"),
                CommandOption("schema", "make development's schema what the file says first"),
            ],
            isLong: true, readsStream: true,
            action: .streamed { try importRecords($0, by: $1, from: $2) }),
    ]

    private static func export(
        _ invocation: Invocation, by administrator: Administrator, to files: any CallerFiles
    ) throws -> CommandOutput {
        var options = ExportRecords.Options()
        options.type = invocation.value("type")
        options.filters = invocation.values("filter")
        options.format = try invocation.transferFormat()
        options.withAssets = !invocation.has("no-assets")
        let isOutput = invocation.value("FILE") == "-"
        if isOutput { options.withAssets = false }
        let report = try administrator.perform(
            ExportRecords(
                invocation.transferTarget(), options,
                to: TypedFiles(files, isStandard: isOutput)))
        let counts = "\(report.records) records and \(report.assets) files"
        var output = CommandOutput(
            isOutput && report.problems.isEmpty
                ? "" : (["\(counts) written"] + report.problems).joined(separator: "\n"),
            values: [
                ("records", .number(Int64(report.records))),
                ("assets", .number(Int64(report.assets))),
                ("problems", .texts(report.problems)), ("continued", .flag(report.isContinued)),
            ])
        output.status = report.problems.isEmpty ? 0 : 1
        return output
    }

    private static func importRecords(
        _ invocation: Invocation, by administrator: Administrator, from files: any CallerFiles
    ) throws -> CommandOutput {
        guard !invocation.has("create") || !invocation.has("update") else {
            throw invocation.misuse("--create and --update exclude each other")
        }
        if invocation.has("from") {
            return try importFromCloudKit(invocation, by: administrator, by: files)
        }
        for option in CommandOption.source where invocation.has(option.name) {
            throw invocation.misuse("--\(option.name) goes with --from cloudkit")
        }
        let options = try importOptions(invocation, files)
        let report = try administrator.perform(
            ImportRecords(
                invocation.transferTarget(), options,
                from: TypedFiles(files, isStandard: !options.canResume)))
        return described(report)
    }

    static func importOptions(
        _ invocation: Invocation, _ files: any CallerFiles
    ) throws -> ImportRecords.Options {
        var options = ImportRecords.Options()
        options.mode = invocation.has("update") ? .update : .create
        options.type = invocation.value("type")
        options.format = try invocation.transferFormat()
        options.stops = invocation.has("stop")
        options.withSchema = invocation.has("schema")
        options.withAssets = !invocation.has("no-assets")
        options.canResume = invocation.value("FILE") != "-"
        if !options.canResume { options.withAssets = false }
        if !invocation.has("json") {
            options.failed = { try files.print(Array("\($0)\n".utf8)) }
        }
        return options
    }

    static func described(_ report: ImportRecords.Report) -> CommandOutput {
        let first =
            "\(report.records) records, \(report.shares) shares and \(report.assets) files saved, "
            + "\(report.failed) failed"
        return CommandOutput(
            ([first] + report.notes).joined(separator: "\n"),
            values: [
                ("records", .number(Int64(report.records))),
                ("shares", .number(Int64(report.shares))),
                ("assets", .number(Int64(report.assets))),
                ("failed", .number(Int64(report.failed))),
                (
                    "failures",
                    .objects(
                        report.failures.map {
                            [
                                ("recordName", .text($0.recordName)),
                                ("offset", .number($0.offset)), ("reason", .text($0.reason)),
                            ]
                        })
                ), ("notes", .texts(report.notes)), ("continued", .flag(report.isContinued)),
            ], status: report.failed == 0 ? 0 : 1)
    }
}

extension CommandOption {
    fileprivate static let transfer = [
        CommandOption("user", value: "EMAIL", "the private database of this user alone"),
        CommandOption("zone", value: "Z", "zones of this name alone"),
        CommandOption("type", value: "T", "records of this type alone"),
        CommandOption(
            "format", value: "jsonl|csv", "lines of JSON (jsonl), or a table of one type"),
        CommandOption("no-assets", "leave the files of assets out"),
    ]
}

extension Invocation {
    func transferTarget() throws -> TransferTarget {
        TransferTarget(try containerAndEnvironment(), of: value("user"), zone: value("zone"))
    }

    fileprivate func transferFormat() throws -> TransferFormat {
        guard let format = TransferFormat(rawValue: value("format") ?? "jsonl") else {
            throw misuse("--format takes jsonl or csv")
        }
        return format
    }
}

/// The files of an export or import where it was typed.
struct TypedFiles: TransferFiles {
    private static let argument = "FILE"

    private let files: any CallerFiles
    /// Whether the argument is standard input or output, which has no length and nothing beside it.
    private let isStandard: Bool

    init(_ files: any CallerFiles, isStandard: Bool) {
        self.files = files
        self.isStandard = isStandard
    }

    private func name(_ file: TransferFile) -> String {
        switch file {
        case .main: Self.argument
        case .beside(let name): "\(Self.argument).assets/\(name)"
        }
    }

    func size(of file: TransferFile) throws -> Int64? {
        isStandard ? nil : try files.size(of: name(file))
    }

    func read(_ file: TransferFile, at offset: Int64) throws -> [UInt8] {
        try files.read(name(file), at: offset)
    }

    func write(_ file: TransferFile, at offset: Int64, _ bytes: [UInt8]) throws {
        try files.write(name(file), at: offset, bytes)
    }

    func finish(_ file: TransferFile, size: Int64) throws {
        try files.finish(name(file), size: size)
    }

    func tell(_ progress: String) -> Bool { files.tell(progress) }

    func pause<Result, Failure: Error>(
        _ wait: () throws(Failure) -> Result
    ) throws(Failure) -> Result { try files.pause(wait) }
}
