import CloudModel
import JSON

/// What somebody is told by an alert: as a letter, and as JSON for a URL.
package struct AlertMessage: Sendable {
    private let rule: AlertRule
    private let judgement: AlertJudgement
    private let isTest: Bool

    /// - Parameter isTest: whether somebody only wants to see that it arrives.
    package init(_ rule: AlertRule, _ judgement: AlertJudgement, isTest: Bool = false) {
        self.rule = rule
        self.judgement = judgement
        self.isTest = isTest
    }

    /// One line.
    package var subject: String {
        (isTest ? "Test of the alert " : "Alert ") + "\(rule.name): \(rule.metric.rawValue) is "
            + "\(Self.shown(judgement.value)), " + (rule.isAbove ? "above " : "below ")
            + Self.shown(judgement.limit ?? rule.threshold)
    }

    package var text: String {
        var lines = [
            subject, "",
            "From \(Timestamp(judgement.moments.lowerBound).text)",
            "to   \(Timestamp(judgement.moments.upperBound).text)",
        ]
        if rule.isRelative {
            lines.append("The \(rule.minutes) minutes before: \(Self.shown(judgement.before))")
        }
        let filter = rule.filter
        for (name, value) in [
            ("Container", filter.container), ("Environment", filter.environment),
            ("Database", filter.database), ("Operation", filter.operation),
            ("Client", filter.client), ("Error", filter.code),
        ] where !value.isEmpty { lines.append("\(name): \(value)") }
        if !filter.container.isEmpty, !filter.environment.isEmpty {
            lines += ["", "lenticular telemetry show \(filter.container) \(filter.environment)"]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    package var json: [UInt8] {
        var line = JSONLine()
        line.beginObject()
        line.key("alert")
        line.text(rule.name)
        line.key("text")
        line.text(subject)
        line.key("test")
        line.flag(isTest)
        line.key("metric")
        line.text(rule.metric.rawValue)
        for (name, value) in [
            ("value", judgement.value), ("limit", judgement.limit), ("before", judgement.before),
        ] {
            guard let value else { continue }
            line.key(name)
            line.thousandths(Self.thousandths(value))
        }
        line.key("from")
        line.number(judgement.moments.lowerBound)
        line.key("to")
        line.number(judgement.moments.upperBound)
        let filter = rule.filter
        for (name, value) in [
            ("container", filter.container), ("environment", filter.environment),
            ("database", filter.database), ("operation", filter.operation),
            ("client", filter.client), ("code", filter.code),
        ] where !value.isEmpty {
            line.key(name)
            line.text(value)
        }
        line.endObject()
        return line.bytes
    }

    private static func thousandths(_ value: Double) -> Int64 {
        Int64(exactly: (value * 1_000).rounded()) ?? (value < 0 ? .min : .max)
    }

    /// A number with as many decimals as it has, up to three.
    package static func shown(_ value: Double?) -> String {
        guard let value else { return "unknown" }
        let number = thousandths(value)
        let (whole, rest) = (number / 1_000, (number % 1_000).magnitude)
        guard rest > 0 else { return "\(whole)" }
        var digits = String(String(rest + 1_000).dropFirst())
        while digits.hasSuffix("0") { digits.removeLast() }
        return (number < 0 && whole == 0 ? "-" : "") + "\(whole).\(digits)"
    }
}
