import CloudModel

/// What a part consists of: the lists of the pieces of its bytes, and the lists of its assets by their first byte.
struct PartContents {
    /// So many bytes are a piece: small enough that a change of few pages copies little.
    static let pieceBytes = 65_536
    /// So many pieces are in a list.
    static let piecesPerList = 1_024

    var byteCount: Int64 = 0
    /// Where the lists of pieces lie, in the order of the bytes.
    var lists: [PieceReference] = []
    /// Where the lists of assets lie, by the first byte of their digests.
    var assets: [UInt8: PieceReference] = [:]

    init() {}

    func encoded() -> [UInt8] {
        let firsts = assets.keys.sorted()
        var bytes = ByteWriter()
        bytes.number(Int(byteCount), bytes: 8)
        bytes.number(firsts.count, bytes: 2)
        bytes.bytes += firsts
        return bytes.bytes + PieceList.encode(lists + firsts.compactMap { assets[$0] })
    }

    init(_ bytes: [UInt8]) throws(BackupFailure) {
        var reader = ByteReader(bytes)
        byteCount = Int64(try reader.number(bytes: 8))
        let firsts = try reader.take(try reader.number(bytes: 2))
        let references = try PieceList.decode(&reader)
        guard references.count >= firsts.count else { throw .damaged("a list is cut short") }
        lists = Array(references.dropLast(firsts.count))
        for (first, reference) in zip(firsts, references.suffix(firsts.count)) {
            assets[first] = reference
        }
    }
}

/// An asset in a backup: its digest, how long it is, and its pieces.
struct BackedUpAsset: Equatable {
    /// So many bytes are a piece: assets never change.
    static let pieceBytes = 4_194_304

    let digest: AssetDigest
    let size: Int
    let pieces: [PieceReference]

    /// A list of assets as bytes.
    static func encode(_ assets: [BackedUpAsset]) -> [UInt8] {
        var bytes = ByteWriter()
        bytes.number(assets.count, bytes: 4)
        for asset in assets {
            bytes.bytes += asset.digest.bytes
            bytes.number(asset.size, bytes: 8)
            bytes.number(asset.pieces.count, bytes: 4)
        }
        return bytes.bytes + PieceList.encode(assets.flatMap(\.pieces))
    }

    static func decode(_ bytes: [UInt8]) throws(BackupFailure) -> [BackedUpAsset] {
        var reader = ByteReader(bytes)
        var heads: [(AssetDigest, Int, Int)] = []
        for _ in 0..<(try reader.number(bytes: 4)) {
            guard let digest = AssetDigest(Array(try reader.take(32))) else {
                throw .damaged("a list of assets has no digest")
            }
            heads.append((digest, try reader.number(bytes: 8), try reader.number(bytes: 4)))
        }
        var pieces = try PieceList.decode(&reader)[...]
        return heads.map { digest, size, count in
            defer { pieces = pieces.dropFirst(count) }
            return BackedUpAsset(digest: digest, size: size, pieces: Array(pieces.prefix(count)))
        }
    }
}
