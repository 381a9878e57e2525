import AssetStorage
import CChecksum
import CloudModel
import Cryptography
import Foundation
import Seeding
import Synchronization
import Testing

@Suite("What is kept to check files by")
struct SumTests {
    /// Files of a folder, and clocks that only the test moves.
    private struct Fixture {
        let folder: TemporaryFolder
        let storage: FolderAssets
        let passed: Moved

        init() throws {
            folder = try TemporaryFolder()
            let passed = Moved()
            var clocks = FileClocks()
            clocks.passed = { passed.nanoseconds }
            // Long after whatever the test does to files.
            clocks.date = { .max }
            storage = FolderAssets(path: folder.path, clocks: clocks)
            self.passed = passed
        }

        func file(_ digest: AssetDigest) -> String {
            "\(folder.path)/\(digest.hexadecimal.prefix(2))/\(digest.hexadecimal)"
        }

        func sums(_ digest: AssetDigest) -> String {
            "\(folder.path)-sums/\(digest.hexadecimal.prefix(2))/\(digest.hexadecimal)"
        }

        /// Another process's view of the same files.
        var another: FolderAssets { FolderAssets(path: folder.path) }
    }

    private final class Moved: Sendable {
        private let state = Mutex<UInt64>(1_000_000_000_000)
        var nanoseconds: UInt64 { state.withLock { $0 } }
        func pass(_ nanoseconds: UInt64) { state.withLock { $0 += nanoseconds } }
    }

    private static func flip(_ path: String, at offset: Int, _ bit: UInt8 = 1) throws {
        let file = open(path, O_RDWR)
        try #require(file >= 0)
        defer { close(file) }
        var byte: UInt8 = 0
        try #require(pread(file, &byte, 1, off_t(offset)) == 1)
        byte ^= bit
        try #require(pwrite(file, &byte, 1, off_t(offset)) == 1)
    }

