/// Who may read the metrics.
package struct MetricsSettings: Sendable, Equatable {
    package static let listenDefault = "127.0.0.1:9464"

    /// Legal by `ListenText`, or empty for none.
    package var listen = Self.listenDefault
    /// Empty for none; after loading, what `bearerTokenFile` holds where that is set.
    package var bearerToken = Secret("")
    package var bearerTokenFile = ""
}

extension MetricsSettings {
    static let section = Setting.Section(
        name: "metrics",
        documentation: """
            Who may read /metrics: everybody who reaches its own address, and with the bearer token at the \
            others.
            """,
        settings: [
            .text(
                "metrics.listen", \.metrics.listen,
                allowed: "empty, or HOST:PORT, [IPV6]:PORT or unix:PATH",
                check: { $0.isEmpty || ListenText.isLegal($0) },
                """
                Address of the metrics alone, open to everybody who reaches it, without TLS. Empty: \
                none.
                """),
            .text(
                "metrics.bearerToken", \.metrics.bearerToken,
                allowed: "empty, or at least 16 letters, digits and -._~+/=",
                check: { $0.isEmpty || Self.isToken($0) },
                """
                The token to show at the addresses of the protocol. Empty: no metrics there.
                """),
            .file(
                "metrics.bearerTokenFile", \.metrics.bearerTokenFile,
                "File that holds the token and nothing else, in its place."),
        ])

    /// Whether a secret is a token as `Authorization: Bearer` takes it (RFC 6750 section 2.1), and
    /// too long to be guessed.
    static func isToken(_ secret: Secret) -> Bool {
        let bytes = secret.revealed.utf8
        return bytes.count >= 16
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-._~+/=".utf8.contains(byte)
                }
            }
    }
}
