/// How text messages to phones leave.
package struct TextMessageSettings: Sendable, Equatable {
    package enum Sender: String, Sendable, CaseIterable { case none, log, webhook }

    package var sender = Sender.none
    /// Empty for none.
    package var url = ""
    /// Empty for none.
    package var keyFile = ""
    package var perHourMax = 200
}

extension TextMessageSettings {
    static let section = Setting.Section(
        name: "textMessages",
        documentation:
            "Text messages to people's phones: links to new passwords, invitations, codes.",
        settings: [
            .choice(
                "textMessages.sender", \.textMessages.sender,
                """
                How they leave. "webhook": each is posted to `textMessages.url`. "log": they \
                are printed, for development. "none": phone numbers get none.
                """),
            .text(
                "textMessages.url", \.textMessages.url,
                allowed: "empty, or a URL of https:// (http:// to outgoing.allowedNetworks alone)",
                check: {
                    $0.isEmpty || $0.hasPrefix("https://") || $0.hasPrefix("http://")
                },
                "What takes them and hands them to a provider: `{\"to\", \"text\"}` by POST."),
            .file(
                "textMessages.keyFile", \.textMessages.keyFile,
                """
                File with the key that signs the posts in its first line, as those of webhooks \
                are: `whsec_` and at least 24 bytes in base64. Empty: they are not signed.
                """),
            .number(
                "textMessages.perHourMax", \.textMessages.perHourMax, 1...1_000_000, "messages",
                "In an hour, for all people together: they cost money."),
        ])
}
