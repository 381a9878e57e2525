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
            .file(
                "tls.certificateFile", \.tls.certificateFile,
                "The certificate in PEM, with the chain after it."),
            .file(
                "tls.privateKeyFile", \.tls.privateKeyFile,
                "Its private key in PEM, without a pass phrase."),
        ])
}
