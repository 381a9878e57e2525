import Administration
import CloudModel
import Control
import Telemetry

extension Command {
    private static let alertName = CommandPositional("NAME", "the alert's name")

    static let alerts: [Command] = [
        Command(
            "alert add", "have somebody told when something that is counted passes a threshold",
            positionals: [alertName],
            options: [
                CommandOption(
                    "metric", value: "M",
                    AlertMetric.allCases.map(\.rawValue).joined(separator: ", "), isRequired: true),
                CommandOption(
                    "above", value: "N|N%",
                    "tell above N, or N percent above what the time before had"),
                CommandOption("below", value: "N|N%", "as --above, for what is below"),
                CommandOption(
                    "minutes", value: "N", "over so many minutes, and no more often; else 5"),
                CommandOption("container", value: "ID", "of this container alone"),
                CommandOption("environment", value: "E", "of development or production alone"),
                CommandOption("database", value: "D", "of public, private or shared alone"),
                CommandOption("operation", value: "O", "of one such as records/modify alone"),
                CommandOption("client", value: "K", "of clients of one kind alone, such as apple"),
                CommandOption("code", value: "C", "of errors of one code alone"),
                CommandOption("mail", value: "ADDRESS", "who is written to"),
                CommandOption("url", value: "URL", "where JSON is posted to"),
            ],
            action: .data { invocation, administrator in
                let rule = try invocation.alertRule()
                let added = try administrator.perform(AddAlert(rule))
                let obstacle =
                    added.obstacle.map { ["nothing will be posted there: \($0)"] } ?? []
                let key = added.signingKey.map { ["signing key \($0)"] } ?? []
                return CommandOutput(
                    (["alert \(rule.name) added"] + key + obstacle).joined(separator: "\n"),
                    values: [("alert", .text(rule.name)), ("warnings", .texts(obstacle))]
                        + (added.signingKey.map { [("signingKey", .text($0))] } ?? []))
            }),
        Command(
            "alert list", "list the alerts, and when each was last told of",
            reach: [.looks, .everywhere, .own],
            action: .data { _, administrator in
                let alerts = try administrator.perform(ListAlerts())
                return CommandOutput(
                    alerts.isEmpty ? "no alerts" : alerts.map(\.line).joined(separator: "\n"),
                    values: [
                        ("alert", .texts(alerts.map(\.name))),
                        ("alerts", .objects(alerts.map(\.members))),
                    ])
            }),
        Command(
            "alert remove", "end an alert", reach: .everywhere, positionals: [alertName],
            action: .data { invocation, administrator in
                let name = try invocation.required("NAME")
                try administrator.perform(RemoveAlert(name))
                return CommandOutput("alert \(name) removed", values: [("alert", .text(name))])
            }),
        Command(
            "alert test", "tell of an alert once, whatever was counted", reach: .everywhere,
            positionals: [alertName],
            action: .data { invocation, administrator in
                let name = try invocation.required("NAME")
                let told = try administrator.perform(TestAlert(name))
                return CommandOutput(
                    told.text,
                    values: [
                        ("alert", .text(name)), ("text", .text(told.text)),
                        ("met", .flag(told.isMet)),
                    ])
            }),
    ]
}

extension Invocation {
    /// The alert that the arguments describe.
    fileprivate func alertRule() throws -> AlertRule {
        guard let metric = AlertMetric(rawValue: value("metric") ?? "") else {
            throw misuse(
                "--metric is one of "
                    + AlertMetric.allCases.map(\.rawValue).joined(separator: ", "))
        }
        guard var text = value("above") ?? value("below"),
            (value("above") == nil) != (value("below") == nil)
        else { throw misuse("either --above or --below is needed") }
        let isRelative = text.hasSuffix("%")
        if isRelative { text.removeLast() }
        guard let threshold = Double(text) else {
            throw misuse("a threshold is a number, such as 5 or 50%")
        }
        guard let minutes = Int(value("minutes") ?? "5") else {
            throw misuse("--minutes takes a whole number")
        }
        var rule = AlertRule(
            name: try required("NAME"), metric: metric, threshold: threshold, minutes: minutes)
        (rule.isAbove, rule.isRelative) = (value("above") != nil, isRelative)
        rule.filter.container = value("container") ?? ""
        if let environment = value("environment") {
            guard Environment(rawValue: environment) != nil else {
                throw misuse("--environment is development or production")
            }
            rule.filter.environment = environment
        }
        if let database = value("database") {
            guard DatabaseScope(rawValue: database) != nil else {
                throw misuse("--database is public, private or shared")
            }
            rule.filter.database = database
        }
        rule.filter.operation = value("operation") ?? ""
        rule.filter.client = value("client") ?? ""
        rule.filter.code = value("code") ?? ""
        (rule.mail, rule.url) = (value("mail") ?? "", value("url") ?? "")
        return rule
    }
}

extension AlertRule {
    /// What is left out of a URL may be a secret.
    private var shownURL: String {
        url.split(separator: "/", maxSplits: 3).prefix(2).joined(separator: "//")
    }

    private var condition: String {
        "\(metric.rawValue) \(isAbove ? "above" : "below") \(AlertMessage.shown(threshold))"
            + (isRelative ? "%" : "") + " in \(minutes) min"
    }

    fileprivate var line: String {
        let parts = [
            filter.container, filter.environment, filter.database, filter.operation,
            filter.client, filter.code, mail, shownURL,
        ]
        return
            ([name, condition] + parts.filter { !$0.isEmpty }
            + [telling.toldAt == 0 ? "never told" : "told \(Timestamp(telling.toldAt).text)"])
            .joined(separator: "  ")
    }

    fileprivate var members: [(key: String, value: CommandOutput.Value)] {
        [
            ("name", .text(name)), ("metric", .text(metric.rawValue)), ("above", .flag(isAbove)),
            ("threshold", .text(AlertMessage.shown(threshold))), ("relative", .flag(isRelative)),
            ("minutes", .number(Int64(minutes))), ("container", .text(filter.container)),
            ("environment", .text(filter.environment)), ("database", .text(filter.database)),
            ("operation", .text(filter.operation)), ("client", .text(filter.client)),
            ("code", .text(filter.code)), ("mail", .text(mail)), ("url", .text(shownURL)),
            ("made", .number(madeAt)), ("told", .number(telling.toldAt)),
        ]
    }
}
