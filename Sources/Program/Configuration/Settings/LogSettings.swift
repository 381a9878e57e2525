/// What is logged, and how.
package struct LogSettings: Sendable, Equatable {
    package enum Format: String, Sendable, CaseIterable { case auto, json, text }

    package enum Level: String, Sendable, CaseIterable { case info, warning, error }

    package enum ClientAddresses: String, Sendable, CaseIterable { case failedSignIns, all }

    package var format = Format.auto
    package var level = Level.info
    package var clientAddresses = ClientAddresses.failedSignIns
}

extension LogSettings {
    static let section = Setting.Section(
        name: "log", documentation: "The log, on standard output.",
        settings: [
            .choice(
                "log.format", \.log.format,
                """
                "auto": text for people on a terminal, JSON elsewhere.
                """),
            .choice("log.level", \.log.level, "Events less grave than this are not logged."),
            .choice(
                "log.clientAddresses", \.log.clientAddresses,
                """
                Which lines say the network address that a request came from (of IPv6 its \
                /64).
                """),
        ])
}
