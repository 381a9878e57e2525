import Accounts
import CloudModel
import Cryptography
import Delivery
import Telemetry

/// Has somebody told when something that is counted passes a threshold.
///
/// Refusals: `AlertRefusal`; `AccountsRefusal` and `CatalogRefusal` for a container that is not there.
package struct AddAlert: AdministrativeAction {
    package struct Outcome: Sendable {
        /// Why nothing would be told as things are; nil when it would.
        package let obstacle: String?
        /// By which its posts are signed; nil for one without a URL.
        package let signingKey: String?
    }

    package var name: String { "alert add" }
    package var right: ActionRight { .container }

    private let rule: AlertRule

    /// - Parameter rule: its container as somebody has typed it.
    package init(_ rule: AlertRule) { self.rule = rule }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(
            container: try rule.filter.container.isEmpty
                ? nil : data.containers.find(rule.filter.container).id,
            environment: Environment(rawValue: rule.filter.environment), item: rule.name)
    }

    package func run(in data: any ServerData, by actor: Operator) throws -> Outcome {
        var rule = rule
        try rule.requireLegal()
        if !rule.filter.container.isEmpty {
            rule.filter.container = try data.containers.find(rule.filter.container).id.folded
        }
        rule.madeAt = data.clock.now()
        try data.telemetry().add(rule)
        guard !rule.url.isEmpty else { return Outcome(obstacle: nil, signingKey: nil) }
        return Outcome(
            obstacle: data.obstacle(to: rule.url),
            signingKey: rule.signingKeys(data.secrets).first.map { WebhookSignature.shown($0) })
    }
}

/// Lists the alerts, with when each was last told of.
package struct ListAlerts: AdministrativeAction {
    package var name: String { "alert list" }
    package var right: ActionRight { .server }
    package var changes: Bool { false }

    package init() {}

    package func run(in data: any ServerData, by actor: Operator) throws -> [AlertRule] {
        try data.telemetry().alerts()
    }
}

/// Ends an alert.
///
/// Refusals: `AlertRefusal.unknown`.
package struct RemoveAlert: AdministrativeAction {
    package var name: String { "alert remove" }
    package var right: ActionRight { .server }

    private let alert: String

    package init(_ alert: String) { self.alert = alert }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(item: alert)
    }

    package func run(in data: any ServerData, by actor: Operator) throws {
        try data.telemetry().removeAlert(alert)
    }
}

/// Tells of an alert once, whatever was counted, and waits for what comes of it.
///
/// Refusals: `AlertRefusal.unknown`; what tells says why it could not.
package struct TestAlert: AdministrativeAction {
    package var name: String { "alert test" }
    package var right: ActionRight { .server }

    private let alert: String

    package init(_ alert: String) { self.alert = alert }

    package func subject(in data: any ServerData) throws -> ActionSubject {
        ActionSubject(item: alert)
    }

    /// - Returns: what it would have said, and whether it would have been told of now.
    package func run(
        in data: any ServerData, by actor: Operator
    ) throws -> (text: String, isMet: Bool) {
        let storage = try data.telemetry()
        guard let rule = try storage.alerts().first(where: { $0.name == alert }) else {
            throw AlertRefusal.unknown
        }
        let judgement = try AlertJudgement(rule, in: storage, at: data.clock.now())
        let message = AlertMessage(rule, judgement, isTest: true)
        try data.tell(message, by: rule)
        return (message.subject, judgement.isMet(by: rule))
    }
}

extension AlertRule {
    /// By which its posts are signed: of this alert alone, as one that is added anew has other ones.
    package func signingKeys(_ secrets: SealedSecrets) -> [[UInt8]] {
        secrets.derivedKeys(for: SecretSubject(purpose: "alert", owner: "\(name)/\(madeAt)"))
    }

    /// - Throws: `AlertRefusal.illegal`, which says what is.
    fileprivate func requireLegal() throws {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
        guard (1...Self.nameBytesMax).contains(name.utf8.count), isPlain else {
            throw AlertRefusal.illegal(
                "an alert's name is 1 to \(Self.nameBytesMax) letters, digits, hyphens and _")
        }
        guard threshold.isFinite, threshold >= 0, threshold <= 1e15 else {
            throw AlertRefusal.illegal("a threshold is a number that is not below 0")
        }
        guard (1...Self.minutesMax).contains(minutes) else {
            throw AlertRefusal.illegal("an alert looks back 1 to \(Self.minutesMax) minutes")
        }
        guard !mail.isEmpty || !url.isEmpty else {
            throw AlertRefusal.illegal("an alert needs a mail address or a URL to tell")
        }
        guard url.isEmpty || WebURL(url)?.isHTTP == true else {
            throw AlertRefusal.illegal("the URL is http:// or https://")
        }
        if !mail.isEmpty { _ = try AddressFormat.email(mail) }
        for text in [filter.database, filter.operation, filter.client, filter.code, url] {
            guard text.utf8.count <= 1_024, text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) })
            else { throw AlertRefusal.illegal("a filter is up to 1024 plain characters") }
        }
    }
}
