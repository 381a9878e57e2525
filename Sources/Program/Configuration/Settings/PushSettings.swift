/// How users' devices are told of changes.
package struct PushSettings: Sendable, Equatable {
    package var pollSeconds = 25
    package var streamSecondsMax = 3_600
    package var streamQuietSeconds = 15
    package var streamEventsMax = 100
    package var destinationsPerUserMax = 100
    package var courierIdleDays = 30
    package var noticesWaitingMax = 1_000
    package var handoverMilliseconds = 250
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
                How long an event stream without news says nothing. Then it sends a comment, so that \
                proxies keep it open, and a client that has gone is noticed.
                """),
            .number(
                "push.streamEventsMax", \.push.streamEventsMax, 1...1_000, "notices",
                """
                Notices that one event stream tells. Then it ends, and its client comes back and says \
                which it has received.
                """),
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
            .number(
                "push.handoverMilliseconds", \.push.handoverMilliseconds, 1...10_000,
                "milliseconds",
                """
                How long a notice may take to leave for the devices whose polls wait for it. Then it \
                is put into the database, for a later poll. The store's next notices wait so long.
                """),
        ])
}
