import CloudModel
import Cryptography
import Platform
import Synchronization

/// Assets in a folder: a file each, named by its digest, in 256 folders by its first byte.
///
/// Files on their way lie in `incoming`; a rename puts them in place. With a key new files are
/// sealed, and end in `.sealed`; both kinds are read, whatever the present setting. For files that
/// are not sealed, a folder beside this one keeps sums. By these, each part is checked before it is
/// handed out.
package final class FolderAssets: AssetBlobStore {
    static let sealedSuffix = ".sealed"

    private let path: String
    /// Where files on their way are.
    let incoming: String
    let key: AssetKey?
    /// How much of the disk is left for everything else, at present.
    private let floor: @Sendable () -> Int
    let random: RandomSource
    /// Of the files here; also of those that a storage elsewhere takes on from here.
    let sums: SumFiles
    private let clocks: FileClocks
    private let folders = DurableFolders()
    private let leftovers: AssetTrash
    private let notes = Mutex(())

    /// - Parameters:
    ///   - path: the folder, made when the first file comes, with those above it.
    ///   - key: seals new files; nil leaves them as they are.
    ///   - freeBytesMin: uploads are refused that would leave less on the disk.
    ///   - reserved: so much is to be left at least, asked anew each time.
    ///   - clocks: tell how long ago a part of a file was checked.
    package init(
        path: String, key: AssetKey? = nil, freeBytesMin: Int = 0,
        reserved: @escaping @Sendable () -> Int = { 0 }, random: RandomSource = .system,
        clocks: FileClocks = FileClocks()
    ) {
        self.path = path
        incoming = "\(path)/incoming"
        self.key = key
        let floor: @Sendable () -> Int = { max(freeBytesMin, reserved()) }
        self.floor = floor
        self.random = random
        self.clocks = clocks
        sums = SumFiles(path: "\(path)-sums")
        leftovers = AssetTrash(path: "\(path)-trash", folders) {
            Self.location(of: $0, isSealed: $1, in: path)
        } isShort: { () throws(AssetFailure) in
            try AssetFiles.freeBytes(path) < floor()
        }
    }

    /// Reads a note and then changes it, and nobody else does meanwhile: a former upload that gives way may end
    /// while the one in its place begins.
    func withNotes<Value, Failure>(_ work: () throws(Failure) -> Value) throws(Failure) -> Value {
        try notes.withLock { _ throws(Failure) in try work() }
    }

    package var isLocal: Bool { true }
    package var trash: AssetTrash? { leftovers }

    package func begin(expectedBytes: Int) throws(AssetFailure) -> any AssetUpload {
        try beginFile(expectedBytes: expectedBytes)
    }

    /// As `begin`, for a storage that takes the file on from here.
    func beginFile(expectedBytes: Int) throws(AssetFailure) -> FolderUpload {
        try makeRoom(for: expectedBytes)
        return try FolderUpload(
            to: self, temporary: "\(incoming)/\(Hexadecimal.encode(random.bytes(16)))",
            cipher: key.map { $0.makeCipher(random) })
    }

    /// Makes sure that there is a place for a file on its way, and bytes for it.
    func makeRoom(for expectedBytes: Int) throws(AssetFailure) {
        try folders.make(path)
        try folders.make(incoming)
        let (wanted, overflow) = expectedBytes.addingReportingOverflow(floor())
        guard !overflow, try AssetFiles.freeBytes(path) >= wanted else { throw .full }
    }

    /// - Throws: `AssetFailure.full` when no more may be written.
    func checkFloor() throws(AssetFailure) {
        guard try AssetFiles.freeBytes(path) >= floor() else { throw .full }
    }

    package func open(_ digest: AssetDigest) throws(AssetFailure) -> (any AssetReader)? {
        let kinds = key == nil ? [false, true] : [true, false]
        let locations =
            kinds.map { (location(of: digest, isSealed: $0), $0) }
            + kinds.map { (leftovers.name(of: digest, isSealed: $0), $0) }
        for (location, isSealed) in locations {
            let descriptor = AssetFiles.open(location, O_RDONLY)
            if descriptor < 0 {
                if errno == ENOENT || errno == ENOTDIR { continue }
                throw AssetFiles.failure("open")
            }
            let file = OpenAssetFile(descriptor)
            guard isSealed else { return try PlainReader(file, digest, sums, clocks) }
            guard let key else { throw .keyMissing }
            return try SealedReader(file, digest: digest, key: key)
        }
        return nil
    }

    package func delete(_ digest: AssetDigest) throws(AssetFailure) {
        for isSealed in [false, true] {
            try AssetFiles.remove(location(of: digest, isSealed: isSealed))
        }
        try sums.remove(digest)
    }

    package func removeEverything(while goesOn: () -> Bool) throws(AssetFailure) {
        for folder in [path, sums.path, leftovers.path] {
            // What is put into the folder from then on stays, and what is on its way into it comes to nothing.
            let aside = Self.aside(folder)
            try AssetFiles.removeTree(aside)
            guard goesOn() else { throw .removalEnded }
            guard rename(folder, aside) == 0 else {
                if errno == ENOENT { continue }
                throw AssetFiles.failure("rename")
            }
            // This process may have been stopped behind the question before.
            guard goesOn() else {
                guard rename(aside, folder) == 0 else { throw AssetFiles.failure("rename") }
                throw .removalEnded
            }
            try AssetFiles.removeTree(aside)
        }
    }

    /// Removes what is left of a container of the name before, where its removal was cut short.
    func removeAside() throws(AssetFailure) {
        for folder in [path, sums.path, leftovers.path] {
            try AssetFiles.removeTree(Self.aside(folder))
        }
    }

    private static func aside(_ folder: String) -> String { "\(folder)-removed" }

    package func mendSums(
        _ digest: AssetDigest, comparing: Bool
    ) throws(AssetFailure) -> Bool {
        let recorded = try sums.recorded(digest)
        guard recorded == nil || comparing, let reader = try open(digest), reader.descriptor != nil
        else { return false }
        let made = try SumFiles.made(of: digest, from: reader)
        guard made != recorded else { return false }
        try sums.replace(made)
        return true
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

    static func modified(_ path: String) -> Milliseconds? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        #if canImport(Glibc)
            return Milliseconds(status.st_mtim.tv_sec) * 1_000
        #else
            return Milliseconds(status.st_mtimespec.tv_sec) * 1_000
        #endif
    }

    private static func folder(of digest: AssetDigest, in path: String) -> String {
        "\(path)/\(Hexadecimal.encode(digest.bytes.prefix(1)))"
    }

    private static func location(
        of digest: AssetDigest, isSealed: Bool, in path: String
    ) -> String {
        "\(folder(of: digest, in: path))/\(digest.hexadecimal)\(isSealed ? sealedSuffix : "")"
    }

    private func location(of digest: AssetDigest, isSealed: Bool) -> String {
        Self.location(of: digest, isSealed: isSealed, in: path)
    }

    /// Moves a file that is on disk to its place, and has its name there on disk too.
    func accept(
        _ temporary: String, as digest: AssetDigest, isSealed: Bool
    ) throws(AssetFailure) {
        let folder = Self.folder(of: digest, in: path)
        try folders.make(folder)
        guard rename(temporary, location(of: digest, isSealed: isSealed)) == 0 else {
            throw AssetFiles.failure("rename")
        }
        try AssetFiles.synchronizeFolder(folder)
        try leftovers.remove(digest)
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
