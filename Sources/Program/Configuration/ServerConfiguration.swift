/// Every setting of the server, with its default where nothing else was said.
///
/// What may be said about each, and what it means, is declared once, beside its section: see
/// `Setting.sections`.
package struct ServerConfiguration: Sendable, Equatable {
    package var data = "./data"
    /// Each legal by `ListenText`, none twice.
    package var listen = ["127.0.0.1:8080"]
    /// Empty for the first listen address.
    package var publicBaseURL = ""
    package var http = HTTPSettings()
    package var tls = TLSSettings()
    package var limits = LimitSettings()
    package var tokens = TokenSettings()
    package var accounts = AccountSettings()
    package var mail = MailSettings()
    package var textMessages = TextMessageSettings()
    package var pages = PageSettings()
    package var retention = RetentionSettings()
    package var requests = RequestSettings()
    package var backups = BackupSettings()
    package var storage = StorageSettings()
    package var assets = AssetSettings()
    package var s3 = S3Settings()
    package var security = SecuritySettings()
    package var push = PushSettings()
    package var outgoing = OutgoingSettings()
    package var log = LogSettings()
    package var metrics = MetricsSettings()
    package var console = ConsoleSettings()
    package var telemetry = TelemetrySettings()

    /// The defaults.
    package init() {}
}

extension ServerConfiguration {
    /// The settings outside of any section.
    static let settings = [
        Setting.text(
            "data", \.data, allowed: "the path of a folder", check: SettingText.isPath,
            "Folder that holds everything the server stores."),
        Setting.texts(
            "listen", \.listen,
            allowed: "one or more of HOST:PORT, [IPV6]:PORT or unix:PATH, none twice",
            check: {
                !$0.isEmpty && Set($0).count == $0.count && $0.allSatisfy(ListenText.isLegal)
            },
            """
            Addresses to accept connections on. Without TLS keep to loopback or put a proxy in \
            front.
            """),
        Setting.origin(
            "publicBaseURL", \.publicBaseURL,
            """
            Start of the links that the server hands out, as clients reach it. Empty: the \
            first listen address.
            """),
    ]
}
