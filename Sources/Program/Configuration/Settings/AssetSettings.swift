/// The files that records hold.
package struct AssetSettings: Sendable, Equatable {
    package var bytesMax = 52_428_800
    package var tokensPerRequestMax = 200
    package var rereferencedMax = 1_000
    package var uploadSeconds = 900
    package var downloadSeconds = 3_600
    package var receiptSeconds = 86_400
    package var resumableUploadsMax = 256
    package var resumeSeconds = 3_600
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
                "assets.tokensPerRequestMax", \.assets.tokensPerRequestMax, 1...10_000, "tokens",
                "Upload URLs that one request may ask for. Over it: 400."),
            .number(
                "assets.rereferencedMax", \.assets.rereferencedMax, 1...100_000, "assets",
                """
                Assets that one request may make usable in other records, each member of a list \
                counted. Over it: 400.
                """),
            .number(
                "assets.uploadSeconds", \.assets.uploadSeconds, 60...86_400, "seconds",
                "Life of a URL to upload to."),
            .number(
                "assets.downloadSeconds", \.assets.downloadSeconds, 60...604_800, "seconds",
                "Life of a URL to download from. Who has it can read the file so long."),
            .number(
                "assets.receiptSeconds", \.assets.receiptSeconds, 60...2_592_000, "seconds",
                "Time in which an uploaded file can be made the value of a field."),
            .number(
                "assets.resumableUploadsMax", \.assets.resumableUploadsMax, 0...65_536, "uploads",
                zero: "none",
                "Uploads that can be gone on with (tus) at a time, each an open file. Over it: 503."
            ),
            .number(
                "assets.resumeSeconds", \.assets.resumeSeconds, 60...604_800, "seconds",
                "Time for which such an upload stays that no request goes on with."),
            .number(
                "assets.graceSeconds", \.assets.graceSeconds, 60...31_536_000, "seconds",
                "Time for which a file stays that no record and no receipt refers to any more."),
            .number(
                "assets.freeBytesMin", \.assets.freeBytesMin, 0...1_125_899_906_842_624, "bytes",
                zero: "no floor",
                "Room left on the disk: an upload that would leave less is refused."),
            .text(
                "assets.baseURL", \.assets.baseURL,
                allowed:
                    "empty, or http:// or https:// with a host and perhaps a port, nothing after",
                check: { $0.isEmpty || SettingText.isOrigin($0) },
                """
                Start of the URLs of uploads and downloads, for an origin of their own that leads \
                to this server. Empty: publicBaseURL.
                """),
            .text(
                "assets.keyFile", \.assets.keyFile, allowed: "empty, or a file's path",
                check: { $0.isEmpty || SettingText.isPath($0) },
                """
                File with 64 hexadecimal digits, the key with which new files are encrypted on the \
                disk (AES-256-GCM). Keep it apart from the backups: without it those files are lost.
                """),
        ])
}
