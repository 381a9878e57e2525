/// How users' devices are told of changes.
package struct PushSettings: Sendable, Equatable {
    package var pollSeconds = 25
    package var streamSecondsMax = 3_600
    package var streamQuietSeconds = 15
    package var destinationsPerUserMax = 100
}

extension PushSettings {
    static let section = Setting.Section(
        name: "push",
        documentation: "Notices of changes, for those who have subscribed to some.",
        settings: [
            .number(
                "push.pollSeconds", \.push.pollSeconds, 1...300, "seconds",
                "How long a poll of the courier waits for a notice."),
            .number(
                "push.streamSecondsMax", \.push.streamSecondsMax, 1...43_200, "seconds",
                "How long an event stream lasts before its client has to come back."),
            .number(
                "push.streamQuietSeconds", \.push.streamQuietSeconds, 1...300, "seconds",
                """
                How long an event stream says nothing. Then it sends a comment, so that \
                proxies keep it open.
                """),
            .number(
                "push.destinationsPerUserMax", \.push.destinationsPerUserMax, 1...10_000, "devices",
                """
                Devices and pages of one user, in one container's environment, that are told. \
                One more takes the place of another page.
                """),
        ])
}
