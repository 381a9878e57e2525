/// How long what was deleted is remembered.
package struct RetentionSettings: Sendable, Equatable {
    package var tombstoneDays = 180
    package var upkeepSeconds = 60
    package var assetTrashHours = 168
}

extension RetentionSettings {
    static let section = Setting.Section(
        name: "retention", documentation: "How long what was deleted is remembered.",
        settings: [
            .number(
                "retention.tombstoneDays", \.retention.tombstoneDays, 1...36_500, "days",
                """
                How long deletions are remembered. A client that has not asked for so long has \
                to fetch everything again.
                """),
            .number(
                "retention.upkeepSeconds", \.retention.upkeepSeconds, 1...86_400, "seconds",
                "How often what nobody can ask for any more is removed."),
            .number(
                "retention.assetTrashHours", \.retention.assetTrashHours, 0...87_600, "hours",
                """
                How long files of assets that no record and no upload stands for are kept in a \
                trash.
                """),
        ])
}
