import AssetStorage
import CloudModel
import Cryptography
import Foundation
import S3StandIn
import Seeding
import Synchronization
import Testing

/// A storage under test, and how to look at it from outside.
struct StorageUnderTest: Sendable, CustomTestStringConvertible {
    let name: String
    /// Makes a storage on a place of its own, which is gone with the folder.
    let make: @Sendable (TemporaryFolder) throws -> any AssetBlobStore

    var testDescription: String { name }

    /// Every implementation of the contract.
    static let all = [
        StorageUnderTest(name: "folder") { FolderAssets(path: $0.path + "/assets") },
        StorageUnderTest(name: "sealed folder") {
            FolderAssets(
                path: $0.path + "/assets", key: AssetKey([UInt8](repeating: 7, count: 32)))
        },
        StorageUnderTest(name: "S3") { try onS3($0, key: nil) },
        StorageUnderTest(name: "sealed S3") {
            try onS3($0, key: AssetKey([UInt8](repeating: 7, count: 32)))
        },
    ]

    /// A bucket of a store that runs as long as the folder is there.
    private static func onS3(
        _ folder: TemporaryFolder, key: AssetKey?
    ) throws -> any AssetBlobStore {
        let store = try S3StandInServer()
        folder.keep(store)
        return S3Assets(
            store.bucket(), prefix: "container/development/",
            staging: FolderAssets(path: folder.path + "/assets", key: key), key: key)
    }
}

/// A folder that is gone with its last reference.
final class TemporaryFolder: Sendable {
    private let root: String
    /// What lies beside it goes with it.
    let path: String

    init() throws {
        root =
            FileManager.default.temporaryDirectory.appending(
                path: "assets-\(UUID().uuidString)"
            ).path
        path = "\(root)/assets"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    private let kept = Mutex<[any AnyObject & Sendable]>([])

    /// Has something live as long.
    func keep(_ object: any AnyObject & Sendable) { kept.withLock { $0.append(object) } }

    /// All files below, by their paths.
    var files: [String] {
        (try? FileManager.default.subpathsOfDirectory(atPath: path))?.filter {
            var isFolder: ObjCBool = false
            let isThere = FileManager.default.fileExists(
                atPath: "\(path)/\($0)", isDirectory: &isFolder)
            return isThere && !isFolder.boolValue
        }.sorted() ?? []
    }
}

extension AssetBlobStore {
    /// Stores bytes, handed in by pieces of a length.
    @discardableResult
    func put(_ bytes: [UInt8], by size: Int = 65_536) throws -> AssetContent {
        let upload = try begin(expectedBytes: bytes.count)
        var start = 0
        while start < bytes.count {
            let end = min(start + size, bytes.count)
            try bytes[start..<end].withUnsafeBytes { try upload.append($0) }
            start = end
        }
        let content = try upload.seal()
        try upload.place()
        return content
    }

    /// All bytes of a file; nil when there is none.
    func get(_ digest: AssetDigest) throws -> [UInt8]? {
        guard let reader = try open(digest) else { return nil }
        var bytes: [UInt8] = []
        let content = try reader.readAll { bytes += $0 }
        #expect(content?.digest == digest)
        return bytes
    }
}

@Suite("What every storage of assets does")
struct AssetStorageConformance {
    private static let sizes = [0, 1, 65_535, 65_536, 65_537, 131_072, 1_000_003]

    @Test(
        "A container that goes takes its files along, unless somebody may have made it again",
        arguments: StorageUnderTest.all)
    func everything(_ test: StorageUnderTest) throws {
        let folder = try TemporaryFolder()
        let storage = try test.make(folder)
        let placed = try storage.put(pattern(70_000)).digest
        let upload = try storage.begin(expectedBytes: 9)
        try [UInt8](repeating: 1, count: 9).withUnsafeBytes { try upload.append($0) }
        _ = try storage.begin(resumable: "0123", byteCount: 9)
        #expect(throws: AssetFailure.self) { try storage.removeEverything { false } }
        #expect(try storage.get(placed) == pattern(70_000))
        try storage.removeEverything { true }
        #expect(try storage.open(placed) == nil)
        #expect(try storage.list(after: nil, limit: 10) == [])
        #expect(folder.files == [])
        // What was on its way goes nowhere; what comes later is another container's.
        #expect(throws: AssetFailure.self) {
            _ = try upload.seal()
            try upload.place()
        }
        #expect(folder.files == [])
        let next = try storage.put(pattern(10)).digest
        #expect(try storage.get(next) == pattern(10))
        try storage.removeEverything { true }
        try storage.removeEverything { true }
        #expect(folder.files == [])
    }

