import Foundation
import Testing

@Suite("Uploads in several requests over the end of a server")
struct AssetResumeKillTests {
    private static let tus = ["-H", "Tus-Resumable: 1.0.0"]
    private static let patch =
        tus + ["-X", "PATCH", "-H", "Content-Type: application/offset+octet-stream"]

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func offset(_ test: AssetFixture, _ path: String) throws -> Int? {
        let head = try test.server.request(path, Self.tus + ["-I"])
        let line = head.text.split(separator: "\r\n").first { $0.hasPrefix("Upload-Offset:") }
        return line.flatMap { Int($0.dropFirst(15)) }
    }

    private func send(
        _ test: AssetFixture, _ path: String, _ bytes: Data, at offset: Int
    ) throws -> Int {
        let file = folder.path("piece")
        try bytes.write(to: URL(fileURLWithPath: file))
        return try test.server.request(
            path,
            Self.patch + ["-H", "Upload-Offset: \(offset)", "--data-binary", "@\(file)"]
        ).status
    }

    private func begin(_ test: AssetFixture, length: Int) throws -> String {
        let path = try test.uploadPath()
        let made = try test.server.request(
            path, Self.tus + ["-X", "POST", "-H", "Upload-Length: \(length)"])
        #expect(made.status == 201, "\(made.text)")
        return path
    }

    private func stop(_ test: AssetFixture, _ signal: Int32) {
        test.server.signal(signal)
        #expect(test.server.wait() == (signal == SIGKILL ? -SIGKILL : 0))
    }

    @Test("A killed server's uploads go on with the next one, byte for byte, and are one asset")
    func kills() throws {
        let test = try AssetFixture(data: folder.path("data"))
        let bytes = try makeFile(folder.path("file"), bytes: 5_000_000)
        let path = try begin(test, length: bytes.count)
        let other = try begin(test, length: 10)
        var reached = 0
        for (index, signal) in [SIGKILL, SIGTERM, SIGKILL].enumerated() {
            let count = 1_000_001 + index
            let piece = bytes[reached..<reached + count]
            #expect(try send(test, path, piece, at: reached) == 204)
            reached += count
            stop(test, signal)
            try test.restart()
            #expect(try offset(test, path) == reached)
        }
        // What a client sends twice is refused, and what it was said to have is there.
        #expect(try send(test, path, bytes[..<10], at: 0) == 409)
        #expect(try send(test, path, bytes[reached...], at: reached) == 204)
        let answer = try test.server.request(path)
        let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
        let value = try #require((object as? [String: Any])?["singleFile"] as? [String: Any])
        #expect(try test.download(test.save("r", value)) == bytes)
        // The other one has had no bytes, and can be ended.
        let ended = try test.server.request(other, Self.tus + ["-X", "DELETE"])
        #expect(ended.status == 204)
        #expect(try offset(test, other) == nil)
        #expect(test.files().incoming.isEmpty && test.files().placed.count == 1)
        #expect(try test.problems() == [])
    }

    @Test("What was whole when the server was killed in the middle of a request is an asset")
    func wholeAtTheKill() throws {
        let test = try AssetFixture(data: folder.path("data"))
        let bytes = try makeFile(folder.path("file"), bytes: 200_000)
        let path = try begin(test, length: bytes.count)
        #expect(try send(test, path, bytes.dropLast(), at: 0) == 204)
        stop(test, SIGKILL)
        // The last byte, as a process leaves it that gets no further.
        let incoming = "\(test.data)/containers/icloud.a/development/assets/incoming"
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: incoming).first {
                !$0.hasSuffix(".note")
            })
        let handle = try #require(FileHandle(forWritingAtPath: "\(incoming)/\(name)"))
        try handle.seekToEnd()
        try handle.write(contentsOf: bytes.suffix(1))
        try handle.close()
        try test.restart()
        let answer = try test.server.request(path)
        let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
        let value = try #require(
            (object as? [String: Any])?["singleFile"] as? [String: Any], "\(answer.text)")
        #expect(try test.download(test.save("r", value)) == bytes)
        #expect(test.files().incoming.isEmpty)
    }

    @Test("One that was begun anew, or before the machine was, or is sealed, is not gone on with")
    func notResumed() throws {
        let test = try AssetFixture(data: folder.path("data"))
        let incoming = "\(test.data)/containers/icloud.a/development/assets/incoming"
        let bytes = try makeFile(folder.path("file"), bytes: 1_000)
        let path = try begin(test, length: 1_000)
        #expect(try send(test, path, bytes.prefix(500), at: 0) == 204)
        let again = try test.server.request(
            path, Self.tus + ["-X", "POST", "-H", "Upload-Length: 900"])
        #expect(again.status == 201)
        stop(test, SIGKILL)
        try test.restart()
        #expect(try offset(test, path) == 0)
        #expect(try send(test, path, bytes.prefix(400), at: 0) == 204)
        stop(test, SIGKILL)
        let note = try #require(
            FileManager.default.contentsOfDirectory(atPath: incoming).first {
                $0.hasSuffix(".note")
            })
        let text = try String(contentsOfFile: "\(incoming)/\(note)", encoding: .utf8)
        let words = text.split(separator: " ")
        #expect(words.count == 3 && words[1] == "900")
        for damage in [
            "", "x", "\(words[0]) 900 00000000-0000-0000-0000-000000000000\n",
            "../lock 900 \(words[2])", "\(words[0]) -1 \(words[2])", "\(words[0]) 399 \(words[2])",
        ] {
            try damage.write(toFile: "\(incoming)/\(note)", atomically: true, encoding: .utf8)
            try test.restart()
            #expect(try offset(test, path) == nil, "\(damage)")
            #expect(test.files().incoming.isEmpty, "\(damage)")
            #expect(FileManager.default.fileExists(atPath: "\(test.data)/lock"))
            stop(test, SIGKILL)
            try bytes.prefix(400).write(to: URL(fileURLWithPath: "\(incoming)/\(words[0])"))
        }
    }
}
