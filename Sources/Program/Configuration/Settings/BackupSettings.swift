/// Backups that the server makes by itself; off where `to` is empty.
package struct BackupSettings: Sendable, Equatable {
    /// How a bucket is told from a folder.
    package static let bucketStart = "s3://"

    package var to = ""
    package var everyMinutes = 60
    /// Empty for backups that are not sealed.
    package var keyFile = ""
}

extension BackupSettings {
    static let section = Setting.Section(
        name: "backups", documentation: "Backups that the server makes by itself.",
        settings: [
            .text(
                "backups.to", \.backups.to,
                allowed: "empty, a folder's absolute path, or s3://BUCKET/PREFIX",
                check: isTarget,
                "A folder on another disk, or a bucket at s3.endpoint. Empty: none are made."),
            .number(
                "backups.everyMinutes", \.backups.everyMinutes, 1...10_080, "minutes",
                "How often one is made."),
            .file(
                "backups.keyFile", \.backups.keyFile,
                "File with 64 hexadecimal digits that seals them. Keep a copy apart."),
        ])

    private static func isTarget(_ text: String) -> Bool {
        if text.isEmpty || text.hasPrefix("/") { return true }
        guard text.hasPrefix(bucketStart) else { return false }
        let parts = text.dropFirst(bucketStart.count).split(
            separator: "/", omittingEmptySubsequences: false)
        return parts.allSatisfy { part in
            !part.isEmpty && part != "." && part != ".."
                && part.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"),
                        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                        true
                    default: false
                    }
                }
        }
    }
}
