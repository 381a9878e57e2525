/// What is kept of requests, to say later what the server did for whom.
package struct RequestSettings: Sendable, Equatable {
    package var bytesMax = 1_073_741_824
    package var daysMax = 14
}

extension RequestSettings {
    static let section = Setting.Section(
        name: "requests",
        documentation: "What is kept of requests, to say later what the server did for whom.",
        settings: [
            .number(
                "requests.bytesMax", \.requests.bytesMax, 0...1_099_511_627_776, "bytes",
                zero: "nothing is kept",
                "On the disk, at about 80 a request; then the oldest go."),
            .number(
                "requests.daysMax", \.requests.daysMax, 1...3_650, "days",
                "How long a request is kept."),
        ])
}
