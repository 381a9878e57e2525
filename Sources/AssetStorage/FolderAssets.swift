import CloudModel
import Cryptography

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Assets in a folder: a file each, named by its digest, in 256 folders by its first byte.
///
/// Files on their way lie in `incoming`; a rename puts them in place. With a key new files are sealed,
/// and end in `.sealed`; both kinds are read, whatever the present setting.
package final class FolderAssets: AssetStorage {
    static let sealedSuffix = ".sealed"
    private static let incomingName = "incoming"

    private let path: String
    private let key: AssetKey?
    /// How much of the disk is left for everything else.
    private let freeBytesMin: Int
    private let random: RandomSource

    /// - Parameters:
    ///   - path: the folder, made when the first file comes; the one above exists.
    ///   - key: seals new files; nil leaves them as they are.
    ///   - freeBytesMin: uploads are refused that would leave less on the disk.
    package init(
        path: String, key: AssetKey? = nil, freeBytesMin: Int = 0,
        random: RandomSource = .system
    ) {
        self.path = path
        self.key = key
        self.freeBytesMin = freeBytesMin
        self.random = random
    }

    package var isLocal: Bool { true }

    package func begin(expectedBytes: Int) throws(AssetFailure) -> any AssetUpload {
        try beginFile(expectedBytes: expectedBytes)
    }

    /// As `begin`, for a storage that takes the file on from here.
    func beginFile(expectedBytes: Int) throws(AssetFailure) -> FolderUpload {
        // With its name on disk: what is put below it later is as durable as that.
        if try AssetFiles.makeFolder(path) { try AssetFiles.synchronizeFolder("\(path)/..") }
        let incoming = "\(path)/\(Self.incomingName)"
        try AssetFiles.makeFolder(incoming)
        let (wanted, overflow) = expectedBytes.addingReportingOverflow(freeBytesMin)
        guard !overflow, try AssetFiles.freeBytes(path) >= wanted else { throw .full }
        return try FolderUpload(
            to: self, temporary: "\(incoming)/\(Hexadecimal.encode(random.bytes(16)))",
            cipher: key.map { $0.makeCipher(random) })
    }

    /// - Throws: `AssetFailure.full` when no more may be written.
    fileprivate func checkFloor() throws(AssetFailure) {
        guard try AssetFiles.freeBytes(path) >= freeBytesMin else { throw .full }
    }

    package func open(_ digest: AssetDigest) throws(AssetFailure) -> (any AssetReader)? {
        for isSealed in key == nil ? [false, true] : [true, false] {
            let descriptor = AssetFiles.open(place(of: digest, isSealed: isSealed), O_RDONLY)
            if descriptor < 0 {
                if errno == ENOENT || errno == ENOTDIR { continue }
                throw AssetFiles.failure("open")
            }
            let file = OpenAssetFile(descriptor)
            guard isSealed else { return try PlainReader(file) }
            guard let key else { throw .keyMissing }
            return try SealedReader(file, digest: digest, key: key)
        }
        return nil
    }

    package func delete(_ digest: AssetDigest) throws(AssetFailure) {
        for isSealed in [false, true] {
            try AssetFiles.remove(place(of: digest, isSealed: isSealed))
        }
    }

    package func list(
        after: AssetDigest?, limit: Int
    ) throws(AssetFailure) -> [AssetListing] {
        var found: [AssetListing] = []
        let first = after.map { Int($0.bytes[0]) } ?? 0
        for number in first...255 {
            let folder = "\(path)/\(Hexadecimal.encode([UInt8(number)]))"
            for name in try AssetFiles.names(in: folder) {
                let stem = name.hasSuffix(Self.sealedSuffix) ? name.dropLast(7) : name[...]
                guard let digest = AssetDigest(hexadecimal: stem), digest.bytes[0] == number,
                    after.map({ $0 < digest }) ?? true, found.last?.digest != digest,
                    let placed = Self.modified("\(folder)/\(name)")
                else { continue }
                if found.count == limit { return found }
                found.append(AssetListing(digest: digest, placed: placed))
            }
        }
        return found
    }

    package func removeUnfinished() throws(AssetFailure) {
        let incoming = "\(path)/\(Self.incomingName)"
        for name in try AssetFiles.names(in: incoming) {
            try AssetFiles.remove("\(incoming)/\(name)")
        }
    }

    private static func modified(_ path: String) -> Milliseconds? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        #if canImport(Glibc)
            return Milliseconds(status.st_mtim.tv_sec) * 1_000
        #else
            return Milliseconds(status.st_mtimespec.tv_sec) * 1_000
        #endif
    }

    private func folder(of digest: AssetDigest) -> String {
        "\(path)/\(Hexadecimal.encode(digest.bytes.prefix(1)))"
    }

    private func place(of digest: AssetDigest, isSealed: Bool) -> String {
        "\(folder(of: digest))/\(digest.hexadecimal)\(isSealed ? Self.sealedSuffix : "")"
    }

    /// Moves a file that is on disk to its place, and has its name there on disk too.
    fileprivate func accept(
        _ temporary: String, as digest: AssetDigest, isSealed: Bool
    ) throws(AssetFailure) {
        let folder = folder(of: digest)
        if mkdir(folder, 0o700) == 0 {
            try AssetFiles.synchronizeFolder(path)
        } else if errno != EEXIST {
            throw AssetFiles.failure("mkdir")
        }
        guard rename(temporary, place(of: digest, isSealed: isSealed)) == 0 else {
            throw AssetFiles.failure("rename")
        }
        try AssetFiles.synchronizeFolder(folder)
    }
}

