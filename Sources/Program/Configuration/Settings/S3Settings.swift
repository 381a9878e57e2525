/// A store that speaks S3, for the files that records hold; off where the bucket is empty.
package struct S3Settings: Sendable, Equatable {
    /// How a bucket is named in a request.
    package enum Addressing: String, CaseIterable, Sendable {
        case path, host
    }

    /// From where clients download.
    package enum Downloads: String, CaseIterable, Sendable {
        case served, redirected
    }

    /// What a backup has of the files.
    package enum Backups: String, CaseIterable, Sendable {
        case listed, copied
    }

    package var endpoint = ""
    package var region = "us-east-1"
    package var bucket = ""
    package var prefix = ""
    package var addressing = Addressing.path
    package var credentialsFile = ""
    /// Empty for the authorities of the machine.
    package var authoritiesFile = ""
    package var downloads = Downloads.served
    package var backups = Backups.listed
}

extension S3Settings {
    static let section = Setting.Section(
        name: "s3",
        documentation: """
            Assets on an S3-compatible store instead of the data folder; off while bucket is empty.
            """,
        settings: locations + behaviour)

    private static let locations: [Setting] = [
        .origin(
            "s3.endpoint", \.s3.endpoint,
            """
            Where the store answers. Take https:// unless it is on this machine or a private \
            network.
            """),
        .text(
            "s3.region", \.s3.region, allowed: "1 to 63 lower-case letters, digits and -",
            check: { (1...63).contains($0.utf8.count) && isPlain($0, beside: "-") },
            "The region that requests are signed for, as the store calls it."),
        .text(
            "s3.bucket", \.s3.bucket,
            allowed: "empty, or 3 to 63 lower-case letters, digits, - and .",
            check: { $0.isEmpty || (3...63).contains($0.utf8.count) && isPlain($0, beside: "-.") },
            "The bucket, which is there already. Empty: assets are in the data folder."),
        .text(
            "s3.prefix", \.s3.prefix,
            allowed:
                "empty, or lower-case letters, digits, -, _ and ., in parts that each end with /",
            check: isPrefix,
            """
            How the keys of all objects begin. Each server needs one of its own: it removes \
            what it does not know there.
            """),
        .choice(
            "s3.addressing", \.s3.addressing,
            "Whether the bucket is named in the path or before the endpoint's host."),
        .file(
            "s3.credentialsFile", \.s3.credentialsFile,
            """
            File with the access key's id in its first line and the secret key in its second.
            """),
        .file(
            "s3.authoritiesFile", \.s3.authoritiesFile,
            """
            Certificates in PEM that the store's must come from. Empty: those that this \
            machine trusts.
            """),
    ]

    private static let behaviour: [Setting] = [
        .choice(
            "s3.downloads", \.s3.downloads,
            """
            Whether this server passes files on, or sends clients to the store with an address \
            that is good for a minute. Encrypted files are always passed on.
            """),
        .choice(
            "s3.backups", \.s3.backups,
            """
            Whether a backup makes sure that the files are in the bucket, or has them all.
            """),
    ]

    private static func isPlain(_ text: String, beside signs: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            default: signs.utf8.contains(byte)
            }
        }
    }

    private static func isPrefix(_ text: String) -> Bool {
        text.isEmpty
            || text.hasSuffix("/") && text.utf8.count <= 200
                && text.dropLast().split(separator: "/", omittingEmptySubsequences: false)
                    .allSatisfy {
                        !$0.isEmpty && $0 != "." && $0 != ".." && isPlain(String($0), beside: "-_.")
                    }
    }
}
