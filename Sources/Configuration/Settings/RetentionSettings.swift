/// How long what was deleted is remembered.
package struct RetentionSettings: Sendable, Equatable {
    package var tombstoneDays = 180
}

extension RetentionSettings {
    static let section = Setting.Section(
        name: "retention", documentation: "How long what was deleted is remembered.",
        settings: [
            .number(
                "retention.tombstoneDays", \.retention.tombstoneDays, 1...36_500, "days",
                """
                A client that has not asked for so long has to fetch everything again, because \
                deletions older than this are forgotten.
                """)
        ])
}
