import CloudModel
import Cryptography
import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The sums of assets, a small file each beside the folder of the assets.
///
/// They can always be made again from contents that fit their digest. So they need not be on disk
/// when an upload is acknowledged. A file of sums that is missing or torn, or belongs to another
/// asset, is made again when its asset is next read.
final class SumFiles: Sendable {
    private let path: String
    private let known = KnownSums()

    /// - Parameter path: the folder, made when the first file comes.
    init(path: String) { self.path = path }

    /// A file's sums, if they have been read already.
    func remembered(_ digest: AssetDigest) -> KnownFile? { known[digest] }

    /// A file's sums as they were written down; nil where there are none that can be read and hold.
    func recorded(_ digest: AssetDigest) throws(AssetFailure) -> PartSums? {
        let descriptor = AssetFiles.open(place(of: digest), O_RDONLY)
        // NB: whatever keeps them from being read, they can be made again.
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let byteCount = Int(try AssetFiles.status(descriptor).st_size)
        // Of an asset of a terabyte; what is longer is none.
        guard byteCount <= PartSums.encodedBytes(ofContents: 1 << 40),
            // NB: as above.
            let bytes = try? AssetFiles.read(descriptor, at: 0, count: byteCount)
        else { return nil }
        return PartSums(bytes, of: digest)
    }

    /// Whether something is written down of a file.
    func areRecorded(_ digest: AssetDigest) -> Bool { access(place(of: digest), F_OK) == 0 }

    /// A file's sums: remembered, written down, or made from its contents and written down.
    ///
    /// - Throws: `AssetFailure.damaged` when they have to be made and the contents are not what they
    ///   should be; what the system reports.
    func sums(
        of digest: AssetDigest, orFrom reader: any AssetReader
    ) throws(AssetFailure) -> KnownFile {
        if let file = known[digest] { return file }
        if let sums = try recorded(digest) { return known.keep(sums) }
        var (hash, summer) = (SHA256(), PartSummer())
        var offset = 0
        while offset < reader.byteCount {
            let piece = try reader.read(at: offset, count: 4 * PartSums.partBytes)
            if piece.isEmpty { break }
            hash.update(piece)
            piece.withUnsafeBytes { summer.update($0) }
            offset += piece.count
        }
        guard AssetDigest(hash.digest()) == digest else { throw .damaged(digest) }
        let sums = summer.finished(digest)
        // NB: a full disk keeps nobody from reading; the next reader makes them again.
        try? record(sums)
        return known.keep(sums)
    }

    /// Writes sums down; they are on disk some time later.
    func record(_ sums: PartSums) throws(AssetFailure) {
        let folder = folder(of: sums.digest)
        try AssetFiles.makeFolder(path)
        try AssetFiles.makeFolder(folder)
        let place = place(of: sums.digest)
        let descriptor = AssetFiles.open(place, O_WRONLY | O_CREAT | O_TRUNC)
        guard descriptor >= 0 else { throw AssetFiles.failure("open") }
        defer { close(descriptor) }
        do throws(AssetFailure) {
            try AssetFiles.write(sums.encoded, to: descriptor)
        } catch {
            unlink(place)
            throw error
        }
    }

    /// Removes what is kept of a file that goes.
    func remove(_ digest: AssetDigest) throws(AssetFailure) {
        known.forget(digest)
        try AssetFiles.remove(place(of: digest))
    }

    private func folder(of digest: AssetDigest) -> String {
        "\(path)/\(Hexadecimal.encode(digest.bytes.prefix(1)))"
    }

    private func place(of digest: AssetDigest) -> String {
        "\(folder(of: digest))/\(digest.hexadecimal)"
    }
}
