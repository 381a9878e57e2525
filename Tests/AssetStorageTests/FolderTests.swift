import AssetStorage
import CloudModel
import Cryptography
import Foundation
import Seeding
import Testing

@Suite("Assets in a folder")
struct FolderTests {
    private static let key = AssetKey([UInt8](repeating: 7, count: 32))

    @Test("Sealed files show nothing of their contents, and are opened by their key alone")
    func sealed() throws {
        let folder = try TemporaryFolder()
        let storage = FolderAssets(path: folder.path, key: Self.key)
        let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 200_000)
        let digest = try storage.put(bytes).digest
        let file = try #require(folder.files.first)
        #expect(file.hasSuffix(".sealed"))
        let raw = try Data(contentsOf: URL(filePath: "\(folder.path)/\(file)"))
        #expect(raw.range(of: Data(repeating: UInt8(ascii: "a"), count: 8)) == nil)
        #expect(raw.count == 48 + 200_000 + 4 * 16)
        #expect(throws: AssetFailure.keyMissing) {
            _ = try FolderAssets(path: folder.path).open(digest)
        }
        let other = AssetKey([UInt8](repeating: 8, count: 32))
        #expect(throws: AssetFailure.damaged(digest)) {
            _ = try FolderAssets(path: folder.path, key: other).open(digest)
        }
    }

    @Test("The first file makes its folder and those above it")
    func foldersAbove() throws {
        let folder = try TemporaryFolder()
        let storage = FolderAssets(path: "\(folder.path)/containers/home/assets")
        let digest = try storage.put([1, 2, 3]).digest
        #expect(try storage.get(digest) == [1, 2, 3])
    }

    @Test("Files stay readable when the setting for sealing changes")
    func changedSetting() throws {
        let folder = try TemporaryFolder()
        let (plain, sealed) = (
            FolderAssets(path: folder.path), FolderAssets(path: folder.path, key: Self.key)
        )
        let (first, second) = (pattern(10, seed: 1), pattern(10, seed: 2))
        let (one, two) = (try plain.put(first).digest, try sealed.put(second).digest)
        #expect(try sealed.get(one) == first)
        #expect(try sealed.get(two) == second)
        // Contents that look like a sealed file are contents.
        let fake = Array("LNASSET1".utf8) + pattern(100)
        #expect(try sealed.get(plain.put(fake).digest) == fake)
    }

    @Test("Not one bit of a sealed file can change, nor chunks move or go, without being noticed")
    func tampering() throws {
        let folder = try TemporaryFolder()
        let storage = FolderAssets(path: folder.path, key: Self.key)
        let digest = try storage.put(pattern(150_000)).digest
        let path = "\(folder.path)/\(try #require(folder.files.first))"
        let whole = try [UInt8](Data(contentsOf: URL(filePath: path)))
        let chunk = 65_536 + 16
        let (second, third) = (48 + chunk, 48 + 2 * chunk)
        var swapped = Array(whole[..<48])
        swapped += whole[second..<third]
        swapped += whole[48..<second]
        swapped += whole[third...]
        var changed: [[UInt8]] = [
            Array(whole.dropLast(1)), Array(whole[..<third]), Array(whole[..<40]), [], swapped,
        ]
        var bits = Array(stride(from: 0, to: 48 * 8, by: 5))
        bits += stride(from: 400, to: whole.count * 8, by: 99_991)
        for bit in bits {
            var bytes = whole
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            changed.append(bytes)
        }
        for (index, bytes) in changed.enumerated() {
            try Data(bytes).write(to: URL(filePath: path))
            #expect(throws: AssetFailure.damaged(digest), "\(index)") {
                _ = try storage.open(digest)?.readAll()
            }
        }
    }

    @Test("An upload that would leave less than the free space wanted is refused before it begins")
    func room() throws {
        let folder = try TemporaryFolder()
        let storage = FolderAssets(path: folder.path, freeBytesMin: .max / 2)
        #expect(throws: AssetFailure.full) { _ = try storage.begin(expectedBytes: 1) }
        #expect(throws: AssetFailure.full) {
            _ = try FolderAssets(path: folder.path).begin(expectedBytes: .max)
        }
        #expect(folder.files.isEmpty)
    }

    @Test("What a process left in the middle is removed by the next, and links are not followed")
    func leftovers() throws {
        let folder = try TemporaryFolder()
        let storage = FolderAssets(path: folder.path)
        let digest = try storage.put([1]).digest
        try Data([1, 2]).write(to: URL(filePath: "\(folder.path)/incoming/0123"))
        try storage.removeUnfinished()
        #expect(folder.files.count == 1)
        let place = "\(folder.path)/\(try #require(folder.files.first))"
        try storage.delete(digest)
        try FileManager.default.createSymbolicLink(
            atPath: place, withDestinationPath: "/etc/hostname")
        #expect(throws: AssetFailure.self) { _ = try storage.open(digest) }
    }

    @Test("What a removal of everything has left aside goes with upkeep, and not what came since")
    func leftAside() throws {
        let folder = try TemporaryFolder()
        let storage = FolderAssets(path: "\(folder.path)/assets")
        try storage.put(pattern(70_000))
        for name in ["assets", "assets-sums"] {
            try FileManager.default.moveItem(
                atPath: "\(folder.path)/\(name)", toPath: "\(folder.path)/\(name)-removed")
        }
        let digest = try storage.put(pattern(70_001)).digest
        try storage.removeAbandoned(begunBefore: 0)
        #expect(try storage.get(digest) == pattern(70_001))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == [
                "assets", "assets-sums",
            ])
    }

    @Test("A damaged file is not copied")
    func damaged() throws {
        let (folder, other) = (try TemporaryFolder(), try TemporaryFolder())
        let storage = FolderAssets(path: folder.path)
        let digest = try storage.put(pattern(1_000)).digest
        let path = "\(folder.path)/\(try #require(folder.files.first))"
        try Data(pattern(1_000, seed: 9)).write(to: URL(filePath: path))
        let target = FolderAssets(path: other.path)
        #expect(throws: AssetFailure.damaged(digest)) { _ = try storage.copy(digest, to: target) }
        #expect(other.files.isEmpty)
    }

    @Test(
        "Nobody removes what another puts in place, and nobody puts in place what is being removed")
    func claims() throws {
        let claims = AssetClaims()
        let digest = try #require(AssetDigest([UInt8](repeating: 1, count: 32)))
        let seen = Seen()
        claims.hold(digest) { seen.add("first") }
        claims.hold(digest) { seen.add("second") }
        #expect(claims.claim([digest]).isEmpty)
        claims.release(digest)
        #expect(claims.claim([digest]).isEmpty)
        claims.release(digest)
        #expect(claims.claim([digest]) == [digest])
        #expect(claims.claim([digest]).isEmpty)
        claims.hold(digest) { seen.add("third") }
        #expect(seen.all == ["first", "second"])
        claims.unclaim([digest])
        #expect(seen.all == ["first", "second", "third"])
        #expect(claims.claim([digest]).isEmpty)
        claims.release(digest)
        #expect(claims.claim([digest]) == [digest])
    }

    private final class Seen: @unchecked Sendable {
        // Touched by the test's thread alone.
        var all: [String] = []
        func add(_ text: String) { all.append(text) }
    }
}
