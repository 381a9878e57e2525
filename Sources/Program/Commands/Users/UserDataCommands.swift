import Administration
import CloudDatabase
import CloudModel
import Control
import Storage

extension Command {
    private static let archiveName = "export.zip"

    /// What operators do with all that is kept of somebody.
    static let userData: [Command] = [
        Command(
            "user export", "write all that is kept of a user to a file",
            reach: [.looks, .everywhere],
            positionals: [
                CommandPositional("EMAIL", "the address that names the account"),
                CommandPositional("FILE", "a ZIP file that is not there yet", kind: .path),
            ],
            isLong: true,
            action: .copy(to: "FILE", file: archiveName) { invocation, administrator, copy in
                let email = try invocation.required("EMAIL")
                var report = ExportPerson.Report()
                try copy.stream(archiveName) { write in
                    report = try administrator.perform(ExportAccount(email, to: write))
                }
                let counts = "\(report.records) records and \(report.assets) files"
                return CommandOutput(
                    (["\(counts) of \(email) written to \(try invocation.required("FILE"))"]
                        + report.problems).joined(separator: "\n"),
                    values: [
                        (
                            "report",
                            .object([
                                ("records", .number(Int64(report.records))),
                                ("assets", .number(Int64(report.assets))),
                                ("problems", .texts(report.problems)),
                            ])
                        )
                    ], status: report.problems.isEmpty ? 0 : 1)
            }),
        Command(
            "user erase", "erase an account with all that every container keeps of it",
            reach: .everywhere,
            positionals: [CommandPositional("EMAIL", "the address that names the account")],
            options: [
                CommandOption(
                    "public", value: "keep|anonymous|delete",
                    "what becomes of the user's public records (keep)")
            ],
            question: "Erase the user and all that is kept of them for ever?", isLong: true,
            action: .data { invocation, administrator in
                let given = invocation.value("public") ?? PublicRecordsFate.keep.rawValue
                guard let fate = PublicRecordsFate(rawValue: given) else {
                    throw UsageFailure(
                        "lenticular user erase: --public takes keep, anonymous or delete")
                }
                let email = try invocation.required("EMAIL")
                let erased = try administrator.perform(EraseAccount(email, publicRecords: fate))
                return described(erased, email)
            }),
    ]

    private static func described(_ erased: EraseAccount.Outcome, _ email: String) -> CommandOutput
    {
        let report = erased.report
        let counts: [(key: String, value: Int)] = [
            ("zones", report.zones), ("records", report.records), ("shares", report.shares),
            ("publicRecords", report.publicRecords),
            ("damagedPublicRecords", report.damagedPublicRecords), ("assets", report.assets),
        ]
        let first =
            erased.account.map { "user \(email) erased (account \($0.id.text))" }
            ?? "there is no user \(email)"
        var lines = [first] + counts.map { "  \($0.key): \($0.value)" }
        lines.append(
            erased.goneAt.map { "the last byte was gone at \(Timestamp($0).text)" }
                ?? "some of it is still there:")
        lines += erased.left.map { "  \($0)" }
        if report.damagedPublicRecords > 0 {
            lines.append(
                "Whose the damaged public records are nobody can tell; `check --remove-damaged` "
                    + "deletes them")
        }
        return CommandOutput(
            lines.joined(separator: "\n"),
            values: [
                ("email", .text(email)), ("found", .flag(erased.account != nil)),
                ("left", .texts(erased.left)),
                ("report", .object(counts.map { ($0.key, .number(Int64($0.value))) })),
            ] + (erased.goneAt.map { [("goneAt", .number($0))] } ?? []))
    }
}