    @Test(
        "Files come back byte for byte, whatever the pieces in which they came",
        arguments: StorageUnderTest.all)
    func bytes(_ test: StorageUnderTest) throws {
        let folder = try TemporaryFolder()
        let storage = try test.make(folder)
        for size in Self.sizes {
            let bytes = pattern(size, seed: UInt64(size) + 1)
            for piece in [1_009, 65_536, 300_000] where size < 200_000 || piece > 60_000 {
                let content = try storage.put(bytes, by: piece)
                #expect(content.size == size)
                #expect(content.digest == AssetDigest(SHA256.digest(bytes)))
                #expect(try storage.get(content.digest) == bytes)
                #expect(try storage.open(content.digest)?.byteCount == size)
            }
        }
    }

    @Test("Any stretch of a file is what lies there", arguments: StorageUnderTest.all)
    func ranges(_ test: StorageUnderTest) throws {
        let folder = try TemporaryFolder()
        let storage = try test.make(folder)
        let bytes = pattern(300_001)
        let digest = try storage.put(bytes).digest
        let reader = try #require(try storage.open(digest))
        var generator = SystemRandomNumberGenerator()
        var stretches = [(0, 1), (65_535, 2), (65_536, 65_536), (300_000, 1), (300_000, 99)]
        for _ in 0..<100 {
            stretches.append(
                (
                    Int.random(in: 0..<300_001, using: &generator),
                    Int.random(in: 1...140_000, using: &generator)
                ))
        }
        for (offset, count) in stretches {
            var found: [UInt8] = []
            let end = min(offset + count, bytes.count)
            while found.count < end - offset {
                let piece = try reader.read(
                    at: offset + found.count, count: end - offset - found.count)
                try #require(!piece.isEmpty, "\(offset) \(count)")
                found += piece
            }
            #expect(found == Array(bytes[offset..<end]), "\(offset) \(count)")
        }
        #expect(try reader.read(at: 300_001, count: 1).isEmpty)
        #expect(try reader.read(at: .max, count: .max).isEmpty)
        #expect(try reader.read(at: 299_999, count: .max) == Array(bytes[299_999...]))
    }

    @Test("What is not in place is not there, and leaves nothing", arguments: StorageUnderTest.all)
    func unfinished(_ test: StorageUnderTest) throws {
        let folder = try TemporaryFolder()
        let storage = try test.make(folder)
        let bytes = pattern(100_000)
        let digest = try #require(AssetDigest(SHA256.digest(bytes)))
        do {
            let upload = try storage.begin(expectedBytes: 0)
            try bytes.withUnsafeBytes { try upload.append($0) }
            #expect(try upload.seal().digest == digest)
            #expect(try storage.open(digest) == nil)
            upload.discard()
        }
        _ = try storage.begin(expectedBytes: 5)
        #expect(folder.files.isEmpty)
        #expect(try storage.list(after: nil, limit: 10).isEmpty)
    }

    @Test(
        "Equal files take space once; deleting removes them, also while they are read",
        arguments: StorageUnderTest.all)
    func deletion(_ test: StorageUnderTest) throws {
        let folder = try TemporaryFolder()
        let storage = try test.make(folder)
        let bytes = pattern(70_000)
        let digest = try storage.put(bytes).digest
        #expect(try storage.put(bytes).digest == digest)
        #expect(try storage.list(after: nil, limit: 10).map(\.digest) == [digest])
        let reader = try #require(try storage.open(digest))
        try storage.delete(digest)
        try storage.delete(digest)
        #expect(try storage.open(digest) == nil)
        if storage.isLocal {
            #expect(try reader.readAll()?.digest == digest)
        } else {
            // What was on its way comes; then it is said that there is no more. Never other bytes.
            do { #expect(try reader.readAll()?.digest == digest) } catch is AssetFailure {}
        }
        #expect(try storage.list(after: nil, limit: 10).isEmpty)
    }

    @Test("The list gives every file once, in order, page by page", arguments: StorageUnderTest.all)
    func list(_ test: StorageUnderTest) throws {
        let folder = try TemporaryFolder()
        let storage = try test.make(folder)
        let digests = try (0..<23).map { try storage.put(pattern(10, seed: UInt64($0))).digest }
        for limit in [1, 5, 23, 100] {
            var found: [AssetDigest] = []
            while true {
                let page = try storage.list(after: found.last, limit: limit)
                found += page.map(\.digest)
                if page.count < limit { break }
            }
            #expect(found == digests.sorted())
        }
    }

    @Test(
        "A copy into another storage is whole", arguments: StorageUnderTest.all,
        StorageUnderTest.all)
    func copy(_ test: StorageUnderTest, _ other: StorageUnderTest) throws {
        let (folder, otherFolder) = (try TemporaryFolder(), try TemporaryFolder())
        let (from, to) = (try test.make(folder), try other.make(otherFolder))
        let bytes = pattern(200_000)
        let digest = try from.put(bytes).digest
        #expect(try from.copy(digest, to: to))
        #expect(try to.get(digest) == bytes)
        let unknown = try #require(AssetDigest([UInt8](repeating: 1, count: 32)))
        #expect(try !from.copy(unknown, to: to))
    }
}
