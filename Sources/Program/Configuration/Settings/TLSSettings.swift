/// The server's own TLS; off where both files are empty.
package struct TLSSettings: Sendable, Equatable {
    package var certificateFile = ""
    package var privateKeyFile = ""
}

extension TLSSettings {
    static let section = Setting.Section(
        name: "tls",
        documentation: """
            TLS of the TCP addresses; off while both are empty. SIGHUP reads the files again.
            """,
        settings: [
            .text(
                "tls.certificateFile", \.tls.certificateFile, allowed: "empty, or a file's path",
                check: { $0.isEmpty || SettingText.isPath($0) },
                "The certificate in PEM, with the chain after it."),
            .text(
                "tls.privateKeyFile", \.tls.privateKeyFile, allowed: "empty, or a file's path",
                check: { $0.isEmpty || SettingText.isPath($0) },
                "Its private key in PEM, without a pass phrase."),
        ])
}
