import AssetStorage
import Awaiting
import CloudModel
import Foundation
import Seeding
import Testing

@Suite("Files on their way that another process goes on with")
struct ResumeTests {
    private static let name = "0123456789abcdef"

    private static func append(_ bytes: ArraySlice<UInt8>, to upload: any AssetUpload) throws {
        try Array(bytes).withUnsafeBytes { try upload.append($0) }
    }

    @Test(
        "What has come is there for the next one, hash and all; sealed files end with the process",
        arguments: StorageUnderTest.all)
    func resuming(_ test: StorageUnderTest) throws {
        let folder = try TemporaryFolder()
        let storage = try test.make(folder)
        let bytes = pattern(700_000)
        var upload: (any AssetUpload)? = try storage.begin(
            resumable: Self.name, byteCount: bytes.count)
        try Self.append(bytes[..<300_001], to: #require(upload))
        upload = nil
        try storage.removeUnfinished()
        guard !test.name.hasPrefix("sealed") else {
            #expect(!storage.canResume(Self.name))
            #expect(try storage.resume(Self.name) == nil)
            #expect(folder.files.isEmpty)
            return
        }
        #expect(storage.canResume(Self.name))
        #expect(!storage.canResume("ffff"))
        let found = try #require(try storage.resume(Self.name))
        #expect(found.byteCount == bytes.count && found.received == 300_001)
        try Self.append(bytes[300_001...], to: found.upload)
        let content = try found.upload.seal()
        try found.upload.place()
        #expect(try storage.get(content.digest) == bytes)
        #expect(!storage.canResume(Self.name))
        #expect(try storage.resume(Self.name) == nil)
    }

    @Test(
        "Those of one name's beginning are removed, sealed or not; others go on",
        arguments: StorageUnderTest.all)
    func removal(_ test: StorageUnderTest) throws {
        let folder = try TemporaryFolder()
        let storage = try test.make(folder)
        let gone = try storage.begin(resumable: "aa" + Self.name, byteCount: 9)
        let kept = try storage.begin(resumable: "bb" + Self.name, byteCount: 3)
        for upload in [gone, kept] { try Self.append([1, 2, 3], to: upload) }
        let before = folder.files.count
        try storage.removeUnfinished(named: "aa")
        #expect(folder.files.count == before / 2)
        #expect(!storage.canResume("aa" + Self.name))
        #expect(throws: AssetFailure.self) { try gone.place() }
        try kept.place()
        #expect(try storage.get(kept.seal().digest) == [1, 2, 3])
    }

    @Test("While one process has an upload open, no other goes on with it; afterwards any does")
    func elsewhere() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/assets"
        let (one, other) = (FolderAssets(path: path), FolderAssets(path: path))
        var upload: (any AssetUpload)? = try one.begin(resumable: Self.name, byteCount: 6)
        try Self.append([1, 2, 3], to: #require(upload))
        #expect(throws: AssetFailure.self) { try other.resume(Self.name) }
        upload = nil
        let found = try #require(try other.resume(Self.name))
        #expect(found.received == 3)
        #expect(throws: AssetFailure.self) { try one.resume(Self.name) }
    }

    @Test("A former one that ends while the next begins leaves the next one's note alone")
    func anewAtOnce() throws {
        let folder = try TemporaryFolder()
        let storage = FolderAssets(path: folder.path + "/assets")
        for _ in 0..<300 {
            let previous = try storage.begin(resumable: Self.name, byteCount: 10)
            let ended = Awaited<Bool>()
            // The former is this thread's alone from here on.
            nonisolated(unsafe) let ending = previous
            Thread.detachNewThread {
                ending.discard()
                ended.tell(true)
            }
            let next = try storage.begin(resumable: Self.name, byteCount: 3)
            _ = try ended.value()
            #expect(storage.canResume(Self.name))
            next.discard()
            #expect(!storage.canResume(Self.name))
        }
    }

    @Test("Begun anew, the previous is forgotten, and what it does afterwards does no harm")
    func anew() throws {
        let folder = try TemporaryFolder()
        let storage = FolderAssets(path: folder.path + "/assets")
        let previous = try storage.begin(resumable: Self.name, byteCount: 10)
        try Self.append(pattern(5)[...], to: previous)
        var next: (any AssetUpload)? = try storage.begin(resumable: Self.name, byteCount: 3)
        try Self.append([1, 2], to: #require(next))
        next = nil
        previous.discard()
        #expect(throws: AssetFailure.self) { try previous.place() }
        let found = try #require(try storage.resume(Self.name))
        #expect(found.byteCount == 3 && found.received == 2)
        found.upload.discard()
        #expect(!storage.canResume(Self.name))
        #expect(folder.files.isEmpty)
    }

    @Test("What nobody goes on with is removed after its time, and other leftovers at the start")
    func leftovers() throws {
        let folder = try TemporaryFolder()
        let storage = FolderAssets(path: folder.path + "/assets")
        let (old, new) = ("aa", "bb")
        for name in [old, new] {
            let upload = try storage.begin(resumable: name, byteCount: 9)
            try Self.append([1], to: upload)
        }
        let incoming = folder.path + "/assets/incoming"
        let note = try String(contentsOfFile: "\(incoming)/\(old).note", encoding: .utf8)
        let file = try #require(note.split(separator: " ").first)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000)],
            ofItemAtPath: "\(incoming)/\(file)")
        try storage.removeAbandoned(begunBefore: 1_000_001)
        #expect(!storage.canResume(old) && storage.canResume(new))
        for stray in ["cc.note", "0123", "\(new).note.0123"] {
            try Data("x y".utf8).write(to: URL(fileURLWithPath: "\(incoming)/\(stray)"))
        }
        try storage.removeUnfinished()
        #expect(folder.files.count == 2)
        #expect(storage.canResume(new))
    }

    @Test(
        "What others have left is removed after its time, noted or not; what had bytes since stays",
        arguments: StorageUnderTest.all)
    func othersLeftovers(_ test: StorageUnderTest) throws {
        let folder = try TemporaryFolder()
        let storage = try test.make(folder)
        let coming = try storage.begin(expectedBytes: 1)
        try Self.append([1], to: coming)
        let incoming = folder.path + "/assets/incoming"
        func write(_ name: String, _ text: String, isOld: Bool) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(incoming)/\(name)"))
            guard isOld else { return }
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000)],
                ofItemAtPath: "\(incoming)/\(name)")
        }
        let before = try Set(FileManager.default.contentsOfDirectory(atPath: incoming))
        // Of an upload in one piece, of a machine that has begun anew, and of no upload that anybody could know.
        try write("0a", "x", isOld: true)
        try write("0b", "x", isOld: true)
        try write("b.note", "0b 9 another\n", isOld: true)
        try write("c.note", "what", isOld: true)
        try write("b.note.0d", "0b 9", isOld: true)
        // Of another machine with the same folder, where the file still comes.
        try write("0e", "x", isOld: false)
        try write("e.note", "0e 9 another\n", isOld: true)
        try storage.removeAbandoned(begunBefore: 1_000_001)
        let left = try Set(FileManager.default.contentsOfDirectory(atPath: incoming))
        #expect(left == before.union(["0e", "e.note"]))
        try coming.place()
        #expect(try storage.get(coming.seal().digest) == [1])
    }

    @Test(
        "Whatever a note says, only a file beside it is gone on with, and nothing else is touched")
    func randomNotes() throws {
        let folder = try TemporaryFolder()
        let storage = FolderAssets(path: folder.path + "/assets")
        let path = "\(folder.path)/assets/incoming/\(Self.name).note"
        func begin() throws -> [UInt8] {
            let upload = try storage.begin(resumable: Self.name, byteCount: 9)
            try Self.append([1, 2, 3], to: upload)
            return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        }
        var good = try begin()
        let precious = folder.path + "/assets/precious"
        try Data([1]).write(to: URL(fileURLWithPath: precious))
        let seed =
            ProcessInfo.processInfo.environment["LENTICULAR_SEED"].flatMap { UInt64($0) }
            ?? UInt64.random(in: 1 ... .max)
        print("random notes: LENTICULAR_SEED=\(seed)")
        let chances = pattern(20_000, seed: seed)
        for round in 0..<2_000 {
            var text = good
            for change in 0..<Int(chances[round] % 4) {
                let place = round * 9 + change * 3
                let index = Int(chances[place]) % max(1, text.count)
                switch chances[place + 1] % 4 {
                case 0: text[index] = chances[place + 2]
                case 1: text.insert(contentsOf: Array("../precious ".utf8), at: index)
                case 2: text.removeSubrange(index...)
                default: text.insert(UInt8(ascii: "9"), at: index)
                }
                if text.isEmpty { text = [0] }
            }
            try Data(text).write(to: URL(fileURLWithPath: path))
            if text == good { #expect(storage.canResume(Self.name)) }
            // What is there of it stays, unless the note says that it is too long.
            if let found = try? storage.resume(Self.name) {
                #expect(found.received == 3 && found.byteCount >= 3)
            }
            #expect(FileManager.default.fileExists(atPath: precious))
            if folder.files.count < 3 { good = try begin() }
        }
    }
}
