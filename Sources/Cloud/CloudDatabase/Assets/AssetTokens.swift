import CloudModel
import Cryptography
import Storage
import Synchronization

/// Makes and reads what a container environment hands out for its assets.
///
/// These are the addresses for uploads and downloads, and the codes of those who may use an upload. None of
/// them is a credential anywhere else: a key of the store's own signs them.
package final class AssetTokens: Sendable {
    /// How long things stay good, in seconds.
    package struct Lives: Sendable {
        /// As Apple's (web-services.md §7); an upload that has begun may take longer.
        package var uploadURL = 900
        package var downloadURL = 3_600
        /// A device that was uploading when it lost its network saves the record within a day.
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
    /// The sealed origins that most links use.
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

    /// A code for a user and a database: it says who may use what they upload, and where.
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

    /// What an upload address allows, by its last part; nil when this store did not make it.
    package func uploadGrant(_ text: some StringProtocol) -> UploadGrant? {
        guard let token = Base64.decode(String(text), .urlSafe), token.count > Self.tokenBytesMin,
            token[0] == Self.version,
            uploads.isValid(Array(token.suffix(16)), for: Array(token.dropLast(16))),
            let origin = opened(Array(token[33..<(token.count - 16)]))
        else { return nil }
        let expires = token[1..<9].reduce(Int64(0)) { $0 << 8 | Int64($1) }
        return UploadGrant(identity: Array(token[9..<25]), expires: expires, origin: origin)
    }

    /// Makes the links that one answer gives to one caller.
    func links(to origin: AssetOrigin, now: Milliseconds) -> AssetLinks {
        AssetLinks(
            tokens: self, expires: now / 1_000 + Int64(lives.downloadURL), origin: sealed(origin))
    }

    /// Appends a link that needs no percent-encoding; `${f}` in it stands for a name that the reader chooses.
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

    /// Whether this store made a link; does not check whether the link has expired.
    ///
    /// - Parameter origin: the text of the origin in the link.
    package func isLink(
        to digest: AssetDigest, expires: Int64, origin: some StringProtocol,
        signature: some StringProtocol
    ) -> Bool {
        guard let code = Base64.decode(String(signature), .urlSafe), code.count == 16,
            let origin = Base64.decode(String(origin), .urlSafe)
        else { return false }
        return downloads.isValid(code, for: Self.bytes(expires) + digest.bytes + origin)
    }

    /// Reads who got a link; nil when no link of this store has this text.
    package func origin(_ text: some StringProtocol) -> AssetOrigin? {
        Base64.decode(String(text), .urlSafe).flatMap(opened)
    }

    /// Encrypts an origin, so that an address names nobody; equal origins give equal texts.
    private func sealed(_ origin: AssetOrigin) -> [UInt8] {
        // Origins in shared databases differ by record: there are too many to keep.
        let isKept = origin.sharedItem == nil
        if isKept, let known = sealedOrigins.withLock({ $0[origin] }) { return known }
        let plain = origin.encoded
        let nonce = Array(originNonces.code(for: plain).prefix(AES256GCM.nonceBytes))
        let sealed = plain.withUnsafeBytes {
            originCipher?.seal($0, nonce: nonce, beside: [])
        }
        // If sealing failed, nobody can open the text: the address is refused when it is used.
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

    /// What clients of private databases expect beside a checksum.
    ///
    /// The values are opaque, and equal for equal contents.
    package func companions(
        of digest: AssetDigest
    ) -> (wrappingKey: [UInt8], referenceChecksum: [UInt8]) {
        let code = identities.code(for: Array("companions".utf8) + digest.bytes)
        return (Array(code.prefix(16)), [1] + code.suffix(16) + digest.bytes.prefix(4))
    }

    /// Tells upload addresses from download addresses, which have a digest in this place.
    package static let uploadSegment = "up"
    private static let version: UInt8 = 2
    private static let tokenBytesMin = 1 + 8 + 16 + 8 + 16

    private static func bytes(_ number: Int64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}

/// The links that one answer gives for its assets.
package struct AssetLinks: Sendable {
    let tokens: AssetTokens
    let expires: Int64
    let origin: [UInt8]

    /// The link to a file.
    package func text(of digest: AssetDigest) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(320)
        tokens.appendLink(to: digest, expires: expires, origin: origin, &text)
        return text
    }
}

/// What one request of one caller needs for the assets of its database.
package struct AssetAccess: Sendable {
    package let tokens: AssetTokens
    package let now: Milliseconds
    /// Who gets the addresses; most requests make none.
    private let madeOrigin: @Sendable () -> AssetOrigin
    var origin: AssetOrigin { madeOrigin() }

    package init(
        _ tokens: AssetTokens, now: Milliseconds, origin: @escaping @Sendable () -> AssetOrigin
    ) {
        self.tokens = tokens
        self.now = now
        madeOrigin = origin
    }

    /// New links, whose lives begin with this request.
    func links(at sharedItem: AssetOrigin.SharedItem?) -> AssetLinks {
        tokens.links(to: origin.at(sharedItem), now: now)
    }
}

extension Database {
    /// Links to the assets of a record, for an answer to this request; nil when the answer shows none.
    ///
    /// In a shared database, they end when the caller no longer sees the record.
    func assetLinks(of record: RecordNumber) -> AssetLinks? {
        assets?.links(at: scope == .shared ? .record(record) : nil)
    }

    /// Links to assets of a zone's records, when nobody knows of which records.
    ///
    /// In a shared database, they end when the caller no longer sees anything of the zone.
    package func assetLinks(in zone: ZoneID) -> AssetLinks? {
        assets?.links(at: sharedItem(zone))
    }

    /// What the caller must still see when somebody uses an address of this zone.
    func sharedItem(_ zone: ZoneID) -> AssetOrigin.SharedItem? {
        guard scope == .shared, let owner = zone.owner else { return nil }
        return .zone(zone.name, owner: owner)
    }
}
