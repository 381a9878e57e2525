/// How long what was deleted is remembered.
package struct RetentionSettings: Sendable, Equatable {
    package var tombstoneDays = 180
    package var upkeepSeconds = 60
    package var closedUpkeepHours = 24
    package var assetTrashHours = 168
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
                """),
            .number(
                "retention.upkeepSeconds", \.retention.upkeepSeconds, 1...86_400, "seconds",
                "How often what nobody can ask for any more is removed, in small steps."),
            .number(
                "retention.closedUpkeepHours", \.retention.closedUpkeepHours, 1...8_760, "hours",
                "The same for a database that is closed because nobody uses it: it is opened for it."
            ),
            .number(
                "retention.assetTrashHours", \.retention.assetTrashHours, 0...87_600, "hours",
                """
                Files of assets that no record and no upload stands for, as the loss of a database \
                leaves them, are kept so long in a trash beside the others; the oldest go sooner when \
                the disk has less room than is to be left on it.
                """),
        ])
}