    @Test("The sums are CRC-32C, with and without the processor's instruction")
    func known() {
        let digits = Array("123456789".utf8)
        #expect(checksum_crc32c(0, digits, 9) == 0xE306_9283)
        #expect(checksum_crc32c_plain(0, digits, 9) == 0xE306_9283)
        // RFC 3720, B.4.
        #expect(checksum_crc32c(0, [UInt8](repeating: 0, count: 32), 32) == 0x8A91_36AA)
        var random = SeededRandom("lengths of checksums")
        // The longer ones are summed as three runs, and the longest as several times three.
        for round in 0..<500 {
            let bytes = pattern(
                Int.random(in: 0..<(round % 2 == 0 ? 300 : 10_000), using: &random))
            let cut = Int.random(in: 0...bytes.count, using: &random)
            let whole = checksum_crc32c(0, bytes, bytes.count)
            #expect(checksum_crc32c_plain(0, bytes, bytes.count) == whole)
            let first = checksum_crc32c_plain(0, bytes, cut)
            #expect(
                bytes[cut...].withUnsafeBytes { checksum_crc32c(first, $0.baseAddress, $0.count) }
                    == whole)
            let number = UInt64.random(in: 0 ... .max, using: &random)
            let lowest = withUnsafeBytes(of: number.littleEndian) {
                checksum_crc32c(0, $0.baseAddress, 8)
            }
            let numbered = checksum_crc32c(lowest, bytes, bytes.count)
            #expect(checksum_crc32c_numbered(number, bytes, bytes.count) == numbered)
            #expect(checksum_crc32c_numbered_plain(number, bytes, bytes.count) == numbered)
        }
    }

    @Test(
        "Whatever byte of a file changes, its part is refused and every other one is not",
        arguments: [1, 100, 65_535, 65_536, 65_537, 131_072, 200_001])
    func flips(size: Int) throws {
        let fixture = try Fixture()
        let digest = try fixture.storage.put(pattern(size)).digest
        var random = SeededRandom("flipped bytes of \(size)")
        var offsets = [0, size - 1, size / 2]
        for _ in 0..<40 { offsets.append(Int.random(in: 0..<size, using: &random)) }
        for offset in offsets {
            let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &random)
            try Self.flip(fixture.file(digest), at: offset, bit)
            let reader = try #require(try fixture.storage.open(digest))
            for part in stride(from: 0, to: size, by: AssetParts.byteCount) {
                let stretch = part..<min(part + AssetParts.byteCount, size)
                #expect(!reader.wasChecked(stretch))
                if stretch.contains(offset) {
                    #expect(throws: AssetFailure.damaged(digest)) { try reader.check(stretch) }
                    #expect(throws: AssetFailure.damaged(digest)) {
                        try reader.check(offset..<offset + 1)
                    }
                } else {
                    try reader.check(stretch)
                }
            }
            try Self.flip(fixture.file(digest), at: offset, bit)
        }
        try #require(try fixture.storage.open(digest)).check(0..<size)
    }

    @Test("A file that became shorter or longer is refused whatever is asked of it")
    func lengths() throws {
        let fixture = try Fixture()
        let digest = try fixture.storage.put(pattern(200_000)).digest
        for length in [0, 1, 65_536, 199_999, 200_001, 300_000] {
            #expect(truncate(fixture.file(digest), off_t(length)) == 0)
            let reader = try #require(try fixture.storage.open(digest))
            #expect(throws: AssetFailure.damaged(digest)) {
                try reader.check(0..<min(length, 10))
            }
        }
    }

    @Test("A sound part is not read again for a second, unless somebody writes to the file")
    func moments() throws {
        let fixture = try Fixture()
        let digest = try fixture.storage.put(pattern(200_000)).digest
        let reader = try #require(try fixture.storage.open(digest))
        #expect(!reader.wasChecked(0..<65_536))
        try reader.check(0..<65_537)
        #expect(reader.wasChecked(0..<131_072))
        #expect(!reader.wasChecked(0..<131_073))
        fixture.passed.pass(999_999_999)
        #expect(reader.wasChecked(0..<131_072))
        fixture.passed.pass(1)
        #expect(!reader.wasChecked(0..<1))
        try reader.check(0..<200_000)
        try Self.flip(fixture.file(digest), at: 199_999)
        #expect(!reader.wasChecked(0..<1))
        #expect(throws: AssetFailure.damaged(digest)) { try reader.check(199_000..<200_000) }
    }

    @Test("What was changed just now is looked at each time: another change might not show")
    func unsettled() throws {
        let folder = try TemporaryFolder()
        var clocks = FileClocks()
        clocks.date = { 0 }
        let storage = FolderAssets(path: folder.path, clocks: clocks)
        let digest = try storage.put(pattern(10)).digest
        let reader = try #require(try storage.open(digest))
        try reader.check(0..<10)
        #expect(!reader.wasChecked(0..<10))
    }

    @Test("Sums that are flipped, cut, another's, missing or no file never let a wrong byte pass")
    func sidecars() throws {
        let fixture = try Fixture()
        let digest = try fixture.storage.put(pattern(150_000)).digest
        let other = try fixture.storage.put(pattern(150_000, seed: 2)).digest
        let path = fixture.sums(digest)
        let whole = try Data(contentsOf: URL(filePath: path))
        #expect(whole.count == 8 + 32 + 8 + 3 * 4 + 4)
        var changed: [Data] = [Data(), whole + Data([0])]
        for offset in whole.indices {
            var bytes = whole
            bytes[offset] ^= 1 << UInt8(offset % 8)
            changed += [bytes, whole.prefix(offset)]
        }
        changed.append(try Data(contentsOf: URL(filePath: fixture.sums(other))))
        for bytes in changed {
            try bytes.write(to: URL(filePath: path))
            try #require(try fixture.another.open(digest)).check(0..<150_000)
            // Made anew, for the contents are what they should be.
            #expect(try Data(contentsOf: URL(filePath: path)) == whole)
            try bytes.write(to: URL(filePath: path))
            #expect(try fixture.another.mendSums(digest, comparing: false))
            #expect(try Data(contentsOf: URL(filePath: path)) == whole)
            #expect(try !fixture.another.mendSums(digest, comparing: true))
            try bytes.write(to: URL(filePath: path))
            try Self.flip(fixture.file(digest), at: 70_000)
            #expect(throws: AssetFailure.damaged(digest)) {
                try #require(try fixture.another.open(digest)).check(0..<10)
            }
            try Self.flip(fixture.file(digest), at: 70_000)
        }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
        try #require(try fixture.another.open(digest)).check(0..<150_000)
    }

    @Test("A file whose sums are missing gets them when it is first read, if it is sound")
    func earlier() throws {
        let fixture = try Fixture()
        let digest = try fixture.storage.put(pattern(150_000)).digest
        try FileManager.default.removeItem(atPath: fixture.folder.path + "-sums")
        try Self.flip(fixture.file(digest), at: 149_999)
        #expect(throws: AssetFailure.damaged(digest)) {
            try fixture.another.mendSums(digest, comparing: false)
        }
        #expect(throws: AssetFailure.damaged(digest)) {
            try #require(try fixture.another.open(digest)).check(0..<1)
        }
        #expect(!FileManager.default.fileExists(atPath: fixture.sums(digest)))
        try Self.flip(fixture.file(digest), at: 149_999)
        try #require(try fixture.another.open(digest)).check(0..<1)
        #expect(FileManager.default.fileExists(atPath: fixture.sums(digest)))
    }

    @Test(
        "Sums that hold by themselves and do not fit whole contents are mended, and then forgotten")
    func misfits() throws {
        let fixture = try Fixture()
        let digest = try fixture.storage.put(pattern(150_000)).digest
        let path = fixture.sums(digest)
        let whole = try [UInt8](Data(contentsOf: URL(filePath: path)))
        var bytes = whole
        bytes[50] ^= 1
        let body = bytes.count - 4
        let sum = bytes.withUnsafeBytes { checksum_crc32c(0, $0.baseAddress, body) }
        withUnsafeBytes(of: sum.bigEndian) { bytes.replaceSubrange(body..., with: $0) }
        try Data(bytes).write(to: URL(filePath: path))
        let reading = fixture.another
        #expect(throws: AssetFailure.damaged(digest)) {
            try #require(try reading.open(digest)).check(0..<1)
        }
        #expect(try !reading.mendSums(digest, comparing: false))
        #expect(try reading.mendSums(digest, comparing: true))
        #expect(try [UInt8](Data(contentsOf: URL(filePath: path))) == whole)
        try #require(try reading.open(digest)).check(0..<150_000)
        // Over contents that are not what they should be, nothing is mended.
        try Self.flip(fixture.file(digest), at: 7)
        #expect(throws: AssetFailure.damaged(digest)) {
            try reading.mendSums(digest, comparing: true)
        }
    }

    @Test("What a process has left that ended while it wrote sums goes with the next")
    func leftovers() throws {
        let fixture = try Fixture()
        let digest = try fixture.storage.put(pattern(10)).digest
        let incoming = "\(fixture.folder.path)-sums/incoming"
        #expect(try FileManager.default.contentsOfDirectory(atPath: incoming) == [])
        try Data([1]).write(to: URL(filePath: "\(incoming)/\(digest.hexadecimal).1"))
        // Beside other processes only what is old.
        try fixture.another.removeAbandoned(begunBefore: 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: incoming).count == 1)
        try fixture.another.removeAbandoned(begunBefore: .max)
        #expect(try FileManager.default.contentsOfDirectory(atPath: incoming) == [])
        try Data([1]).write(to: URL(filePath: "\(incoming)/\(digest.hexadecimal).1"))
        try fixture.another.removeUnfinished()
        #expect(try FileManager.default.contentsOfDirectory(atPath: incoming) == [])
        #expect(FileManager.default.fileExists(atPath: fixture.sums(digest)))
    }

    @Test("An equal upload mends a damaged file, and a deleted file leaves no sums")
    func mending() throws {
        let fixture = try Fixture()
        let digest = try fixture.storage.put(pattern(150_000)).digest
        try Self.flip(fixture.file(digest), at: 7)
        #expect(throws: AssetFailure.damaged(digest)) {
            try #require(try fixture.storage.open(digest)).check(0..<1)
        }
        try fixture.storage.put(pattern(150_000))
        try #require(try fixture.storage.open(digest)).check(0..<150_000)
        try fixture.storage.delete(digest)
        #expect(!FileManager.default.fileExists(atPath: fixture.sums(digest)))
    }
}
