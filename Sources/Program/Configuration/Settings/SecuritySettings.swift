/// What seals secrets that the server has to read again.
package struct SecuritySettings: Sendable, Equatable {
    /// Empty for the one in the data folder.
    package var keyFile = ""
}

extension SecuritySettings {
    static let section = Setting.Section(
        name: "security", documentation: "What seals secrets that the server has to read again.",
        settings: [
            .text(
                "security.keyFile", \.security.keyFile, allowed: "empty, or a file's path",
                check: { $0.isEmpty || SettingText.isPath($0) },
                """
                File with 64 hexadecimal digits, the key that seals second factors, passwords of mail \
                servers and the like (AES-256-GCM), its owner's alone. Further lines are former keys, \
                which still open. Made at the first start where it is missing. Empty: secrets.key in \
                the data folder, which backups take along; a file elsewhere they leave to you.
                """)
        ])
}
