import CloudModel
import Cryptography
import Storage
import Synchronization

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
        package let origin: AssetOrigin
    }

    package let lives: Lives
    private let base: String
    private let uploads: HMACSHA256
    private let downloads: HMACSHA256
    private let identities: HMACSHA256
    private let originNonces: HMACSHA256
    private let originCipher: AES256GCM?
    /// Those that most links are made of.
    private let sealedOrigins = Mutex<[AssetOrigin: [UInt8]]>([:])

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
        originNonces = HMACSHA256(key: root.code(for: Array("asset origin nonces".utf8)))
        originCipher = AES256GCM(key: root.code(for: Array("asset origins".utf8)))
    }

    /// The code of who may use what they upload, in which database.
    package func identity(_ scope: DatabaseScope, _ user: UserRecordName) -> [UInt8] {
        identities.code(for: Array("\(scope.rawValue) \(user.text)".utf8), bytes: 16)
    }

    /// An address for one upload.
    package func uploadURL(
        identity: [UInt8], origin: AssetOrigin, now: Milliseconds, random: RandomSource
    ) -> String {
        var token: [UInt8] = [Self.version]
        token += Self.bytes(now / 1_000 + Int64(lives.uploadURL))
        token += identity
        token += random.bytes(8)
        token += sealed(origin)
        token += uploads.code(for: token, bytes: 16)
        return "\(base)/\(Self.uploadSegment)/\(Base64.encode(token, .urlSafe))"
    }

    /// What the last part of such an address allows; nil when this store has not made it.
    package func uploadGrant(_ text: some StringProtocol) -> UploadGrant? {
        guard let token = Base64.decode(String(text), .urlSafe), token.count > Self.tokenBytesMin,
            token[0] == Self.version,
            uploads.isValid(Array(token.suffix(16)), for: Array(token.dropLast(16))),
            let origin = opened(Array(token[33..<(token.count - 16)]))
        else { return nil }
        let expires = token[1..<9].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return UploadGrant(identity: Array(token[9..<25]), expires: expires, origin: origin)
    }

    /// What makes links that one answer gives to one caller.
    func links(to origin: AssetOrigin, now: Milliseconds) -> AssetLinks {
        AssetLinks(
            tokens: self, expires: now / 1_000 + Int64(lives.downloadURL), origin: sealed(origin))
    }

    /// Appends a link that needs no percent sign; `${f}` stands for a name of the reader's choice.
    func appendLink(
        to digest: AssetDigest, expires: Int64, origin: [UInt8], _ text: inout [UInt8]
    ) {
        text += base.utf8
        text += "/\(digest.hexadecimal)/${f}?e=\(expires)&w=".utf8
        origin.withUnsafeBytes { Base64.append($0, to: &text, .urlSafe) }
        text += "&s=".utf8
        downloads.code(for: Self.bytes(expires) + digest.bytes + origin, bytes: 16)
            .withUnsafeBytes { Base64.append($0, to: &text, .urlSafe) }
    }

    /// Whether a link is of this store's making; not whether it has expired.
    ///
    /// - Parameter origin: as the link has it.
    package func isLink(
        to digest: AssetDigest, expires: Int64, origin: some StringProtocol,
        signature: some StringProtocol
    ) -> Bool {
        guard let code = Base64.decode(String(signature), .urlSafe), code.count == 16,
            let origin = Base64.decode(String(origin), .urlSafe)
        else { return false }
        return downloads.isValid(code, for: Self.bytes(expires) + digest.bytes + origin)
    }

    /// Who a link was made for; nil for a text that is of no link of this store.
    package func origin(_ text: some StringProtocol) -> AssetOrigin? {
        Base64.decode(String(text), .urlSafe).flatMap(opened)
    }

    /// Encrypted, so that an address names nobody; equal origins look the same.
    private func sealed(_ origin: AssetOrigin) -> [UInt8] {
        // Of records in shared databases there are too many.
        let isKept = origin.place == nil
        if isKept, let known = sealedOrigins.withLock({ $0[origin] }) { return known }
        let plain = origin.encoded
        let nonce = Array(originNonces.code(for: plain).prefix(AES256GCM.nonceBytes))
        let sealed = plain.withUnsafeBytes {
            originCipher?.seal($0, nonce: nonce, beside: [])
        }
        // What could not be sealed is opened by nobody: the address is refused when it is used.
        let bytes = nonce + (sealed ?? [])
        if isKept {
            sealedOrigins.withLock { known in
                if known.count >= Self.sealedOriginsMax { known = [:] }
                known[origin] = bytes
            }
        }
        return bytes
    }

    private func opened(_ sealed: [UInt8]) -> AssetOrigin? {
        guard sealed.count > AES256GCM.nonceBytes + AES256GCM.tagBytes else { return nil }
        let nonce = Array(sealed.prefix(AES256GCM.nonceBytes))
        return sealed[AES256GCM.nonceBytes...].withUnsafeBytes {
            originCipher?.open($0, nonce: nonce, beside: [])
        }.flatMap { AssetOrigin($0) }
    }

    private static let sealedOriginsMax = 4_096

    /// What clients of private databases expect beside a checksum: opaque, and the same for equal contents.
    package func companions(
        of digest: AssetDigest
    ) -> (wrappingKey: [UInt8], referenceChecksum: [UInt8]) {
        let code = identities.code(for: Array("companions".utf8) + digest.bytes)
        return (Array(code.prefix(16)), [1] + code.suffix(16) + digest.bytes.prefix(4))
    }

    /// Where addresses to upload to differ from those of files, which are digests.
    package static let uploadSegment = "up"
    private static let version: UInt8 = 2
    private static let tokenBytesMin = 1 + 8 + 16 + 8 + 16

    private static func bytes(_ number: Int64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// The links that one answer gives for its assets.
package struct AssetLinks: Sendable {
    private let tokens: AssetTokens
    private let expires: Int64
    private let origin: [UInt8]

    init(tokens: AssetTokens, expires: Int64, origin: [UInt8]) {
        self.tokens = tokens
        self.expires = expires
        self.origin = origin
    }

    /// The link to a file.
    package func text(of digest: AssetDigest) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(320)
        tokens.appendLink(to: digest, expires: expires, origin: origin, &text)
        return text
    }
}

/// How one request of one caller meets the assets of its database.
package struct AssetAccess: Sendable {
    package let tokens: AssetTokens
    package let now: Milliseconds
    /// Whose addresses these are.
    let origin: AssetOrigin

    package init(_ tokens: AssetTokens, now: Milliseconds, origin: AssetOrigin) {
        self.tokens = tokens
        self.now = now
        self.origin = origin
    }

    /// Fresh links, good from this request on.
    func links(at place: AssetOrigin.Place?) -> AssetLinks {
        tokens.links(to: origin.at(place), now: now)
    }
}

extension Database {
    /// Links to the assets of a record, for an answer to this request; nil where none are shown.
    ///
    /// In a shared database they end when the caller no longer sees the record.
    func assetLinks(of record: RecordNumber) -> AssetLinks? {
        assets?.links(at: scope == .shared ? .record(record) : nil)
    }

    /// Links to the assets of records of a zone, where it is not known of which.
    ///
    /// In a shared database they end when the caller no longer sees anything of the zone.
    package func assetLinks(in zone: ZoneID) -> AssetLinks? {
        assets?.links(at: sharedPlace(zone))
    }

    /// What the caller must still see when an address for this zone is used.
    func sharedPlace(_ zone: ZoneID) -> AssetOrigin.Place? {
        guard scope == .shared, let owner = zone.owner else { return nil }
        return .zone(zone.name, owner: owner)
    }
}
