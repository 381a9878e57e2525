import CloudModel
import Cryptography

extension AssetReader {
    /// Reads everything, piece by piece, and hands it on.
    ///
    /// - Returns: the digest of what was read, to be compared with the file's own.
    package func readAll(
        _ visit: (UnsafeRawBufferPointer) throws -> Void = { _ in }
    ) throws -> AssetContent? {
        var hash = SHA256()
        let size = try forEachPiece {
            hash.update($0)
            try visit($0)
        }
        return AssetDigest(hash.digest()).map { AssetContent(digest: $0, size: size) }
    }

    /// Reads everything, piece by piece.
    ///
    /// - Returns: how many bytes there were.
    func forEachPiece(_ visit: (UnsafeRawBufferPointer) throws -> Void) throws -> Int {
        var offset = 0
        while offset < byteCount {
            let piece = try read(at: offset, count: 4 * PartSums.partBytes)
            if piece.isEmpty { break }
            try piece.withUnsafeBytes { try visit($0) }
            offset += piece.count
        }
        return offset
    }
}

extension AssetBlobStore {
    /// Copies a file into another storage, if it is there and is what its digest says.
    ///
    /// - Returns: false when there is no such file.
    /// - Throws: `AssetFailure.damaged` for other contents; then nothing has been put in place.
    package func copy(_ digest: AssetDigest, to other: any AssetBlobStore) throws -> Bool {
        guard let reader = try open(digest) else { return false }
        let upload = try other.begin(expectedBytes: reader.byteCount)
        defer { upload.discard() }
        _ = try reader.readAll { try upload.append($0) }
        guard try upload.seal().digest == digest else { throw AssetFailure.damaged(digest) }
        try upload.place()
        return true
    }
}
