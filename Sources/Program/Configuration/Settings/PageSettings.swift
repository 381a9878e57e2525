/// What the pages for people show, and how they speak.
package struct PageSettings: Sendable, Equatable {
    /// Empty for English alone.
    package var textsFolder = ""
    package var language = "en"
    /// Empty for the host's name.
    package var name = ""
    /// Empty for the server's own.
    package var iconFile = ""
}

extension PageSettings {
    static let section = Setting.Section(
        name: "pages",
        documentation: "The pages and letters for people: whose they are, and their languages.",
        settings: [
            .text(
                "pages.name", \.pages.name,
                allowed: "empty, or at most 64 printable characters",
                check: { $0.count <= 64 && SettingText.isPrintable($0) },
                """
                What people know this server by: stands on every page and in every letter. Empty for the \
                host's name in publicBaseURL.
                """),
            .text(
                "pages.iconFile", \.pages.iconFile,
                allowed: "empty, or the path of a PNG, JPEG or WebP picture of at most 65536 bytes",
                check: { $0.isEmpty || SettingText.isPath($0) },
                """
                Picture beside the name on every page, and in browsers' tabs. Read at the start. Empty for \
                Lenticular's own.
                """),
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
