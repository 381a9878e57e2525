/// What one request may ask and one store may hold.
package struct LimitSettings: Sendable, Equatable {
    package var operationsPerRequestMax = 200
    package var recordsPerResponseMax = 200
    package var recordBytesMax = 1_048_576
    package var pageBytesMax = 8_388_608
    package var queryMillisecondsMax = 2_000
    package var indexWaitMilliseconds = 1_500
    package var feedWaitSecondsMax = 55
    package var waitingMax = 4_096
    /// 0 for none.
    package var userQuotaBytes = 21_474_836_480
    /// 0 for none.
    package var publicQuotaBytes = 107_374_182_400
    package var anonymousRequestsPerSecondMax = 50_000
    package var userRequestsPerSecondMax = 200_000
    package var userRecordsPerSecondMax = 1_000_000
    package var userBytesPerSecondMax = 4_294_967_296
    package var serverKeyRequestsPerSecondMax = 200_000
    package var serverKeyRecordsPerSecondMax = 1_000_000
    package var serverKeyBytesPerSecondMax = 4_294_967_296
}

extension LimitSettings {
    /// The largest number of bytes that every JSON reader keeps exact.
    static let quotaMax = 1 << 53 - 1

    static let section = Setting.Section(
        name: "limits",
        documentation: "What one request may ask and one store may hold.",
        settings: requests + queries + rates + [
            .number(
                "limits.feedWaitSecondsMax", \.limits.feedWaitSecondsMax, 1...300, "seconds",
                "How long a request for changes may ask to be held. Over it: 400."),
            .number(
                "limits.userQuotaBytes", \.limits.userQuotaBytes, 0...quotaMax, "bytes",
                zero: "no quota",
                "Stored by one user in their private database."),
            .number(
                "limits.publicQuotaBytes", \.limits.publicQuotaBytes, 0...quotaMax, "bytes",
                zero: "no quota",
                "Stored in one public database."),
        ])

    private static let requests: [Setting] = [
        .number(
            "limits.operationsPerRequestMax", \.limits.operationsPerRequestMax, 1...10_000,
            "operations",
            "Operations of one request. Over it: 400."),
        .number(
            "limits.recordsPerResponseMax", \.limits.recordsPerResponseMax, 1...100_000, "records",
            "Records in one answer; the rest comes with the next."),
        .number(
            "limits.recordBytesMax", \.limits.recordBytesMax, 1_024...67_108_864, "bytes",
            "Fields of one record, assets excluded. Over it: 400."),
        .number(
            "limits.pageBytesMax", \.limits.pageBytesMax, 65_536...268_435_456, "bytes",
            "Bytes of records in one answer; the rest comes with the next."),
        .number(
            "limits.waitingMax", \.limits.waitingMax, 1...1_000_000, "requests",
            """
            Requests of all callers that wait for a thread; of one caller a sixteenth. Over \
            it: 429.
            """),
    ]

    private static let queries: [Setting] = [
        .number(
            "limits.queryMillisecondsMax", \.limits.queryMillisecondsMax, 10...600_000,
            "milliseconds",
            "Time for one page of a query. Over it: 503."),
        .number(
            "limits.indexWaitMilliseconds", \.limits.indexWaitMilliseconds, 0...30_000,
            "milliseconds", zero: "no wait",
            "How long a query waits for an index in the making. Over it: 503."),
    ]

    /// More than any machine serves.
    private static let rateMax = 1_000_000_000

    private static let rates: [Setting] = [
        .number(
            "limits.anonymousRequestsPerSecondMax", \.limits.anonymousRequestsPerSecondMax,
            0...rateMax, "requests", zero: "no limit",
            """
            Requests of one address (IPv6: one /64) without good credentials of somebody's \
            own. Over this and the following: 429.
            """),
        .number(
            "limits.userRequestsPerSecondMax", \.limits.userRequestsPerSecondMax, 0...rateMax,
            "requests", zero: "no limit",
            "Requests of one user."),
        .number(
            "limits.userRecordsPerSecondMax", \.limits.userRecordsPerSecondMax, 0...rateMax,
            "records", zero: "no limit",
            "Records and zones that one user saves and deletes."),
        .number(
            "limits.userBytesPerSecondMax", \.limits.userBytesPerSecondMax, 0...quotaMax, "bytes",
            zero: "no limit",
            "Bodies of one user's requests, uploads aside."),
        .number(
            "limits.serverKeyRequestsPerSecondMax", \.limits.serverKeyRequestsPerSecondMax,
            0...rateMax, "requests", zero: "no limit",
            "Requests of one server key, for whomever."),
        .number(
            "limits.serverKeyRecordsPerSecondMax", \.limits.serverKeyRecordsPerSecondMax,
            0...rateMax, "records", zero: "no limit",
            "Records and zones that one server key saves and deletes."),
        .number(
            "limits.serverKeyBytesPerSecondMax", \.limits.serverKeyBytesPerSecondMax, 0...quotaMax,
            "bytes", zero: "no limit",
            "Bodies of one server key's requests, uploads aside."),
    ]
}
