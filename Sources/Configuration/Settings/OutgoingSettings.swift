/// What the server sends to others by itself.
package struct OutgoingSettings: Sendable, Equatable {
    package var allowedNetworks: [AddressRange] = []
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
                Addresses that are not on the internet (loopback, private and the like) and may be sent \
                to all the same, also without TLS. Only what nobody else's request could harm belongs \
                here.
                """)
        ])
}