/// A file on its way into a folder.
final class FolderUpload: AssetUpload {
    /// After so much it looks at the room that is left, which others take from too, and has the disk
    /// begin, so that the end does not wait for all of it.
    private static let stepBytes = 4 << 20

    private let storage: FolderAssets
    private var stepStart = 0
    private let temporary: String
    let descriptor: Int32
    private var cipher: AssetCipher?
    private var hash = SHA256()
    private var size = 0
    private var content: AssetContent?
    private var isInPlace = false

    init(
        to storage: FolderAssets, temporary: String, cipher: AssetCipher?
    ) throws(AssetFailure) {
        self.storage = storage
        self.temporary = temporary
        self.cipher = cipher
        descriptor = AssetFiles.open(temporary, O_RDWR | O_CREAT | O_EXCL)
        guard descriptor >= 0 else { throw AssetFiles.failure("open") }
        if cipher != nil {
            do throws(AssetFailure) {
                try write([UInt8](repeating: 0, count: AssetCipher.headerBytes))
            } catch {
                discard()
                throw error
            }
        }
    }

    deinit {
        discard()
        if descriptor >= 0 { close(descriptor) }
    }

    var isSealed: Bool { cipher != nil }

    func append(_ bytes: UnsafeRawBufferPointer) throws(AssetFailure) {
        hash.update(bytes)
        size += bytes.count
        if cipher == nil {
            try AssetFiles.write(bytes, to: descriptor)
        } else {
            for chunk in try cipher?.append(bytes) ?? [] { try write(chunk) }
        }
        guard size - stepStart >= Self.stepBytes else { return }
        try storage.checkFloor()
        AssetFiles.beginWriting(descriptor, from: stepStart)
        stepStart = size
    }

    func seal() throws(AssetFailure) -> AssetContent {
        if let content { return content }
        guard let digest = AssetDigest(hash.digest()) else {
            throw .system(call: "SHA-256", reason: "no digest")
        }
        if cipher != nil {
            if let (last, header) = try cipher?.finish() {
                try write(last)
                guard pwrite(descriptor, header, header.count, 0) == header.count else {
                    throw AssetFiles.failure("pwrite")
                }
            }
        }
        if fsync(descriptor) != 0 { throw AssetFiles.failure("fsync") }
        let content = AssetContent(digest: digest, size: size)
        self.content = content
        return content
    }

    func place() throws(AssetFailure) {
        let content = try seal()
        guard !isInPlace else { return }
        try storage.accept(temporary, as: content.digest, isSealed: cipher != nil)
        isInPlace = true
    }

    func discard() {
        if !isInPlace && descriptor >= 0 { unlink(temporary) }
    }

    private func write(_ bytes: [UInt8]) throws(AssetFailure) {
        // NB: typed errors do not pass through the standard library's closures.
        var failure: AssetFailure?
        bytes.withUnsafeBytes { bytes in
            do throws(AssetFailure) { try AssetFiles.write(bytes, to: descriptor) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}

/// A descriptor that is closed with its last reader.
final class OpenAssetFile: StoredBytes {
    let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    func stored(at offset: Int, count: Int) throws(AssetFailure) -> [UInt8] {
        try AssetFiles.read(descriptor, at: offset, count: count)
    }
}

/// A file whose bytes are the contents.
private final class PlainReader: AssetReader {
    let byteCount: Int
    private let file: OpenAssetFile

    init(_ file: OpenAssetFile) throws(AssetFailure) {
        self.file = file
        byteCount = Int(try AssetFiles.status(file.descriptor).st_size)
    }

    var descriptor: Int32? { file.descriptor }

    func read(at offset: Int, count: Int) throws(AssetFailure) -> [UInt8] {
        guard offset >= 0, offset < byteCount, count > 0 else { return [] }
        return try AssetFiles.read(
            file.descriptor, at: offset, count: min(count, byteCount - offset))
    }
}
