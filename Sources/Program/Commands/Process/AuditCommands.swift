import Accounts
import Administration
import Audit
import CloudModel
import Control

extension Command {
    static let audit: [Command] = [
        Command(
            "audit list", "list what was done by whom to what is not theirs, and check the log",
            options: [
                CommandOption(
                    "since", value: "TIME", "from a day such as 2026-11-21, or with T08:00:00Z"),
                CommandOption("limit", value: "N", "the newest so many, 1 to 100000; else 100"),
            ], isLong: true,
            action: .data { invocation, administrator in
                let report = try administrator.perform(
                    ListAudit(
                        since: invocation.value("since").map {
                            try moment($0, of: "audit list: --since")
                        } ?? .min,
                        limit: invocation.value("limit").map(limit) ?? 100))
                let lines =
                    report.entries.map { entry in
                        [
                            Timestamp(entry.time).text, entry.who, entry.what, entry.account,
                            entry.detail,
                        ]
                        .compactMap { $0 }.joined(separator: "  ")
                    } + report.problems
                return CommandOutput(
                    lines.isEmpty ? "no entries" : lines.joined(separator: "\n"),
                    values: [
                        ("entries", .objects(report.entries.map(members))),
                        ("problems", .texts(report.problems)), ("lastHash", .text(report.lastHash)),
                    ], status: report.problems.isEmpty ? 0 : 1)
            })
    ]

    private static func members(
        of entry: AuditEntry
    ) -> [(key: String, value: CommandOutput.Value)] {
        [("time", .number(entry.time)), ("who", .text(entry.who)), ("what", .text(entry.what))]
            + (entry.account.map { [("account", .text($0))] } ?? [])
            + (entry.detail.map { [("detail", .text($0))] } ?? [])
    }

    private static func limit(_ text: String) throws -> Int {
        guard let number = Int(text), (1...100_000).contains(number) else {
            throw UsageFailure(
                "lenticular audit list: --limit takes a whole number from 1 to 100000")
        }
        return number
    }

}
