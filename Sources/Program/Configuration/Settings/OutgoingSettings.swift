/// What the server sends to others by itself.
package struct OutgoingSettings: Sendable, Equatable {
    package var allowedNetworks: [AddressRange] = []
    package var authoritiesFile = ""
    package var contact = ""
    package var connectionsMax = 512
    package var connectionsPerDestinationMax = 8
    package var waitingPerDestinationMax = 1_000
    package var answerBytesMax = 65_536
    package var requestMilliseconds = 30_000
    package var connectMilliseconds = 10_000
    package var idleMilliseconds = 15_000
    package var addressMilliseconds = 30_000
    package var applePushURL = "https://api.push.apple.com"
    package var applePushDevelopmentURL = "https://api.sandbox.push.apple.com"
    package var streamsPerConnectionMax = 1_000
    package var streamsWaitingMax = 10_000
    package var streamsIdleMilliseconds = 600_000
}

extension OutgoingSettings {
    static let section = Setting.Section(
        name: "outgoing",
        documentation: """
            Requests that the server sends by itself: webhooks, pushes, text messages, identity \
            providers.
            """,
        settings: targets + limits + applePush)

    private static let targets: [Setting] = [
        .list(
            "outgoing.allowedNetworks", \.outgoing.allowedNetworks,
            allowed: "addresses such as 10.0.0.7 and ranges such as 10.0.0.0/8 or fd00::/8",
            """
            Addresses that are not on the internet (loopback, private and the like) and may be sent \
            to all the same, also without TLS, where operators say so: webhooks, identity providers, text \
            messages. What users name, such as where their browsers' pushes go, is never sent there.
            """),
        .text(
            "outgoing.authoritiesFile", \.outgoing.authoritiesFile,
            allowed: "empty, or a file's path", check: { $0.isEmpty || SettingText.isPath($0) },
            """
            Certificates in PEM that those must come from which others show. Empty: those that this \
            machine trusts.
            """),
        .text(
            "outgoing.contact", \.outgoing.contact,
            allowed: "empty, or mailto: or https:// and an address",
            check: {
                $0.isEmpty || $0.hasPrefix("mailto:") && $0.contains("@")
                    || $0.hasPrefix("https://")
            },
            """
            Whom the services that push to browsers may turn to. Some of them refuse pushes without \
            it. Empty: nobody is named.
            """),
    ]

    private static let applePush: [Setting] = [
        .text(
            "outgoing.applePushURL", \.outgoing.applePushURL,
            allowed: "http:// or https:// with a host and perhaps a port, nothing after",
            check: SettingText.isOrigin, "Where Apple's push service answers."),
        .text(
            "outgoing.applePushDevelopmentURL", \.outgoing.applePushDevelopmentURL,
            allowed: "http:// or https:// with a host and perhaps a port, nothing after",
            check: SettingText.isOrigin,
            "Where it answers for apps that are signed for development."),
        .number(
            "outgoing.streamsPerConnectionMax", \.outgoing.streamsPerConnectionMax, 1...100_000,
            "requests",
            "Requests under way on one connection over HTTP/2, if the other side takes as many."),
        .number(
            "outgoing.streamsWaitingMax", \.outgoing.streamsWaitingMax, 1...1_000_000, "requests",
            "Requests over HTTP/2 that wait for their turn at one destination; more come later."),
        .number(
            "outgoing.streamsIdleMilliseconds", \.outgoing.streamsIdleMilliseconds,
            0...86_400_000, "milliseconds",
            "A connection over HTTP/2 that has nothing to do is kept for that long."),
    ]

    private static let limits: [Setting] = [
        .number(
            "outgoing.connectionsMax", \.outgoing.connectionsMax, 1...65_536, "connections",
            "Connections to all destinations together; above it, destinations take turns."),
        .number(
            "outgoing.connectionsPerDestinationMax", \.outgoing.connectionsPerDestinationMax,
            1...1_024, "connections", "Connections to one destination."),
        .number(
            "outgoing.waitingPerDestinationMax", \.outgoing.waitingPerDestinationMax,
            1...1_000_000, "requests",
            "Requests that wait for a connection to one destination; more come later."),
        .number(
            "outgoing.answerBytesMax", \.outgoing.answerBytesMax, 1_024...16_777_216, "bytes",
            "The body of one answer; a longer one counts as a failure."),
        .number(
            "outgoing.requestMilliseconds", \.outgoing.requestMilliseconds, 1_000...600_000,
            "milliseconds", "From a request that is due to its whole answer."),
        .number(
            "outgoing.connectMilliseconds", \.outgoing.connectMilliseconds, 100...120_000,
            "milliseconds",
            "Time for a connection to one address of a name, TLS included."),
        .number(
            "outgoing.idleMilliseconds", \.outgoing.idleMilliseconds, 0...600_000, "milliseconds",
            "A connection that has nothing to do is kept for that long."),
        .number(
            "outgoing.addressMilliseconds", \.outgoing.addressMilliseconds, 0...3_600_000,
            "milliseconds",
            "The addresses of a name are used for that long before it is looked up again."),
    ]
}
