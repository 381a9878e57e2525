import Awaiting
import ChildProcesses
import Foundation
import Testing

@Suite("Assets of a running server, by curl")
struct AssetProcessTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("Every way of uploading gives the same bytes back, whole and in parts")
    func ways() throws {
        let test = try AssetFixture(data: folder.path("data"))
        let file = folder.path("file.bin")
        for (index, count) in [0, 1, 100_000, 3_000_000].enumerated() {
            let bytes = try makeFile(file, bytes: count, number: UInt64(index))
            for options in [
                ["--data-binary", "@\(file)", "-H", "Content-Type: image/png"],
                ["--data-binary", "@\(file)", "-H", "Content-Type:"],
                ["-F", "files=@\(file);type=application/octet-stream"], ["-T", file],
                ["-X", "POST", "-T", file, "-H", "Transfer-Encoding: chunked"],
                ["-T", file, "-H", "Expect: 100-continue"],
            ] where count > 0 || !options.contains("Transfer-Encoding: chunked") {
                // This curl does not end an empty chunked body.
                let value = try test.upload(options)
                #expect(value["size"] as? Int == count, "\(options)")
                let link = try test.save("r\(index)", value)
                #expect(try test.download(link) == bytes, "\(options)")
            }
            let link = try test.link(of: "r\(index)").replacing("${f}", with: "photo.png")
            #expect(try test.download(link) == bytes)
            guard count > 10 else { continue }
            #expect(try test.download(link, ["-r", "5-9"]) == bytes[5..<10])
            let several = String(
                decoding: try test.download(link, ["-r", "0-1,4-5"]), as: UTF8.self)
            #expect(several.contains("Content-Range: bytes 4-5/\(count)"))
            let head = String(decoding: try test.download(link, ["-I"]), as: UTF8.self)
            #expect(head.contains("Content-Length: \(count)"))
            #expect(head.contains("Content-Type: image/png"))
        }
        // Equal files are one; the empty one is one, too.
        #expect(test.files().placed.count == 4)
        #expect(test.files().incoming.isEmpty)
        #expect(try test.problems().isEmpty)
        let page = try test.server.metrics()
        #expect(page.contains("lenticular_asset_uploads_total 23"))
        #expect(page.contains("operation=\"assets/download\""))
        test.server.signal(SIGTERM)
        #expect(test.server.wait() == 0)
        let log = test.server.log().joined()
        #expect(!log.contains("&s="), "a link is not logged")
    }

    @Test("A bomb is just bytes, and is not unpacked on its way in either")
    func bombs() throws {
        let test = try AssetFixture(data: folder.path("data"))
        let (zeros, bomb) = (folder.path("zeros"), folder.path("bomb.gz"))
        #expect(FileManager.default.createFile(atPath: zeros, contents: Data(count: 30_000_000)))
        let gzip = ChildProcess()
        gzip.executableURL = URL(fileURLWithPath: "/bin/sh")
        gzip.arguments = ["-c", "gzip -9 <'\(zeros)' >'\(bomb)'"]
        try gzip.run()
        gzip.waitUntilExit()
        let bytes = try Data(contentsOf: URL(fileURLWithPath: bomb))
        let value = try test.upload(
            ["--data-binary", "@\(bomb)", "-H", "Content-Type: application/gzip"])
        #expect(value["size"] as? Int == bytes.count)
        #expect(try test.download(test.save("bomb", value)) == bytes)
        let packed = try test.server.request(
            test.uploadPath(), ["--data-binary", "@\(bomb)", "-H", "Content-Encoding: gzip"])
        #expect(packed.status == 415)
        #expect(test.files().incoming.isEmpty && test.files().placed.count == 1)
    }

    @Test("An upload whose connection breaks goes on where it was, over real sockets")
    func resumed() throws {
        let test = try AssetFixture(data: folder.path("data"))
        let file = folder.path("file.bin")
        let bytes = try makeFile(file, bytes: 3_000_000)
        let path = try test.uploadPath()
        let tus = ["-H", "Tus-Resumable: 1.0.0"]
        let made = try test.server.request(
            path, tus + ["-X", "POST", "-H", "Upload-Length: \(bytes.count)"])
        #expect(made.status == 201, "\(made.text)")
        let patch =
            tus + ["-X", "PATCH", "-H", "Content-Type: application/offset+octet-stream"]
        let first = folder.path("first")
        try bytes.prefix(1_000_000).write(to: URL(fileURLWithPath: first))
        // More is announced than comes: the connection ends in the middle.
        let socket = ChildProcess()
        socket.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        socket.arguments = [
            "python3", "-c",
            """
            import socket, sys
            host, port = sys.argv[1].rsplit(":", 1)
            link = socket.create_connection((host, int(port)))
            link.sendall((f"PATCH {sys.argv[2]} HTTP/1.1\\r\\nHost: a\\r\\nTus-Resumable: 1.0.0\\r\\n"
                "Content-Type: application/offset+octet-stream\\r\\nUpload-Offset: 0\\r\\n"
                "Content-Length: 3000000\\r\\n\\r\\n").encode() + open(sys.argv[3], "rb").read())
            """, test.server.address, path, first,
        ]
        try socket.run()
        socket.waitUntilExit()
        #expect(socket.terminationStatus == 0)
        // Whatever has been taken in by now is what it goes on from.
        let head = try test.server.request(path, tus + ["-I"])
        let line = head.text.split(separator: "\r\n").first { $0.hasPrefix("Upload-Offset:") }
        let offset = try #require(line.flatMap { Int($0.dropFirst(15)) }, "\(head.text)")
        #expect(offset <= 1_000_000)
        let rest = folder.path("rest")
        try bytes.dropFirst(offset).write(to: URL(fileURLWithPath: rest))
        let last = try test.server.request(
            path, patch + ["-H", "Upload-Offset: \(offset)", "--data-binary", "@\(rest)"])
        #expect(last.status == 204, "\(last.text)")
        let answer = try test.server.request(path)
        let object = try JSONSerialization.jsonObject(with: Data(answer.body.utf8))
        let value = try #require((object as? [String: Any])?["singleFile"] as? [String: Any])
        #expect(try test.download(test.save("r", value)) == bytes)
        #expect(test.files().incoming.isEmpty)
    }

    @Test("A file over the limit is refused before it is sent, and in the middle; then all goes on")
    func limits() throws {
        let test = try AssetFixture(
            data: folder.path("data"), environment: ["LENTICULAR_ASSETS_BYTES_MAX": "100000"])
        let file = folder.path("file.bin")
        _ = try makeFile(file, bytes: 20_000_000)
        for options in [
            ["-T", file], ["-T", file, "-H", "Transfer-Encoding: chunked"],
            ["-F", "files=@\(file)"],
        ] {
            let answer = try test.server.request(test.uploadPath(), options)
            #expect(answer.text.contains("HTTP/1.1 413"), "\(answer.text)")
            #expect(answer.text.contains("assets.bytesMax"))
        }
        #expect(test.files().placed.isEmpty)
        #expect(test.files().incoming.isEmpty)
        _ = try makeFile(file, bytes: 100_000)
        #expect(try test.upload(file: file)["size"] as? Int == 100_000)
    }

    @Test("An upload that would leave less on the disk than the floor is refused")
    func floor() throws {
        let test = try AssetFixture(
            data: folder.path("data"),
            environment: ["LENTICULAR_ASSETS_FREE_BYTES_MIN": "1125899906842624"])
        let file = folder.path("file.bin")
        _ = try makeFile(file, bytes: 10)
        let answer = try test.server.request(test.uploadPath(), ["--data-binary", "@\(file)"])
        #expect(answer.status == 503)
        #expect(answer.body.contains("TRY_AGAIN_LATER"))
        #expect(test.files().incoming.isEmpty)
    }

    @Test("A backup has every asset; what is missing or damaged is named by check and by backup")
    func backup() throws {
        for key in [false, true] {
            let root = folder.path("key-\(key)")
            try FileManager.default.createDirectory(
                atPath: root, withIntermediateDirectories: true)
            let keyFile = "\(root)/key"
            try Data((String(repeating: "0123456789abcdef", count: 4) + "\n").utf8)
                .write(to: URL(fileURLWithPath: keyFile))
            let environment = key ? ["LENTICULAR_ASSETS_KEY_FILE": keyFile] : [:]
            let test = try AssetFixture(data: "\(root)/data", environment: environment)
            var files: [String: Data] = [:]
            for index in 0..<5 {
                let file = "\(root)/file"
                files["r\(index)"] = try makeFile(
                    file, bytes: 70_000 * index + 100, number: UInt64(index))
                try test.save("r\(index)", test.upload(file: file))
            }
            let copy = "\(root)/copy"
            #expect(
                try test.server.command("backup", copy, "--json").object["ok"] as? Bool == true)
            #expect(test.files(copy).placed.count == 5)
            #expect(try test.problems().isEmpty)

            let placed = test.files().placed.sorted()
            #expect(placed.allSatisfy { $0.hasSuffix(".sealed") == key })
            try FileManager.default.removeItem(atPath: placed[0])
            let handle = try #require(FileHandle(forUpdatingAtPath: placed[1]))
            try handle.truncate(atOffset: 1)
            try handle.close()
            let problems = try test.problems()
            #expect(problems.count == 2)
            #expect(problems.contains { $0.contains("missing asset") })
            #expect(problems.contains { $0.contains("damaged asset") })
            let partial = try test.server.command("backup", "\(root)/partial", "--json")
            #expect(partial.status == 1)
            #expect((partial.object["problems"] as? [String])?.count == 2)
            #expect(test.files("\(root)/partial").placed.count == 3)
            test.server.signal(SIGTERM)
            _ = test.server.wait()

            try FileManager.default.removeItem(atPath: test.data)
            let restored = try Program.run(
                ["restore", copy, "--data", test.data, "--yes", "--json"],
                environment: environment)
            #expect(restored.object["ok"] as? Bool == true, "\(restored)")
            try test.restart()
            for (name, bytes) in files {
                #expect(try test.download(test.link(of: name)) == bytes)
            }
            #expect(try test.problems().isEmpty)
        }
    }

    @Test("A key file that holds no key stops the start, and says how to make one")
    func badKey() throws {
        let keyFile = folder.path("key")
        for text in [
            "", "abc", String(repeating: "g", count: 64), String(repeating: "0", count: 63),
        ] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: keyFile))
            let outcome = try Program.run(
                ["serve", "--data", folder.path("data"), "--listen", "127.0.0.1:0"],
                environment: ["LENTICULAR_ASSETS_KEY_FILE": keyFile])
            #expect(outcome.status == 1)
            #expect(outcome.error.contains("openssl rand -hex 32"), "\(outcome.error)")
        }
    }

    @Test("Links name the port that the system chose, or the base that is set")
    func links() throws {
        let upload = #"{"tokens":[{"fieldName":"f","recordType":"T"}]}"#
        for (environment, base) in [
            ([:], nil),
            (["LENTICULAR_PUBLIC_BASE_URL": "https://sync.example"], "https://sync.example"),
        ] {
            let folder = try TemporaryFolder()
            let test = try AssetFixture(data: folder.path("data"), environment: environment)
            let expected = base ?? "http://\(test.server.address)"
            let tokens = try test.post("assets/upload", upload)["tokens"] as? [[String: Any]]
            let url = try #require(tokens?.first?["url"] as? String)
            #expect(url.hasPrefix("\(expected)/assets/"), "\(url)")
            let api = test.query.split(separator: "&")[0]
            let refused = try test.server.request(
                "/database/1/iCloud.a/development/private/zones/list?\(api)")
            #expect(refused.status == 421)
            #expect(refused.body.contains("\(expected)/sign-in/"), "\(refused.body)")
        }
    }

    @Test("The check counts the files in the trash, and an empty trash says nothing")
    func trash() throws {
        let folder = try TemporaryFolder()
        let test = try AssetFixture(data: folder.path("data"))
        let file = folder.path("file")
        _ = try makeFile(file, bytes: 1_000)
        try test.save("a", test.upload(file: file))
        #expect(try test.server.command("check").output == "no problems\n")
        let trash = "\(test.data)/containers/icloud.a/development/assets-trash"
        try FileManager.default.createDirectory(atPath: trash, withIntermediateDirectories: true)
        for digit in ["a", "b"] {
            let name = String(repeating: digit, count: 64)
            try Data([1]).write(to: URL(fileURLWithPath: "\(trash)/\(name)"))
        }
        #expect(
            try test.server.command("check").output == "no problems\nassets in the trash: 2\n")
        let counted = try test.server.command("check", "--json").object
        #expect(counted["trashedAssets"] as? Int == 2 && counted["ok"] as? Bool == true)
    }

    @Test("Missing, torn and wrong checksums of whole assets are made again, which the check notes")
    func checksums() throws {
        let folder = try TemporaryFolder()
        let test = try AssetFixture(data: folder.path("data"))
        let file = folder.path("file")
        let bytes = try (0..<4).map { number in
            let bytes = try makeFile(file, bytes: 200_000, number: UInt64(number))
            try test.save("a\(number)", test.upload(file: file))
            return bytes
        }
        let sums = "\(test.data)/containers/icloud.a/development/assets-sums"
        let paths = test.files().placed.sorted().map {
            let name = ($0 as NSString).lastPathComponent
            return "\(sums)/\(name.prefix(2))/\(name)"
        }
        #expect(paths.count == 4)
        let whole = try paths.map { try Data(contentsOf: URL(filePath: $0)) }
        try FileManager.default.removeItem(atPath: paths[0])
        try whole[1].prefix(20).write(to: URL(filePath: paths[1]))
        try Data().write(to: URL(filePath: paths[2]))
        let found = try test.server.command("check")
        #expect(found.status == 0)
        #expect(found.output == "no problems\nchecksums of assets made again: 3\n")
        #expect(try paths.map { try Data(contentsOf: URL(filePath: $0)) } == whole)
        let again = try test.server.command("check", "--json")
        #expect(again.object["ok"] as? Bool == true && again.object["mendedSums"] as? Int == 0)
        for (number, bytes) in bytes.enumerated() {
            #expect(try test.download(test.link(of: "a\(number)")) == bytes)
        }
        // Over contents that are not what they should be, it is damage.
        try whole[3].prefix(20).write(to: URL(filePath: paths[3]))
        let asset = test.files().placed.sorted()[3]
        let handle = try #require(FileHandle(forUpdatingAtPath: asset))
        try handle.write(contentsOf: Data([1, 2, 3]))
        try handle.close()
        let damaged = try test.server.command("check", "--json")
        #expect(damaged.status == 1 && damaged.object["mendedSums"] as? Int == 0)
        let problems = try #require(damaged.object["problems"] as? [String])
        #expect(problems.count == 1 && problems[0].contains("damaged asset: "), "\(problems)")
    }

    @Test("The upkeep makes missing and torn checksums again without anybody asking")
    func checksumsByUpkeep() throws {
        let folder = try TemporaryFolder()
        let test = try AssetFixture(
            data: folder.path("data"), environment: ["LENTICULAR_RETENTION_UPKEEP_SECONDS": "1"])
        let file = folder.path("file")
        for number in 0..<2 {
            _ = try makeFile(file, bytes: 200_000, number: UInt64(number))
            try test.save("a\(number)", test.upload(file: file))
        }
        let sums = "\(test.data)/containers/icloud.a/development/assets-sums"
        let paths = test.files().placed.map {
            let name = ($0 as NSString).lastPathComponent
            return "\(sums)/\(name.prefix(2))/\(name)"
        }
        let whole = try paths.map { try Data(contentsOf: URL(filePath: $0)) }
        try FileManager.default.removeItem(atPath: paths[0])
        try whole[1].prefix(20).write(to: URL(filePath: paths[1]))
        try Wait.until { paths.map { FileManager.default.contents(atPath: $0) } == whole }
    }
}
