import Administration

extension Log {
    /// Writes that an operator acts, and on what.
    @Sendable
    func note(_ entry: ActionEntry) {
        var fields: [(key: StaticString, value: LogValue)] = [
            ("action", .text(entry.action)), ("by", .text(entry.actor.description)),
            ("changes", .flag(entry.changes)),
        ]
        let subject = entry.subject
        if let container = subject.container {
            fields.append(("container", .text(container.name)))
        }
        if let environment = subject.environment {
            fields.append(("environment", .text(environment.rawValue)))
        }
        if let account = subject.account { fields.append(("account", .text(account.text))) }
        if let item = subject.item { fields.append(("item", .text(item))) }
        info("an operator acts", fields)
    }
}
