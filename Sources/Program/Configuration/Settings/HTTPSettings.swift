/// How the server speaks HTTP, and how much of everything one client may ask of the wire.
package struct HTTPSettings: Sendable, Equatable {
    /// Which clients get compressed answers.
    package enum Gzip: String, Sendable, CaseIterable {
        /// Not for a peer on this machine, unless a proxy passed the request on.
        case remote
        case always
        case never
    }

    package var bodyBytesMax = 16_777_216
    package var bodyMemoryBytesMax = 134_217_728
    package var connectionsMax = 20_000
    /// 0 for a third of all.
    package var connectionsPerAddressMax = 0
    package var idleSecondsMax = 75
    package var heldPollsPerUserMax = 64
    package var drainSecondsMax = 30
    package var gzip = Gzip.remote
    /// 0 for one per core.
    package var eventLoops = 0
    package var trustedProxies: [TrustedPeer] = []
}

extension HTTPSettings {
    static let section = Setting.Section(
        name: "http", documentation: "The wire. A client over a limit gets the status named.",
        settings: sizes + [
            .number(
                "http.idleSecondsMax", \.http.idleSecondsMax, 1...86_400, "seconds",
                "Between two requests of a connection; then it is closed."),
            .number(
                "http.drainSecondsMax", \.http.drainSecondsMax, 0...3_600, "seconds",
                "For running requests to be answered when the server is told to stop."),
            .choice(
                "http.gzip", \.http.gzip,
                """
                For whom answers are compressed. "remote": not for a peer on this machine, but \
                behind a proxy.
                """),
            .number(
                "http.eventLoops", \.http.eventLoops, 0...256, "threads",
                zero: "one per core",
                "Threads that wait for the network."),
            .list(
                "http.trustedProxies", \.http.trustedProxies,
                allowed:
                    "unix, IP addresses, or ranges as ADDRESS/BITS with no bit set after BITS",
                """
                Peers whose X-Forwarded-For and X-Forwarded-Proto are believed. "unix": \
                those that come by a Unix socket.
                """),
        ])

    private static let sizes: [Setting] = [
        .number(
            "http.bodyBytesMax", \.http.bodyBytesMax, 1_024...1_073_741_823, "bytes",
            """
            Body of one request, on the wire and with its gzip undone. Over it: 413.
            """),
        .number(
            "http.bodyMemoryBytesMax", \.http.bodyMemoryBytesMax, 1_048_576...1_099_511_627_776,
            "bytes",
            """
            Memory for the bodies of all requests; one caller gets an eighth. Over it: \
            503.
            """),
        .number(
            "http.connectionsMax", \.http.connectionsMax, 1...1_000_000, "connections",
            """
            Connections open at a time; half of them may wait for changes. One more gets 503. \
            The limit on open files has to be higher.
            """),
        .number(
            "http.connectionsPerAddressMax", \.http.connectionsPerAddressMax, 0...1_000_000,
            "connections", zero: "a third of http.connectionsMax, at least 8",
            """
            Of one IPv4 address or IPv6 /64, but of http.trustedProxies. One more gets 503.
            """),
        .number(
            "http.heldPollsPerUserMax", \.http.heldPollsPerUserMax, 0...1_000_000, "requests",
            """
            Requests of one user that wait at a time until there is something to tell. One \
            more of the courier gets 429, others are answered at once.
            """),
    ]
}
