/// The files that records hold.
package struct AssetSettings: Sendable, Equatable {
    package var bytesMax = 52_428_800
    package var downloadSeconds = 3_600
    package var graceSeconds = 86_400
    /// 0 for none.
    package var freeBytesMin = 268_435_456
    /// Empty for the public base URL.
    package var baseURL = ""
    /// Empty for files as they are.
    package var keyFile = ""
}

extension AssetSettings {
    static let section = Setting.Section(
        name: "assets", documentation: "The files that records hold.",
        settings: [
            .number(
                "assets.bytesMax", \.assets.bytesMax, 1...1_099_511_627_776, "bytes",
                "Size of one asset. Over it: 413."),
            .number(
                "assets.downloadSeconds", \.assets.downloadSeconds, 60...604_800, "seconds",
                "Life of a URL to download from. It lets anybody read the file so long."),
            .number(
                "assets.graceSeconds", \.assets.graceSeconds, 60...31_536_000, "seconds",
                "How long a file stays that no record and no receipt refers to."),
            .number(
                "assets.freeBytesMin", \.assets.freeBytesMin, 0...1_125_899_906_842_624, "bytes",
                zero: "no floor",
                "Room left on the disk: an upload that would leave less is refused."),
            .origin(
                "assets.baseURL", \.assets.baseURL,
                """
                Start of the URLs of uploads and downloads, for an origin of their own. Empty: \
                publicBaseURL.
                """),
            .file(
                "assets.keyFile", \.assets.keyFile,
                """
                File with 64 hexadecimal digits, the key that encrypts new files \
                (AES-256-GCM). Keep it apart from the backups: without it those files are \
                lost.
                """),
        ])
}
