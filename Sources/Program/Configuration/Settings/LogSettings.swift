/// What is logged, and how.
package struct LogSettings: Sendable, Equatable {
    package enum Format: String, Sendable, CaseIterable { case auto, json, text }

    package enum Level: String, Sendable, CaseIterable { case info, warning, error }

    package var format = Format.auto
    package var level = Level.info
}

extension LogSettings {
    static let section = Setting.Section(
        name: "log", documentation: "The log, on standard output.",
        settings: [
            .choice(
                "log.format", \.log.format,
                """
                One line of JSON per event for programs, or plain text for people. "auto": text on a \
                terminal, JSON elsewhere.
                """),
            .choice("log.level", \.log.level, "Events less grave than this are not logged."),
        ])
}
