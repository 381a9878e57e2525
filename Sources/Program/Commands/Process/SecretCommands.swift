import Administration

extension Command {
    /// What the server seals.
    static let secrets: [Command] = [
        Command(
            "secrets reseal",
            "seal all sealed secrets under the first key of security.keyFile", reach: .everywhere,
            isLong: true,
            action: .data { _, administrator in
                let outcome = try administrator.perform(ResealSecrets())
                var lines = [
                    "sealed anew: \(outcome.resealed), under the first key before: \(outcome.current)"
                ]
                if outcome.unreadable > 0 {
                    lines.append("none of the keys opens: \(outcome.unreadable); they stay")
                }
                lines.append("the first line of security.keyFile is the only one that is needed")
                return CommandOutput(
                    lines.joined(separator: "\n"),
                    values: [
                        ("resealed", .number(Int64(outcome.resealed))),
                        ("current", .number(Int64(outcome.current))),
                        ("unreadable", .number(Int64(outcome.unreadable))),
                    ])
            })
    ]
}
