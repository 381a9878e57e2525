import CloudModel
import Cryptography
import Dispatch
import Platform
import Synchronization

/// The sums of assets, a small file each beside the folder of the assets.
///
/// Each is written in `incoming`, brought to the disk and moved into its place. So it is whole or not
/// there, whenever the process or the machine ends. They can always be made again from contents that
/// fit their digest. So their names need not be on disk when an upload is acknowledged. A file of sums
/// that is missing or torn, or belongs to another asset, is made again when its asset is next read,
/// and by the upkeep.
final class SumFiles: Sendable {
    let path: String
    private let incoming: String
    private let known = KnownSums()
    /// Tells apart who writes the same sums at the same time.
    private let writtenCount = Atomic<UInt64>(0)

    /// - Parameter path: the folder, made when the first file comes.
    init(path: String) {
        self.path = path
        incoming = "\(path)/incoming"
    }

    /// A file's sums, if they have been read already.
    func remembered(_ digest: AssetDigest) -> KnownFile? { known[digest] }

    /// A file's sums as they were written down; nil where there are none that can be read and hold.
    func recorded(_ digest: AssetDigest) throws(AssetFailure) -> PartSums? {
        let descriptor = AssetFiles.open(location(of: digest), O_RDONLY)
        // NB: whatever keeps them from being read, they can be made again.
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let byteCount = Int(try AssetFiles.status(descriptor).st_size)
        // Of an asset of a terabyte; a longer file is not one.
        guard byteCount <= PartSums.encodedBytes(ofContents: 1 << 40),
            // NB: as above.
            let bytes = try? AssetFiles.read(descriptor, at: 0, count: byteCount)
        else { return nil }
        return PartSums(bytes, of: digest)
    }

    /// A file's sums: remembered, written down, or made from its contents and written down.
    ///
    /// - Throws: `AssetFailure.damaged` when they have to be made and the contents are not what they
    ///   should be; what the system reports.
    func sums(
        of digest: AssetDigest, orFrom reader: any AssetReader
    ) throws(AssetFailure) -> KnownFile {
        if let file = known[digest] { return file }
        if let sums = try recorded(digest) { return known.keep(sums) }
        let sums = try Self.made(of: digest, from: reader)
        // NB: a full disk keeps nobody from reading; the next reader makes them again.
        try? record(sums)
        return known.keep(sums)
    }

    /// Makes sums from contents, all of which it reads.
    ///
    /// - Throws: `AssetFailure.damaged` when the contents are not what they should be; what the system
    ///   reports.
    static func made(
        of digest: AssetDigest, from reader: any AssetReader
    ) throws(AssetFailure) -> PartSums {
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
        return summer.finished(digest)
    }

    /// Writes sums down, whole or not at all; in the place of those that are there.
    func record(_ sums: PartSums) throws(AssetFailure) {
        let folder = folder(of: sums.digest)
        for folder in [path, incoming, folder] { try AssetFiles.makeFolder(folder) }
        let number = writtenCount.add(1, ordering: .relaxed).newValue
        let temporary = "\(incoming)/\(sums.digest.hexadecimal).\(number)"
        let descriptor = AssetFiles.open(temporary, O_WRONLY | O_CREAT | O_TRUNC)
        guard descriptor >= 0 else { throw AssetFiles.failure("open") }
        defer { close(descriptor) }
        do throws(AssetFailure) {
            try AssetFiles.write(sums.encoded, to: descriptor)
            // Before its name: a name that is on the disk must not lead to bytes that are not.
            guard fsync(descriptor) == 0 else { throw AssetFiles.failure("fsync") }
            guard rename(temporary, location(of: sums.digest)) == 0 else {
                throw AssetFiles.failure("rename")
            }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// As `record`, for sums that are not those remembered.
    func replace(_ sums: PartSums) throws(AssetFailure) {
        try record(sums)
        known.forget(sums.digest)
    }

    /// Removes what a process has left that ended while it wrote; before anything is written.
    func removeUnfinished() throws(AssetFailure) {
        for name in try AssetFiles.names(in: incoming) {
            try AssetFiles.remove("\(incoming)/\(name)")
        }
    }

    /// As `removeUnfinished`, while others may write: only what nobody has written to since a moment.
    func removeAbandoned(writtenBefore moment: Milliseconds) throws(AssetFailure) {
        for name in try AssetFiles.names(in: incoming) {
            let path = "\(incoming)/\(name)"
            guard let written = FolderAssets.modified(path), written < moment else { continue }
            try AssetFiles.remove(path)
        }
    }

    /// Removes what is kept of a file that goes.
    func remove(_ digest: AssetDigest) throws(AssetFailure) {
        known.forget(digest)
        try AssetFiles.remove(location(of: digest))
    }

    private func folder(of digest: AssetDigest) -> String {
        "\(path)/\(Hexadecimal.encode(digest.bytes.prefix(1)))"
    }

    private func location(of digest: AssetDigest) -> String {
        "\(folder(of: digest))/\(digest.hexadecimal)"
    }
}
