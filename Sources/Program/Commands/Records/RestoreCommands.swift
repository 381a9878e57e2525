import Administration
import CloudModel
import Control

extension Command {
    /// What takes data out of a backup, beside what is there.
    static let restores: [Command] = [
        Command(
            "record restore", "take records out of a backup, beside what is there",
            reach: [.looks, .everywhere],
            positionals: CommandPositional.containerAndEnvironment + [
                CommandPositional(
                    "DATABASE", "public or private",
                    choices: [DatabaseScope.public.rawValue, DatabaseScope.private.rawValue]),
                CommandPositional("NAME", "record names", arity: .many),
            ],
            options: [
                CommandOption("user", value: "EMAIL", "whose private database it is"),
                CommandOption("zone", value: "Z", "the zone (_defaultZone)"),
            ] + CommandOption.restore,
            question: restoreQuestion, showsFirst: true, isLong: true,
            action: .watched { invocation, administrator, watcher in
                let isPrivate =
                    try invocation.required("DATABASE") == DatabaseScope.private.rawValue
                guard isPrivate == (invocation.value("user") != nil) else {
                    throw invocation.misuse(
                        "a private database is somebody's: name them with --user")
                }
                return try restored(
                    .records(
                        invocation.values("NAME"), invocation.containerAndEnvironment(),
                        email: invocation.value("user"), zone: invocation.value("zone")),
                    invocation, administrator, watcher)
            }),
        Command(
            "zone restore", "take a zone out of a backup, beside what is there",
            reach: [.looks, .everywhere],
            positionals: CommandPositional.containerAndEnvironment + [
                CommandPositional("ZONE", "the zone's name")
            ],
            options: [
                CommandOption(
                    "user", value: "EMAIL", "whose private zone it is; else the public one")
            ] + CommandOption.restore,
            question: restoreQuestion, showsFirst: true, isLong: true,
            action: .watched { invocation, administrator, watcher in
                try restored(
                    .zone(
                        invocation.required("ZONE"), invocation.containerAndEnvironment(),
                        email: invocation.value("user")), invocation, administrator, watcher)
            }),
        Command(
            "user restore", "take a user's private zones out of a backup, beside what is there",
            reach: [.looks, .everywhere],
            positionals: [CommandPositional("EMAIL", "the address that names the account")],
            options: [CommandOption("container", value: "ID", "of one container alone")]
                + CommandOption.restore,
            question: restoreQuestion, showsFirst: true, isLong: true,
            action: .watched { invocation, administrator, watcher in
                try restored(
                    .user(invocation.required("EMAIL"), container: invocation.value("container")),
                    invocation, administrator, watcher)
            }),
    ]

    private static let restoreQuestion = "Give these records what the backup has?"

    private static func restored(
        _ selection: RestoreSelection, _ invocation: Invocation, _ administrator: Administrator,
        _ watcher: ProgressWatcher
    ) throws -> CommandOutput {
        let moment = try invocation.value("at").map {
            try Self.moment($0, of: "\(invocation.command.name): --at")
        }
        let isMeant = invocation.has("yes")
        let report = try administrator.perform(
            RestoreRecords(
                selection,
                from: BackupRequest(invocation.value("from"), at: moment) {
                    watcher.tell("reading the backup")
                }, withShares: invocation.has("shares"), isMeant: isMeant))
        return output(report)
    }

    private static func output(_ report: RestoreReport) -> CommandOutput {
        let failures = report.failures.map { "failed: \($0.recordName): \($0.reason)" }
        var output = CommandOutput(
            (report.records.flatMap(\.lines) + [summary(report)] + report.problems + failures
                + report.notes).joined(separator: "\n"),
            values: counts(report) + [
                ("records", .objects(report.records.map(\.members))),
                ("problems", .texts(report.problems)), ("failures", .texts(failures)),
                ("notes", .texts(report.notes)), ("done", .flag(report.isDone)),
            ], status: report.failed == 0 && report.problems.isEmpty ? 0 : 1)
        output.asks = !report.isDone && report.made + report.changed + report.shares > 0
        return output
    }

    private static func summary(_ report: RestoreReport) -> String {
        let will = report.isDone ? "" : "would "
        let shares =
            report.shares > 0 ? ", \(report.shares) shares under new links" : ""
        let left =
            report.sharesLeft > 0
            ? "; \(report.sharesLeft) shares stay away without --shares" : ""
        return "\(report.made) \(will)come back, \(report.changed) \(will)get the backup's values"
            + "\(shares); \(report.same) are as they were, \(report.newer) newer stay as they are"
            + "\(left), \(report.failed) failed"
    }

    private static func counts(
        _ report: RestoreReport
    ) -> [(key: String, value: CommandOutput.Value)] {
        [
            ("made", report.made), ("changed", report.changed), ("same", report.same),
            ("newer", report.newer), ("shares", report.shares), ("sharesLeft", report.sharesLeft),
            ("failed", report.failed),
        ].map { ($0.0, .number(Int64($0.1))) }
    }
}

extension CommandOption {
    fileprivate static let restore = [
        CommandOption(
            "from", value: "BACKUP",
            "a copy, or the folder or s3://BUCKET/PREFIX of backups; else backups.to",
            kind: .serverPath),
        CommandOption(
            "at", value: "TIME",
            "the last backup of that time or before, such as 2026-11-21T08:00:00Z"),
        CommandOption("shares", "bring shares back too, with all who took part"),
    ]
}

extension RestoreReport.Record {
    fileprivate var lines: [String] {
        let location =
            "\(environment.container.name) \(environment.environment.rawValue) \(zone.text)"
        guard let differences else { return ["+ \(location) \(type) \(name)"] }
        return ["~ \(location) \(type) \(name)"]
            + differences.map { "    \($0.part): \($0.here ?? "–") → \($0.backup ?? "–")" }
    }

    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [
            ("container", .text(environment.container.name)),
            ("environment", .text(environment.environment.rawValue)),
            ("zone", .text(zone.text)), ("recordName", .text(name)), ("recordType", .text(type)),
            ("change", .text(differences == nil ? "made" : "changed")),
            (
                "differences",
                .objects(
                    (differences ?? []).map { difference in
                        [("part", .text(difference.part))]
                            + (difference.here.map { [("here", .text($0))] } ?? [])
                            + (difference.backup.map { [("backup", .text($0))] } ?? [])
                    })
            ),
        ]
    }
}
