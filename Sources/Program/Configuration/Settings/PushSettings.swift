/// How users' devices are told of changes.
package struct PushSettings: Sendable, Equatable {
    package var pollSeconds = 25
    package var destinationsPerUserMax = 100
    package var courierIdleDays = 30
    package var noticesWaitingMax = 1_000
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
                "push.destinationsPerUserMax", \.push.destinationsPerUserMax, 1...10_000, "devices",
                """
                Devices and pages of one user, in one container's environment, that are told. A \
                further one takes the place of the page that was not in use for the longest.
                """),
            .number(
                "push.courierIdleDays", \.push.courierIdleDays, 1...3_650, "days",
                "A courier token that was not polled for so long ends."),
            .number(
                "push.noticesWaitingMax", \.push.noticesWaitingMax, 1...100_000, "notices",
                """
                Notices that wait for one device. One more, and a single notice takes the place of \
                all: it says that something has changed in a database.
                """),
        ])
}
