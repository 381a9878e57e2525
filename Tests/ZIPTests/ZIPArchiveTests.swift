import ChildProcesses
import Foundation
import Seeding
import Testing
import ZIP

@Suite("ZIP archives")
struct ZIPArchiveTests {
    /// A folder of a test's own, gone with it.
    private final class Folder {
        let path = NSTemporaryDirectory() + "zip-\(UUID().uuidString)"
        init() throws {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
        }
        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    /// What Python's own reader finds: a line of name, length, CRC, method and time for each entry,
    /// after it has read each through; nil where there is no Python.
    private func read(_ path: String, _ folder: Folder) throws -> [String]? {
        let script = """
            import sys, zipfile, hashlib
            with zipfile.ZipFile(sys.argv[1]) as archive:
                assert archive.testzip() is None
                for entry in archive.infolist():
                    digest = hashlib.sha256()
                    with archive.open(entry) as opened:
                        while piece := opened.read(1 << 20): digest.update(piece)
                    print(entry.filename, entry.file_size, digest.hexdigest()[:16],
                          entry.compress_type, "%d-%d-%d %d:%d:%d" % entry.date_time)
            """
        let python = ChildProcess()
        python.executableURL = URL(filePath: "/usr/bin/env")
        python.arguments = ["python3", "-c", script, path]
        let output = Pipe()
        python.standardOutput = output
        try python.run()
        let text = String(
            decoding: output.readToEnd(), as: UTF8.self)
        python.waitUntilExit()
        if python.terminationStatus == 127 {
            print("skipped: python3 is not there")
            return nil
        }
        try #require(python.terminationStatus == 0)
        return text.split(separator: "\n").map(String.init)
    }

    private func write(_ bytes: [UInt8], _ folder: Folder, at offset: UInt64 = 0) throws -> String {
        let path = "\(folder.path)/a.zip"
        try Data().write(to: URL(filePath: path))
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        // A hole, which takes no room.
        try file.seek(toOffset: offset)
        try file.write(contentsOf: bytes)
        try file.close()
        return path
    }

    @Test("Another's reader finds every entry as it was put in")
    func readBack() throws {
        var random = SeededRandom("archives")
        let folder = try Folder()
        var archive = ZIPArchive(seconds: 1_700_000_001)
        var bytes: [UInt8] = []
        bytes += try archive.add("empty", [])
        bytes += try archive.add("folder/Grüße.txt", Array("hello".utf8))
        bytes += try archive.add("long.txt", [UInt8](repeating: 7, count: 100_000))
        bytes += try archive.begin("stream.bin")
        for _ in 0..<50 {
            let piece = (0..<random.below(20_000)).map { _ in UInt8(random.below(256)) }
            bytes += try archive.append(piece)
        }
        bytes += try archive.end()
        bytes += try archive.begin("short.bin", bytesMax: 10)
        bytes += try archive.append(Array("0123456789".utf8))
        bytes += try archive.end()
        bytes += try archive.begin("nothing", bytesMax: 10)
        bytes += try archive.end()
        bytes += try archive.finish()
        guard let lines = try read(write(bytes, folder), folder) else { return }
        #expect(lines.count == 6)
        #expect(lines[0] == "empty 0 e3b0c44298fc1c14 0 2023-11-14 22:13:20")
        #expect(lines[1] == "folder/Grüße.txt 5 2cf24dba5fb0a30e 0 2023-11-14 22:13:20")
        #expect(lines[2].hasPrefix("long.txt 100000 ") && lines[2].contains(" 8 2023"))
        #expect(lines[3].hasPrefix("stream.bin "))
        #expect(lines[4].hasPrefix("short.bin 10 84d89877f0d4041e 8"))
        #expect(lines[5].hasPrefix("nothing 0 e3b0c44298fc1c14 8"))
    }

    @Test("Beyond 4 GiB and 65,535 entries it is read as well")
    func large() throws {
        let folder = try Folder()
        let offset: UInt64 = 5 << 30
        var archive = ZIPArchive(seconds: 0, offset: offset)
        var bytes: [UInt8] = []
        for number in 0..<66_000 { bytes += try archive.add("\(number)", []) }
        bytes += try archive.add("last", Array("last".utf8))
        bytes += try archive.finish()
        guard let lines = try read(write(bytes, folder, at: offset), folder) else { return }
        #expect(lines.count == 66_001)
        #expect(lines.last?.hasPrefix("last 4 ") == true)
        #expect(lines.first?.hasSuffix("1980-1-1 0:0:0") == true)
    }

    @Test(
        "Names that lead elsewhere, or say nothing, are refused",
        arguments: [
            "", "/", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a/./b", "a\\b", "a\u{0}b",
            "a\nb",
            String(repeating: "a", count: 1_025),
        ])
    func names(name: String) {
        var archive = ZIPArchive(seconds: 0)
        #expect(throws: ZIPRefusal.name(name)) { try archive.add(name, []) }
        #expect(throws: ZIPRefusal.name(name)) { try archive.begin(name) }
    }

    @Test("A name comes once, and entries one after the other")
    func order() throws {
        var archive = ZIPArchive(seconds: 0)
        _ = try archive.add("a", [])
        #expect(throws: ZIPRefusal.name("a")) { try archive.add("a", []) }
        #expect(throws: ZIPRefusal.order) { try archive.append([]) }
        #expect(throws: ZIPRefusal.order) { try archive.end() }
        _ = try archive.begin("b")
        #expect(throws: ZIPRefusal.order) { try archive.add("c", []) }
        #expect(throws: ZIPRefusal.order) { try archive.begin("c") }
        #expect(throws: ZIPRefusal.order) { try archive.finish() }
        _ = try archive.end()
        _ = try archive.finish()
    }
}
