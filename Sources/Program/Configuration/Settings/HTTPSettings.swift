/// How the server speaks HTTP, and how much of everything one client may ask of the wire.
package struct HTTPSettings: Sendable, Equatable {
    /// For whom answers are compressed.
    package enum Gzip: String, Sendable, CaseIterable {
        /// Not for a peer on this machine, unless a proxy passed the request on.
        case remote
        case always
        case never
    }

    package var headerBytesMax = 16_384
    package var headerCountMax = 100
    package var targetBytesMax = 8_192
    package var bodyBytesMax = 16_777_216
    package var inflatedBodyBytesMax = 16_777_216
    package var bodyMemoryBytesMax = 134_217_728
    package var waitingBytesMax = 8_388_608
    package var connectionsMax = 20_000
    /// 0 for a third of all.
    package var connectionsPerAddressMax = 0
    package var headerSecondsMax = 10
    package var bodySecondsMax = 30
    package var bodyBytesPerSecondMin = 1_024
    package var answerSecondsMax = 30
    package var idleSecondsMax = 75
    package var heldPollsMax = 10_000
    package var heldPollsPerUserMax = 64
    package var drainSecondsMax = 30
    package var gzip = Gzip.remote
    package var gzipBytesMin = 1_024
    /// 0 for one per core.
    package var eventLoops = 0
    package var trustedProxies: [TrustedPeer] = []
}

extension HTTPSettings {
    static let section = Setting.Section(
        name: "http", documentation: "The wire. A client over a limit gets the status named.",
        settings: sizes + deadlines + [
            .choice(
                "http.gzip", \.http.gzip,
                """
                For whom answers are compressed, where the client accepts it. "remote": not for a \
                peer on this machine, unless a proxy passed the request on.
                """),
            .number(
                "http.gzipBytesMin", \.http.gzipBytesMin, 0...1_073_741_823, "bytes",
                "Answers shorter than this are not compressed."),
            .number(
                "http.eventLoops", \.http.eventLoops, 0...256, "threads",
                zero: "one per core",
                "Threads that wait for the network."),
            .list(
                "http.trustedProxies", \.http.trustedProxies,
                allowed:
                    "unix, IP addresses, or ranges as ADDRESS/BITS with no bit set after BITS",
                """
                Peers whose X-Forwarded-For and X-Forwarded-Proto are believed. Others' are ignored. \
                Limits for one address count the client that a trusted proxy names. "unix": whoever comes by a \
                Unix socket.
                """),
        ])

    private static let sizes: [Setting] = [
        .number(
            "http.headerBytesMax", \.http.headerBytesMax, 1_024...1_048_576, "bytes",
            "Request line and header fields of one request together. Over it: 431."),
        .number(
            "http.headerCountMax", \.http.headerCountMax, 8...1_000, "header fields",
            "Header fields of one request. Over it: 431."),
        .number(
            "http.targetBytesMax", \.http.targetBytesMax, 256...65_536, "bytes",
            "Path and query of one request. Over it: 414."),
        .number(
            "http.bodyBytesMax", \.http.bodyBytesMax, 1_024...1_073_741_823, "bytes",
            "Body of one request as it comes over the wire. Over it: 413."),
        .number(
            "http.inflatedBodyBytesMax", \.http.inflatedBodyBytesMax, 1_024...1_073_741_823,
            "bytes",
            "Body of one request with its gzip undone. Over it: 413."),
        .number(
            "http.bodyMemoryBytesMax", \.http.bodyMemoryBytesMax, 1_048_576...1_099_511_627_776,
            "bytes",
            """
            Memory for the bodies of all requests at work, with their gzip undone and their JSON \
            indexed. One caller gets an eighth of it. Over it: 503.
            """),
        .number(
            "http.waitingBytesMax", \.http.waitingBytesMax, 65_536...1_099_511_627_776, "bytes",
            """
            Memory for heads that are not whole, requests that wait behind others and answers that \
            nobody takes, of all connections. Over it those that last longest end: 503 for heads.
            """),
        .number(
            "http.connectionsMax", \.http.connectionsMax, 1...1_000_000, "connections",
            """
            Connections open at a time. A further one gets 503. The process needs a limit on open \
            files that is somewhat higher.
            """),
        .number(
            "http.connectionsPerAddressMax", \.http.connectionsPerAddressMax, 0...1_000_000,
            "connections", zero: "a third of http.connectionsMax, at least 8",
            """
            Connections open at a time from one IPv4 address or IPv6 /64, but from \
            http.trustedProxies. A further one gets 503.
            """),
        .number(
            "http.heldPollsMax", \.http.heldPollsMax, 0...1_000_000, "requests",
            "Requests held open at a time until there is something to tell."),
        .number(
            "http.heldPollsPerUserMax", \.http.heldPollsPerUserMax, 0...1_000_000, "requests",
            """
            Of one user. A further poll of the courier gets 429, a further request that would wait \
            for changes is answered at once.
            """),
    ]

    private static let deadlines: [Setting] = [
        .number(
            "http.headerSecondsMax", \.http.headerSecondsMax, 1...3_600, "seconds",
            "From the first byte of a request's head to its last. Over it: 408."),
        .number(
            "http.bodySecondsMax", \.http.bodySecondsMax, 1...3_600, "seconds",
            "For a body to arrive, before the allowance of bodyBytesPerSecondMin. Over it: 408."),
        .number(
            "http.bodyBytesPerSecondMin", \.http.bodyBytesPerSecondMin, 1...1_073_741_823,
            "bytes",
            "Each so many bytes of a body received, or of an answer taken, win a second more."),
        .number(
            "http.answerSecondsMax", \.http.answerSecondsMax, 1...3_600, "seconds",
            """
            For an answer to be taken, before the allowance of bodyBytesPerSecondMin; then the \
            connection is closed.
            """),
        .number(
            "http.idleSecondsMax", \.http.idleSecondsMax, 1...86_400, "seconds",
            "Between two requests of a connection; then it is closed."),
        .number(
            "http.drainSecondsMax", \.http.drainSecondsMax, 0...3_600, "seconds",
            "For requests that run when the server is told to stop, to be answered."),
    ]
}
