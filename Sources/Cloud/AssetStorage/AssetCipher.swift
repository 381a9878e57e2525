import CloudModel
import Cryptography

/// Seals files of assets: from it comes a key of its own for each.
package struct AssetKey: Sendable {
    package static let byteCount = 32

    private let root: HMACSHA256

    /// Nil for anything but 32 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        root = HMACSHA256(key: bytes)
    }

    func makeCipher(_ random: RandomSource) -> AssetCipher {
        AssetCipher(self, salt: random.bytes(AssetCipher.saltBytes))
    }

    /// What seals the chunks of one file, and its header.
    func keys(salt: [UInt8]) -> (chunks: [UInt8], header: HMACSHA256) {
        (
            root.code(for: Array("asset chunks".utf8) + salt),
            HMACSHA256(key: root.code(for: Array("asset header".utf8) + salt))
        )
    }
}

/// The form of a sealed file: a header, then chunks of 64 KiB, each sealed by itself so that a range
/// can be read without the rest.
///
/// The header is `LNASSET1`, a salt of 16 bytes, the length of the contents (64 bits, big-endian), and
/// 16 bytes of an HMAC over all of that. The file's own keys come from the salt. With each chunk its
/// number, its length and whether it is the last are authenticated. So none can be moved, cut or left out.
struct AssetCipher {
    static let chunkBytes = 65_536
    static let sealedChunkBytes = chunkBytes + AES256GCM.tagBytes
    static let saltBytes = 16
    static let headerBytes = 48
    private static let magic = Array("LNASSET1".utf8)

    private let cipher: AES256GCM?
    private let headerKey: HMACSHA256
    private let salt: [UInt8]
    private var waiting: [UInt8] = []
    private var index = 0
    private var length = 0

    init(_ key: AssetKey, salt: [UInt8]) {
        let keys = key.keys(salt: salt)
        cipher = AES256GCM(key: keys.chunks)
        headerKey = keys.header
        self.salt = salt
    }

    /// Takes up a header; nil when the key did not make it.
    static func opening(
        _ header: [UInt8], with key: AssetKey
    ) -> (cipher: AssetCipher, length: Int)? {
        guard header.count == headerBytes, header.starts(with: magic) else { return nil }
        let cipher = AssetCipher(key, salt: Array(header[8..<24]))
        guard cipher.headerKey.isValid(Array(header[32...]), for: Array(header[..<32])) else {
            return nil
        }
        let length = header[24..<32].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int(exactly: length).map { (cipher, $0) }
    }

    /// How long the contents of a sealed file of a length are; nil when none has that length.
    static func contentBytes(ofSealed count: Int) -> Int? {
        let sealed = count - headerBytes
        guard sealed >= AES256GCM.tagBytes else { return nil }
        let chunkCount = (sealed + sealedChunkBytes - 1) / sealedChunkBytes
        let length = sealed - chunkCount * AES256GCM.tagBytes
        return length >= 0 ? length : nil
    }

