/// What the server sends to others by itself.
package struct OutgoingSettings: Sendable, Equatable {
    package var allowedNetworks: [AddressRange] = []
    package var authoritiesFile = ""
    package var contact = ""
    package var applePushURL = "https://api.push.apple.com"
    package var applePushDevelopmentURL = "https://api.sandbox.push.apple.com"
}

extension OutgoingSettings {
    static let section = Setting.Section(
        name: "outgoing",
        documentation: """
            Requests that the server sends by itself: webhooks, pushes, text messages, identity \
            providers.
            """,
        settings: [
            .list(
                "outgoing.allowedNetworks", \.outgoing.allowedNetworks,
                allowed: "addresses such as 10.0.0.7 and ranges such as 10.0.0.0/8 or fd00::/8",
                """
                Addresses that are not on the internet and may be sent to all the same, also \
                without TLS, where operators say so: webhooks, identity providers, text \
                messages. What users name is never sent there.
                """),
            .file(
                "outgoing.authoritiesFile", \.outgoing.authoritiesFile,
                """
                Certificates in PEM that those of others must come from. Empty: those that \
                this machine trusts.
                """),
            .text(
                "outgoing.contact", \.outgoing.contact,
                allowed: "empty, or mailto: or https:// and an address",
                check: {
                    $0.isEmpty || $0.hasPrefix("mailto:") && $0.contains("@")
                        || $0.hasPrefix("https://")
                },
                """
                Whom services that push to browsers may turn to. Some refuse pushes without \
                it.
                """),
            .origin(
                "outgoing.applePushURL", \.outgoing.applePushURL, isOptional: false,
                "Where Apple's push service answers."),
            .origin(
                "outgoing.applePushDevelopmentURL", \.outgoing.applePushDevelopmentURL,
                isOptional: false,
                "The same for apps signed for development."),
        ])
}
