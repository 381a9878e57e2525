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
                Name of this server on every page and in every letter. Empty: the host's name \
                in publicBaseURL.
                """),
            .file(
                "pages.iconFile", \.pages.iconFile,
                """
                Picture beside the name: PNG, JPEG or WebP, at most 65536 bytes. Empty: \
                Lenticular's own.
                """),
            .file(
                "pages.textsFolder", \.pages.textsFolder,
                """
                Folder with a file for each language beside English, such as de.json5, as \
                `lenticular config texts` prints it.
                """),
            .text(
                "pages.language", \.pages.language,
                allowed: "a language that is at hand, such as en",
                check: { !$0.isEmpty },
                "For those whose browser asks for no language that is at hand."),
        ])
}
