/// Who may read the metrics.
package struct MetricsSettings: Sendable, Equatable {
    /// Empty for none; after loading, what `bearerTokenFile` holds where that is set.
    package var bearerToken = Secret("")
    package var bearerTokenFile = ""
}

extension MetricsSettings {
    static let section = Setting.Section(
        name: "metrics",
        documentation: """
            Who may read /metrics: always this machine itself, and others with the bearer token.
            """,
        settings: [
            .text(
                "metrics.bearerToken", \.metrics.bearerToken,
                allowed: "empty, or at least 16 letters, digits and -._~+/=",
                check: { $0.isEmpty || Self.isToken($0) },
                "The token that others have to show; empty: others may not read."),
            .text(
                "metrics.bearerTokenFile", \.metrics.bearerTokenFile,
                allowed: "empty, or the path of a file that holds the token and nothing else",
                check: { $0.isEmpty || SettingText.isPath($0) },
                "A file that holds the token, to keep it out of this one."),
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
