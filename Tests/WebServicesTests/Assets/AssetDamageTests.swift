import AssetStorage
import CloudModel
import Cryptography
import Foundation
import Seeding
import Testing

@testable import WebServices

@Suite("Files that have decayed")
struct AssetDamageTests {
    /// A record that holds a file, and where that lies.
    private struct Held {
        let server: WireServer
        let ida: WireClient
        let bytes: [UInt8]
        let file: String

        init(_ bytes: [UInt8], key: AssetKey? = nil) throws {
            server = try WireServer(assetKey: key)
            ida = try server.user()
            self.bytes = bytes
            let value = try ida.asset(bytes).raw
            _ = try ida.save(
                "a", "{\"photo\":{\"value\":\(value),\"type\":\"ASSETID\"}}", zone: nil)
            let path = server.folder.path
            let suffix = key == nil ? "" : ".sealed"
            let digest = Hexadecimal.encode(SHA256.digest(bytes))
            let found = try FileManager.default.subpathsOfDirectory(atPath: path).first {
                $0.hasSuffix("\(digest)\(suffix)") && !$0.contains("-sums/")
            }
            file = "\(path)/\(try #require(found))"
        }

        func link() throws -> String {
            let field = try ida.record("a", zone: nil)["fields"]["photo"]["value"]
            return try #require(field["downloadURL"].string)
        }

        func flip(at offset: Int) throws {
            let descriptor = open(file, O_RDWR)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            var byte: UInt8 = 0
            try #require(pread(descriptor, &byte, 1, off_t(offset)) == 1)
            byte ^= 0x40
            try #require(pwrite(descriptor, &byte, 1, off_t(offset)) == 1)
        }
    }

    @Test(
        "Whatever byte of a file flips, none of it is served: an error at once, or an end within",
        arguments: [nil, AssetKey([UInt8](repeating: 7, count: 32))])
    func flips(key: AssetKey?) throws {
        let held = try Held(pattern(400_000), key: key)
        let link = try held.link()
        let size = try Data(contentsOf: URL(filePath: held.file)).count
        var random = SeededRandom("decayed bytes")
        var (refused, brokenOff) = (0, 0)
        var offsets = [0, size - 1, 65_535, 65_536]
        for _ in 0..<100 { offsets.append(Int.random(in: 0..<size, using: &random)) }
        for offset in offsets {
            try held.flip(at: offset)
            do {
                let answer = try held.ida.download(link)
                #expect(answer.status == 500, "\(offset)")
                #expect(answer.text.contains("INTERNAL_ERROR"))
                refused += 1
            } catch {
                #expect(error is BrokenOff || error is AssetFailure, "\(offset): \(error)")
                brokenOff += 1
            }
            try held.flip(at: offset)
        }
        #expect(refused > 0 && brokenOff > 0)
        #expect(held.server.web.assetCounts.damaged == offsets.count)
        #expect(held.server.observed.failuresUnderWay.count == brokenOff)
        #expect(held.server.observed.failuresUnderWay.allSatisfy { $0.contains("is damaged") })
        #expect(try held.ida.download(link).bytes == held.bytes)
    }

    @Test("A range is served while its own parts are sound, and HEAD says what a GET would")
    func ranges() throws {
        let held = try Held(pattern(400_000))
        let link = try held.link()
        try held.flip(at: 200_000)
        let early = try held.ida.download(link, headers: [("Range", "bytes=10-131071")])
        #expect(early.status == 206 && early.bytes == Array(held.bytes[10..<131_072]))
        let late = try held.ida.download(link, headers: [("Range", "bytes=-1000")])
        #expect(late.status == 206 && late.bytes == Array(held.bytes.suffix(1_000)))
        for range in ["200000-200000", "196608-196608", "262143-300000", "199999-"] {
            let answer = try held.ida.download(link, headers: [("Range", "bytes=\(range)")])
            #expect(answer.status == 500, "\(range)")
        }
        #expect(throws: BrokenOff.self) {
            try held.ida.download(link, headers: [("Range", "bytes=0-5,200000-200001")])
        }
        #expect(try held.ida.download(link, method: .head).status == 200)
        try held.flip(at: 5)
        #expect(try held.ida.download(link, method: .head).status == 500)
    }

    @Test("A file cut short is refused before anything is said of its length")
    func cut() throws {
        let held = try Held(pattern(400_000))
        let link = try held.link()
        for length in [399_999, 65_536, 10, 0] {
            #expect(truncate(held.file, off_t(length)) == 0)
            #expect(try held.ida.download(link).status == 500, "\(length)")
            #expect(try held.ida.download(link, method: .head).status == 500, "\(length)")
            let beyond = try held.ida.download(link, headers: [("Range", "bytes=399999-")])
            #expect(beyond.status == 500)
        }
    }

    @Test("Uploading the same bytes again mends the file for every record that holds it")
    func mending() throws {
        let held = try Held(pattern(100_000))
        let link = try held.link()
        try held.flip(at: 1)
        #expect(try held.ida.download(link).status == 500)
        _ = try held.ida.asset(held.bytes)
        #expect(try held.ida.download(link).bytes == held.bytes)
    }
}
