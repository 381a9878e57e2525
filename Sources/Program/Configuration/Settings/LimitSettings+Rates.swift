// What one caller may ask for in a second.
extension LimitSettings {
    /// More than any machine serves.
    private static let rateMax = 1_000_000_000

    static let rates: [Setting] = [
        .number(
            "limits.anonymousRequestsPerSecondMax", \.limits.anonymousRequestsPerSecondMax,
            0...rateMax, "requests", zero: "no limit",
            "Requests of one address (IPv6: one /64) that show no credentials, wrong ones, or an API "
                + "token alone. Over it: 429."),
        .number(
            "limits.userRequestsPerSecondMax", \.limits.userRequestsPerSecondMax, 0...rateMax,
            "requests", zero: "no limit", "Requests of one user. Over it: 429."),
        .number(
            "limits.userRecordsPerSecondMax", \.limits.userRecordsPerSecondMax, 0...rateMax,
            "records", zero: "no limit",
            "Records and zones that one user saves and deletes. Over it: 429."),
        .number(
            "limits.userBytesPerSecondMax", \.limits.userBytesPerSecondMax, 0...quotaMax, "bytes",
            zero: "no limit", "Bodies of one user's requests, uploads aside. Over it: 429."),
        .number(
            "limits.serverKeyRequestsPerSecondMax", \.limits.serverKeyRequestsPerSecondMax,
            0...rateMax, "requests", zero: "no limit",
            "Requests of one server key, for whomever. Over it: 429."),
        .number(
            "limits.serverKeyRecordsPerSecondMax", \.limits.serverKeyRecordsPerSecondMax,
            0...rateMax, "records", zero: "no limit",
            "Records and zones that one server key saves and deletes. Over it: 429."),
        .number(
            "limits.serverKeyBytesPerSecondMax", \.limits.serverKeyBytesPerSecondMax, 0...quotaMax,
            "bytes", zero: "no limit",
            "Bodies of one server key's requests, uploads aside. Over it: 429."),
        .number(
            "limits.rateBurstSeconds", \.limits.rateBurstSeconds, 1...3_600, "seconds",
            "How long a quiet caller saves up of the rates above, to use it at once."),
        .number(
            "limits.rateCallersMax", \.limits.rateCallersMax, 128...16_777_216, "callers",
            "Callers whose rates are kept in mind, at 32 bytes each."),
    ]
}
