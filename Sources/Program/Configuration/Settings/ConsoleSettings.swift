/// Where operators reach the server over the network.
package struct ConsoleSettings: Sendable, Equatable {
    package static let listenDefault = "127.0.0.1:9465"

    /// Legal by `ListenText`, or empty for none.
    package var listen = Self.listenDefault
    /// Nobody else is answered; a Unix socket's callers always are.
    package var allow = ["127.0.0.0/8", "::1"].compactMap { AddressRange($0) }
}

extension ConsoleSettings {
    static let section = Setting.Section(
        name: "console",
        documentation: """
            The operators' interface, /console/api, at an address of its own: never at those of apps.
            """,
        settings: [
            .text(
                "console.listen", \.console.listen,
                allowed: "empty, or HOST:PORT, [IPV6]:PORT or unix:PATH",
                check: { $0.isEmpty || ListenText.isLegal($0) },
                """
                Where it is. Empty: nowhere. Speaks TLS where the other addresses do; without, keep to \
                loopback or put a proxy in front.
                """),
            .list(
                "console.allow", \.console.allow,
                allowed: "addresses such as 10.0.0.7 and ranges such as 10.0.0.0/8 or fd00::/8",
                "Whose connections are answered there, by the address that they come from."),
        ])
}
