/// How users' devices are told of changes.
package struct PushSettings: Sendable, Equatable {
    package var pollSeconds = 25
}

extension PushSettings {
    static let section = Setting.Section(
        name: "push",
        documentation: "Notices of changes, for those who subscribed.",
        settings: [
            .number(
                "push.pollSeconds", \.push.pollSeconds, 1...300, "seconds",
                "How long a poll of the courier waits for a notice.")
        ])
}
