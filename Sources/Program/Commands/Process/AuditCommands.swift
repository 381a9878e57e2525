import Accounts
import Administration
import Audit
import CloudModel
import Control

extension Command {
    static let audit: [Command] = [
        Command(
            "audit list", "list what was done by whom to what is not theirs, and check the log",
            reach: [.looks, .everywhere, .own],
            options: [
                CommandOption(
                    "since", value: "TIME", "from a day such as 2026-11-21, or with T08:00:00Z")
            ]
                + CommandOption.list(
                    searched: "operator, action, account or container", usual: entriesUsual),
            action: .data { invocation, administrator in
                let found = try administrator.perform(
                    ListAudit(
                        invocation.listRequest(usual: entriesUsual),
                        since: invocation.value("since").map {
                            try moment($0, of: "audit list: --since")
                        } ?? .min))
                let page = found.page
                let lines =
                    page.entries.map { entry in
                        [
                            Timestamp(entry.time).text, entry.who, entry.what, entry.account,
                            entry.detail,
                        ]
                        .compactMap { $0 }.joined(separator: "  ")
                    } + page.problems
                var output = CommandOutput.page(
                    lines: lines,
                    values: [
                        ("entries", .objects(page.entries.map(members))),
                        ("problems", .texts(page.problems)),
                    ] + (page.lastHash.map { [("lastHash", .text($0))] } ?? []),
                    next: found.next, empty: "no entries")
                output.status = page.problems.isEmpty ? 0 : 1
                return output
            })
    ]

    /// What somebody wants to see who looks what was done lately.
    private static let entriesUsual = 100

    private static func members(
        of entry: AuditEntry
    ) -> [(key: String, value: CommandOutput.Value)] {
        [("time", .number(entry.time)), ("who", .text(entry.who)), ("what", .text(entry.what))]
            + (entry.account.map { [("account", .text($0))] } ?? [])
            + (entry.detail.map { [("detail", .text($0))] } ?? [])
    }
}
