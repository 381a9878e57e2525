import AssetStorage
import CloudDatabase
import CloudModel
import Foundation
import HTTP
import Seeding
import Testing

@testable import WebServices

@Suite("Bytes of assets on their way")
struct AssetTransferTests {
    private static func form(
        _ parts: [(head: String, body: [UInt8])], boundary: String = "xyz", ends: Bool = true
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in parts {
            bytes += Array("--\(boundary)\r\n\(part.head)\r\n\r\n".utf8) + part.body
            bytes += Array("\r\n".utf8)
        }
        return bytes + Array((ends ? "--\(boundary)--\r\n" : "").utf8)
    }

    private static let fileHead =
        "Content-Disposition: form-data; name=\"files\"; filename=\"a.bin\"\r\n"
        + "Content-Type: application/octet-stream"
    private static let multipart = [
        (name: "Content-Type", value: "multipart/form-data; boundary=xyz")
    ]

    @Test("The part named files is the asset, whatever stands around it and however it is cut")
    func multipart() throws {
        let server = try WireServer()
        let ida = try server.user()
        let tricky = Array("\r\n--xy\r\n--xyy--\r\n\r\n--xz\r".utf8) + pattern(3_000) + [13]
        let bodies = [
            Self.form([(Self.fileHead, tricky)]),
            Array("preamble\r\n".utf8)
                + Self.form([
                    ("Content-Disposition: form-data; name=\"other\"", Array("x".utf8)),
                    (Self.fileHead.replacing("\"files\"", with: "files"), tricky),
                    ("content-disposition: form-data; name=last", []),
                ]) + Array("epilogue".utf8),
        ]
        for body in bodies {
            for size in [1, 2, 3, 7, 64, 1_000, 65_536] {
                let answer = try #require(
                    try ida.upload(body, to: ida.uploadURL(), by: size, headers: Self.multipart))
                #expect(answer.status == 200, "\(size): \(answer.text)")
                #expect(answer["singleFile"]["size"].int == Int64(tricky.count))
            }
        }
        #expect(try server.assetFiles().count == 1)
        let empty = try ida.upload(
            Self.form([(Self.fileHead, [])]), to: ida.uploadURL(), headers: Self.multipart)
        #expect(empty?["singleFile"]["size"].int == 0)
    }

    @Test("A form that is cut short, has no file or two, or too much beside it, leaves nothing")
    func badForms() throws {
        let server = try WireServer()
        let ida = try server.user()
        let file = (head: Self.fileHead, body: pattern(10))
        for (body, words) in [
            (Self.form([file], ends: false), "last boundary"),
            (Array("nothing of the kind".utf8), "last boundary"),
            (Self.form([("Content-Disposition: form-data; name=\"a\"", [1])]), "no part named"),
            (Self.form([file, file]), "two parts"),
            (
                Self.form([("Content-Disposition: form-data; name=\"a\"", pattern(70_000)), file]),
                "65536 bytes beside"
            ),
            (Array("--xyzabc".utf8) + Self.form([file]), "malformed"),
            (Array("--xyz\r\n".utf8) + [UInt8](repeating: 65, count: 9_000), "malformed"),
        ] {
            let answer = try #require(
                try ida.upload(body, to: ida.uploadURL(), by: 100, headers: Self.multipart))
            #expect(answer.status == 400)
            #expect(answer.reason.contains(words), "\(answer.reason)")
        }
        for type in [
            "multipart/form-data", "multipart/form-data; boundary=\"\"",
            "multipart/form-data; boundary=\(String(repeating: "b", count: 71))",
        ] {
            let answer = try ida.upload(
                [1], to: ida.uploadURL(), headers: [("Content-Type", type)])
            #expect(answer?.reason.contains("boundary") == true)
        }
        #expect(try server.assetFiles().isEmpty)
        #expect(try server.assetStoreFiles().isEmpty)
    }

    @Test("Names of files, whatever is in them, do not keep the file from being found")
    func hostileNames() throws {
        let ida = try WireServer().user()
        for name in [
            "back\\", "a\\\"b", "\u{301}combining", "\u{FE0F}", "\u{200D}joined", "a\u{2028}b",
            "a\u{85}b", "a\u{B}\u{C}b", "a\rb", "a;b; name=\\\"other\\\"", "a: b", "%22",
            "\u{202E}gpj",
        ] {
            let head = "Content-Disposition: form-data; name=\"files\"; filename=\"\(name)\""
            for head in [head, head.replacing("; filename", with: ";\r\n\tfilename")] {
                let answer = try ida.upload(
                    Self.form([(head, pattern(100))]), to: ida.uploadURL(),
                    headers: Self.multipart)
                #expect(
                    answer?["singleFile"]["size"].int == 100,
                    "\(name.debugDescription): \(answer?.text ?? "")")
            }
        }
        var generator = SeededRandom("heads of forms")
        let alphabet = Array("\";=\\ \tfilesname:\r\n".utf8) + [0xCC, 0x81, 0xFF]
        for _ in 0..<5_000 {
            let count = Int.random(in: 0..<60, using: &generator)
            let head = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            let (_, parameters) = HeaderParameters.read(
                Array("form-data; name=\"files\"; filename=\"".utf8) + head)
            #expect(parameters["name"] == "files")
        }
    }

    @Test("Random cuts of random forms never find another file than the one inside")
    func fuzz() throws {
        var generator = SeededRandom("multipart fuzz")
        let alphabet = Array("\r\n-xyz:a".utf8)
        for _ in 0..<2_000 {
            let count = Int.random(in: 0..<80, using: &generator)
            let content = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            guard content.firstRange(of: Array("\r\n--xyz".utf8)) == nil,
                !content.starts(with: Array("--xyz".utf8))
            else { continue }
            var form = try #require(
                try MultipartForm(contentType: "multipart/form-data; boundary=xyz"))
            var found: [UInt8] = []
            var rest = Self.form([(Self.fileHead, content)])[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...20, using: &generator))
                try form.take(Array(piece)) { found += $0 }
                rest = rest.dropFirst(piece.count)
            }
            try form.finish()
            #expect(found == content)
        }
    }

    @Test("Over the limit an upload is refused at its length, or as soon as it is over")
    func limit() throws {
        var options = AssetOptions(baseURL: "https://sync.example")
        options.bytesMax = 100_000
        let server = try WireServer(assets: options)
        let ida = try server.user()
        #expect(try ida.upload(pattern(100_000), to: ida.uploadURL())?.status == 200)
        for hasLength in [true, false] {
            let answer = try #require(
                try ida.upload(pattern(100_001), to: ida.uploadURL(), hasLength: hasLength))
            #expect(answer.status == 413)
            #expect(answer.code == "BAD_REQUEST")
            #expect(answer.reason.contains("assets.bytesMax"))
        }
        for length in ["100001", "9223372036854775807", "99999999999999999999"] {
            let answer = try ida.upload(
                pattern(1), to: ida.uploadURL(), headers: [("Content-Length", length)],
                hasLength: false)
            #expect(answer?.status == 413, "before a byte of it has come")
        }
        #expect(try server.assetFiles().count == 1)
        #expect(try server.assetStoreFiles().count == 1)
    }

    @Test("An upload that is left in the middle leaves nothing, and is counted")
    func aborted() throws {
        let server = try WireServer()
        let ida = try server.user()
        try ida.upload(pattern(200_000), to: ida.uploadURL(), ends: false)
        // It is counted last, when nothing is left of it.
        try server.until { server.web.assetCounts.uploadsAborted == 1 }
        #expect(try server.assetStoreFiles().isEmpty)
        #expect(server.web.assetCounts.uploadsActive == 0)
        #expect(server.web.assetCounts.uploadsFinished == 0)
    }

    @Test("A page of another origin may upload and read, and is told so before")
    func crossOrigin() throws {
        let server = try WireServer()
        let ida = try server.user()
        let origin = (name: "Origin", value: "https://app.example")
        let url = try ida.uploadURL()
        let preflight = try ida.download(
            url, headers: [origin, ("Access-Control-Request-Headers", "content-type,x-a")],
            method: .options)
        #expect(preflight.status == 200)
        #expect(preflight.header("access-control-allow-origin") == origin.value)
        #expect(preflight.header("access-control-allow-headers") == "content-type,x-a")
        let uploaded = try #require(
            try ida.upload([1], to: url, headers: [origin, ("Content-Type", "image/png")]))
        #expect(uploaded.header("access-control-allow-origin") == origin.value)
        #expect(uploaded.header("content-type") == "application/json; charset=UTF-8")
        // A server's signature on the upload itself says nothing.
        let signed = try ida.upload(
            [1], to: ida.uploadURL(), headers: [("X-Apple-CloudKit-Request-KeyID", "nonsense")])
        #expect(signed?.status == 200)
        let saved = try ida.save(
            "a", "{\"p\":{\"value\":\(uploaded["singleFile"].raw)}}", zone: nil)
        let link = saved["fields"]["p"]["value"]["downloadURL"].string ?? ""
        let found = try ida.download(link, headers: [origin])
        #expect(found.header("access-control-allow-origin") == origin.value)
        #expect(found.header("vary") == "Origin")
        // What a cache keeps of an image in a page must not be what a script of another gets.
        let plain = try ida.download(link)
        #expect(plain.header("access-control-allow-origin") == nil)
        #expect(plain.header("vary") == "Origin")
    }

    @Test("A range means nothing to a HEAD")
    func headOfRange() throws {
        let ida = try WireServer().user()
        let saved = try ida.save(
            "a", "{\"p\":{\"value\":\(ida.asset(pattern(10)).raw)}}", zone: nil)
        let url = saved["fields"]["p"]["value"]["downloadURL"].string ?? ""
        for range in ["bytes=0-1", "bytes=0-1,3-4", "bytes=10-"] {
            let head = try ida.download(url, headers: [("Range", range)], method: .head)
            #expect(head.status == 200 && head.header("content-range") == nil)
        }
    }

    @Test("Ranges, conditions and the whole answer as HTTP says")
    func ranges() throws {
        for key in [nil, AssetKey(pattern(32))] {
            let ida = try WireServer(assetKey: key).user()
            let bytes = pattern(100_000)
            let saved = try ida.save(
                "a", "{\"p\":{\"value\":\(ida.asset(bytes).raw)}}", zone: nil)
            let url = saved["fields"]["p"]["value"]["downloadURL"].string ?? ""
            let whole = try ida.download(url)
            #expect(whole.status == 200)
            #expect(whole.header("accept-ranges") == "bytes")
            let etag = try #require(whole.header("etag"))
            #expect(
                try ida.download(url, headers: [("If-None-Match", "\"x\", \(etag)")]).status == 304)
            for (range, expected) in [
                ("bytes=0-0", 0..<1), ("bytes=65530-65545", 65_530..<65_546),
                ("bytes=99999-", 99_999..<100_000), ("bytes=-3", 99_997..<100_000),
                ("bytes=50000-999999999999999999999", 50_000..<100_000), ("BYTES=5-9", 5..<10),
            ] {
                let part = try ida.download(url, headers: [("Range", range)])
                #expect(part.status == 206, "\(range)")
                #expect(part.bytes == Array(bytes[expected]), "\(range)")
                #expect(
                    part.header("content-range")
                        == "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/100000")
                #expect(
                    try ida.download(url, headers: [("Range", range), ("If-Range", etag)]).status
                        == 206)
                #expect(
                    try ida.download(url, headers: [("Range", range), ("If-Range", "\"old\"")])
                        .bytes
                        == bytes)
            }
            for range in ["bytes=100000-", "bytes=-0", "bytes=100000-100001,200000-"] {
                let part = try ida.download(url, headers: [("Range", range)])
                #expect(part.status == 416)
                #expect(part.header("content-range") == "bytes */100000")
            }
            for range in [
                "bytes=5-4", "bytes=", "bytes=a-b", "lines=1-2", "bytes=--1", "bytes=1",
                "bytes=0-99999,0-99999",
                "bytes=" + (0..<40).map { "\($0)-\($0)" }.joined(separator: ","),
            ] {
                #expect(
                    try ida.download(url, headers: [("Range", range)]).bytes == bytes, "\(range)")
            }
            let several = try ida.download(url, headers: [("Range", "bytes=0-4, 65534-65537 ,-2")])
            #expect(several.status == 206)
            let type = try #require(several.header("content-type"))
            let boundary = try #require(type.split(separator: "=").last)
            var expected: [UInt8] = []
            for range in [0..<5, 65_534..<65_538, 99_998..<100_000] {
                expected += Array(
                    ("\r\n--\(boundary)\r\nContent-Type: application/octet-stream\r\nContent-Range: "
                        + "bytes \(range.lowerBound)-\(range.upperBound - 1)/100000\r\n\r\n").utf8)
                expected += bytes[range]
            }
            expected += Array("\r\n--\(boundary)--\r\n".utf8)
            #expect(several.bytes == expected)
        }
    }
}

extension WireServer {
    /// Every file in the folder of assets, uploads under way among them.
    func assetStoreFiles() throws -> [String] {
        let path = folder.appending(path: "\(Self.tea.lowercased())-development.sqlite-assets").path
        return (try? FileManager.default.subpathsOfDirectory(atPath: path))?.filter {
            $0.split(separator: "/").last.map { $0.count >= 32 } ?? false
        } ?? []
    }
}
