import Administration
import CloudModel
import Control
import JSON
import Platform
import RequestRecords
import Storage

extension Command {
    static let logs: [Command] = [
        Command(
            "logs", "show what the server did for whom, request by request", reach: [.looks, .own],
            options: [
                CommandOption("container", value: "ID", "one container's alone"),
                CommandOption(
                    "user", value: "EMAIL",
                    "one user's alone, and what was refused to devices that they alone use"),
                CommandOption("operation", value: "O", "one operation's, such as records/modify"),
                CommandOption(
                    "error", value: "CODE",
                    "those alone that failed so, or an item of them, such as CONFLICT"),
                CommandOption(
                    "since", value: "TIME", "from a day such as 2026-11-21, or with T08:00:00Z"),
                CommandOption("until", value: "TIME", "up to then, said like --since"),
                CommandOption("follow", "go on with what comes, until it is interrupted"),
                CommandOption(
                    "limit", value: "N",
                    "so many at most, 1 to \(ListRequest.limitMax); else \(requestsUsual)"),
                CommandOption("after", value: "CURSOR", "go on where another page has ended"),
            ],
            action: .streamed { invocation, administrator, files in
                let selection = try selection(invocation)
                let request = try invocation.listRequest(usual: requestsUsual)
                guard invocation.has("follow") else {
                    return output(try administrator.perform(ListRequests(selection, request)))
                }
                let asJSON = invocation.has("json")
                try administrator.perform(
                    FollowRequests(selection, request) { entries in
                        try files.print(lines(entries, asJSON: asJSON))
                    } wait: {
                        files.pause { _ = usleep(followMicroseconds) }
                        return files.tell("")
                    })
                return CommandOutput()
            })
    ]

    private static let requestsUsual = 100
    private static let followMicroseconds: UInt32 = 500_000

    private static func selection(_ invocation: Invocation) throws -> ListRequests.Selection {
        var selection = ListRequests.Selection()
        selection.container = invocation.value("container")
        selection.email = invocation.value("user")
        selection.operation = invocation.value("operation")
        if let code = invocation.value("error") {
            guard let known = FaultCode(rawValue: code.uppercased()) else {
                let codes = FaultCode.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageFailure("lenticular logs: --error takes one of \(codes)")
            }
            selection.code = known.rawValue
        }
        selection.since =
            try invocation.value("since").map { try moment($0, of: "logs: --since") } ?? .min
        selection.until =
            try invocation.value("until").map { try moment($0, of: "logs: --until") } ?? .max
        return selection
    }

    private static func output(_ page: ListRequests.Outcome) -> CommandOutput {
        .page(
            lines: page.entries.map(\.line),
            values: [("requests", .encoded(page.entries.map(RequestJSON.object)))],
            next: page.next, empty: "no requests")
    }

    private static func lines(_ entries: [RequestEntry], asJSON: Bool) -> [UInt8] {
        entries.flatMap { asJSON ? RequestJSON.line(of: $0) : Array(($0.line + "\n").utf8) }
    }
}

extension RequestEntry {
    /// As people read it.
    var line: String {
        var words = [Timestamp(time).text, "\(status)", operation ?? "-"]
        if let code { words.append(reason.map { "\(code)(\($0))" } ?? code) }
        words += failures.map { failed in
            "\(failed.count)×\(failed.code)" + (failed.reason.map { "(\($0))" } ?? "")
        }
        words += [container, environment?.rawValue, database?.rawValue].compactMap { $0 }
        words += zones.map(\.words)
        words += [user, device.map { "device \($0)" }, software.map(\.text)].compactMap { $0 }
        if items > 0 { words.append("\(items) asked") }
        if records > 0 { words.append("\(records) records") }
        words.append("\(bytesIn)+\(bytesOut) bytes")
        words.append("\(Double(microseconds.total / 10) / 100) ms")
        words.append(RequestJSON.id(self))
        return words.joined(separator: "  ")
    }
}

extension RequestEntry.Zone {
    fileprivate var words: String {
        let place = owner.map { "\($0)/\(name)" } ?? name
        guard let to else { return "zone \(place)" }
        return "zone \(place) \(from.map { "\($0)" } ?? "start")→\(to)\(moreComing ? "…" : "")"
    }
}
