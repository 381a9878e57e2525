/// What seals secrets that the server has to read again.
package struct SecuritySettings: Sendable, Equatable {
    /// Empty for the one in the data folder.
    package var keyFile = ""
}

extension SecuritySettings {
    static let section = Setting.Section(
        name: "security", documentation: "What seals secrets that the server has to read again.",
        settings: [
            .file(
                "security.keyFile", \.security.keyFile,
                """
                File with 64 hexadecimal digits, the key that seals second factors, passwords \
                of mail servers and the like, its owner's alone; former keys in further lines. \
                Empty: secrets.key in the data folder, which backups take along.
                """)
        ])
}
