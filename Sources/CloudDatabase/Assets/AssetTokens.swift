import CloudModel
import Cryptography

/// Makes and reads what a container environment hands out for its assets: the addresses to upload to
/// and to download from, and the codes of those who may use an upload.
///
/// Nothing of it is a credential anywhere else: it is signed with a key of the store's own.
package final class AssetTokens: Sendable {
    /// How long things stay good, in seconds.
    package struct Lives: Sendable {
        package var uploadURL = 900
        package var downloadURL = 3_600
        package var receipt = 86_400

        package init() {}
    }

    /// What an address to upload to allows.
    package struct UploadGrant: Sendable {
        package let identity: [UInt8]
        /// In seconds since 1970.
        package let expires: Int64
    }

    package let lives: Lives
    private let base: String
    private let uploads: HMACSHA256
    private let downloads: HMACSHA256
    private let identities: HMACSHA256

    /// - Parameters:
    ///   - key: the store's token key, 32 random bytes.
    ///   - base: the URL of this container environment's assets, without a slash at the end.
    package init(key: [UInt8], base: String, lives: Lives = Lives()) {
        let root = HMACSHA256(key: key)
        self.base = base
        self.lives = lives
        uploads = HMACSHA256(key: root.code(for: Array("asset uploads".utf8)))
        downloads = HMACSHA256(key: root.code(for: Array("asset downloads".utf8)))
        identities = HMACSHA256(key: root.code(for: Array("asset identities".utf8)))
    }

    /// The code of who may use what he uploads, in which database.
    package func identity(_ scope: DatabaseScope, _ user: UserRecordName) -> [UInt8] {
        identities.code(for: Array("\(scope.rawValue) \(user.text)".utf8), bytes: 16)
    }

    /// An address for one upload.
    package func uploadURL(
        identity: [UInt8], now: Milliseconds, random: RandomSource
    ) -> String {
        var token: [UInt8] = [Self.version]
        token += Self.bytes(now / 1_000 + Int64(lives.uploadURL))
        token += identity
        token += random.bytes(8)
        token += uploads.code(for: token, bytes: 16)
        return "\(base)/\(Self.uploadSegment)/\(Base64.encode(token, .urlSafe))"
    }

    /// What the last part of such an address allows; nil when this store has not made it.
    package func uploadGrant(_ text: some StringProtocol) -> UploadGrant? {
        guard let token = Base64.decode(String(text), .urlSafe), token.count == Self.tokenBytes,
            token[0] == Self.version,
            uploads.isValid(Array(token.suffix(16)), for: Array(token.dropLast(16)))
        else { return nil }
        let expires = token[1..<9].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return UploadGrant(identity: Array(token[9..<25]), expires: expires)
    }

    /// What makes the links of one answer.
    package func links(now: Milliseconds) -> AssetLinks {
        AssetLinks(tokens: self, expires: now / 1_000 + Int64(lives.downloadURL))
    }

    /// Appends a link that needs no percent sign; `${f}` stands for a name of the reader's choice.
    func appendLink(to digest: AssetDigest, expires: Int64, _ text: inout [UInt8]) {
        text += base.utf8
        text += "/\(digest.hexadecimal)/${f}?e=\(expires)&s=".utf8
        downloads.code(for: Self.bytes(expires) + digest.bytes, bytes: 16).withUnsafeBytes {
            Base64.append($0, to: &text, .urlSafe)
        }
    }

    /// Whether the signature of a link is of this store's making; not whether it has expired.
    package func isLink(
        to digest: AssetDigest, expires: Int64, signature: some StringProtocol
    ) -> Bool {
        guard let code = Base64.decode(String(signature), .urlSafe), code.count == 16 else {
            return false
        }
        return downloads.isValid(code, for: Self.bytes(expires) + digest.bytes)
    }

    /// What clients of private databases expect beside a checksum: opaque, and the same for equal contents.
    package func companions(
        of digest: AssetDigest
    ) -> (wrappingKey: [UInt8], referenceChecksum: [UInt8]) {
        let code = identities.code(for: Array("companions".utf8) + digest.bytes)
        return (Array(code.prefix(16)), [1] + code.suffix(16) + digest.bytes.prefix(4))
    }

    /// Where addresses to upload to differ from those of files, which are digests.
    package static let uploadSegment = "up"
    private static let version: UInt8 = 1
    private static let tokenBytes = 1 + 8 + 16 + 8 + 16

    private static func bytes(_ number: Int64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// The links that one answer gives for its assets.
package struct AssetLinks: Sendable {
    private let tokens: AssetTokens
    private let expires: Int64

    init(tokens: AssetTokens, expires: Int64) {
        self.tokens = tokens
        self.expires = expires
    }

    /// The link to a file.
    package func text(of digest: AssetDigest) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(192)
        tokens.appendLink(to: digest, expires: expires, &text)
        return text
    }
}

/// How one request of one caller meets the assets of its database.
package struct AssetAccess: Sendable {
    package let tokens: AssetTokens
    package let now: Milliseconds

    package init(_ tokens: AssetTokens, now: Milliseconds) {
        self.tokens = tokens
        self.now = now
    }

    /// Fresh links, good from this request on.
    package var links: AssetLinks { tokens.links(now: now) }
}