    /// Takes bytes, and gives the chunks that are certain not to be the last.
    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(AssetFailure) -> [[UInt8]] {
        var sealed: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            if waiting.count == Self.chunkBytes {
                sealed.append(try seal(isLast: false))
            }
            let piece = rest.prefix(Self.chunkBytes - waiting.count)
            waiting.append(contentsOf: piece)
            rest = rest.dropFirst(piece.count)
        }
        return sealed
    }

    /// The last chunk, which a file of no bytes has too, and the header.
    mutating func finish() throws(AssetFailure) -> (last: [UInt8], header: [UInt8]) {
        let last = try seal(isLast: true)
        var header = Self.magic + salt
        for shift in stride(from: 56, through: 0, by: -8) {
            header.append(UInt8(truncatingIfNeeded: length >> shift))
        }
        header += headerKey.code(for: header, bytes: 16)
        return (last, header)
    }

    private mutating func seal(isLast: Bool) throws(AssetFailure) -> [UInt8] {
        let sealed = waiting.withUnsafeBytes {
            cipher?.seal(
                $0, nonce: Self.nonce(index),
                beside: Self.beside(index, count: waiting.count, isLast: isLast))
        }
        guard let sealed else { throw .system(call: "AES-256-GCM", reason: "cannot seal") }
        length += waiting.count
        index += 1
        waiting.removeAll(keepingCapacity: true)
        return sealed
    }

    /// The contents of a chunk; nil when it is not the one that was sealed in its place.
    func open(_ sealed: [UInt8], index: Int, isLast: Bool) -> [UInt8]? {
        let count = sealed.count - AES256GCM.tagBytes
        guard count >= 0 else { return nil }
        return sealed.withUnsafeBytes {
            cipher?.open(
                $0, nonce: Self.nonce(index),
                beside: Self.beside(index, count: count, isLast: isLast))
        }
    }

    // Each file has a key of its own, so the chunk's number is nonce enough.
    private static func nonce(_ index: Int) -> [UInt8] {
        [0, 0, 0, 0] + (0..<8).map { UInt8(truncatingIfNeeded: index >> (56 - 8 * $0)) }
    }

    private static func beside(_ index: Int, count: Int, isLast: Bool) -> [UInt8] {
        nonce(index) + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
            + [isLast ? 1 : 0]
    }
}

/// The bytes of a file as they are stored, sealed or not.
protocol StoredBytes: AnyObject, Sendable {
    /// As many bytes from an offset on; fewer only where the file ends.
    func stored(at offset: Int, count: Int) throws(AssetFailure) -> [UInt8]
}

/// A sealed file, of which any stretch can be read.
final class SealedReader: AssetReader {
    let byteCount: Int
    private let file: any StoredBytes
    private let digest: AssetDigest
    private let cipher: AssetCipher

    init(
        _ file: any StoredBytes, digest: AssetDigest, key: AssetKey
    ) throws(AssetFailure) {
        let header = try file.stored(at: 0, count: AssetCipher.headerBytes)
        guard let (cipher, length) = AssetCipher.opening(header, with: key) else {
            throw .damaged(digest)
        }
        self.file = file
        self.digest = digest
        self.cipher = cipher
        byteCount = length
    }

    var descriptor: Int32? { nil }

    func wasChecked(_ stretch: Range<Int>) -> Bool { false }

    /// Nothing to do: each chunk is authenticated as it is opened.
    func check(_ stretch: Range<Int>) throws(AssetFailure) {}

    /// The chunks that the stretch touches, without what is before and behind it.
    func read(at offset: Int, count: Int) throws(AssetFailure) -> [UInt8] {
        guard offset >= 0, offset < byteCount, count > 0 else { return [] }
        let end = offset + min(count, byteCount - offset)
        let first = offset / AssetCipher.chunkBytes
        let last = (end - 1) / AssetCipher.chunkBytes
        let lastOfFile = max(byteCount - 1, 0) / AssetCipher.chunkBytes
        // All of them at once: where the file is far away, each look at it takes its time.
        let sealed = try file.stored(
            at: AssetCipher.headerBytes + first * AssetCipher.sealedChunkBytes,
            count: (last - first + 1) * AssetCipher.sealedChunkBytes)
        var bytes: [UInt8] = []
        bytes.reserveCapacity((last - first + 1) * AssetCipher.chunkBytes)
        for index in first...last {
            let plainCount = min(
                AssetCipher.chunkBytes, byteCount - index * AssetCipher.chunkBytes)
            let start = (index - first) * AssetCipher.sealedChunkBytes
            let end = start + plainCount + AES256GCM.tagBytes
            guard end <= sealed.count,
                let plain = cipher.open(
                    Array(sealed[start..<end]), index: index, isLast: index == lastOfFile)
            else { throw .damaged(digest) }
            bytes += plain
        }
        let before = offset - first * AssetCipher.chunkBytes
        if before == 0, bytes.count == end - offset { return bytes }
        return Array(bytes[before..<before + end - offset])
    }
}
