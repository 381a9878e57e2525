/// How the pages for people speak.
package struct PageSettings: Sendable, Equatable {
    /// Empty for English alone.
    package var textsFolder = ""
    package var language = "en"
}

extension PageSettings {
    static let section = Setting.Section(
        name: "pages",
        documentation: "The pages and letters for people: their languages.",
        settings: [
            .text(
                "pages.textsFolder", \.pages.textsFolder,
                allowed: "empty, or the path of a folder",
                check: { $0.isEmpty || SettingText.isPath($0) },
                """
                Folder with a file for each language beside English, such as de.json5, as \
                `lenticular config texts` prints it. Read at the start.
                """),
            .text(
                "pages.language", \.pages.language,
                allowed: "a language that is at hand, such as en",
                check: { !$0.isEmpty },
                "What those read whose browser asks for no language that is at hand."),
        ])
}
