import Foundation
import S3StandIn
import Testing

@Suite("A server whose assets are on an S3-compatible store")
struct AssetsOnS3Tests {
    private let folder: TemporaryFolder
    private let store: S3StandInServer

    init() throws {
        folder = try TemporaryFolder()
        store = try S3StandInServer()
        let secret = String(decoding: S3StandInServer.secret, as: UTF8.self)
        try Data("\(S3StandInServer.accessKeyID)\n\(secret)\n".utf8)
            .write(to: URL(fileURLWithPath: folder.path("keys")))
    }

    private var environment: [String: String] {
        [
            "LENTICULAR_S3_ENDPOINT": store.origin.text,
            "LENTICULAR_S3_REGION": S3StandInServer.region,
            "LENTICULAR_S3_BUCKET": S3StandInServer.bucket,
            "LENTICULAR_S3_PREFIX": "one/",
            "LENTICULAR_S3_CREDENTIALS_FILE": folder.path("keys"),
        ]
    }

    private func fixture(_ more: [String: String] = [:]) throws -> AssetFixture {
        try AssetFixture(data: folder.path("data"), environment: environment.merging(more) { $1 })
    }

    /// The objects of the bucket that are files.
    private var files: [String] { store.objects.keys.filter { !$0.hasSuffix("/lenticular-owner") } }

    /// Makes a file, and saves it under a name; its bytes.
    private func save(_ test: AssetFixture, _ name: String, bytes: Int) throws -> Data {
        let file = folder.path("file-\(name)")
        let data = try makeFile(file, bytes: bytes, number: UInt64(bytes))
        try test.save(name, test.upload(file: file))
        return data
    }

    @Test("Files go to the bucket and come back; check, backup and a container's end see to it")
    func life() throws {
        let test = try fixture()
        let large = try save(test, "large", bytes: 6_000_000)
        let small = try save(test, "small", bytes: 10)
        #expect(files.count == 2)
        #expect(files.allSatisfy { $0.hasPrefix("one/icloud.a/development/") })
        #expect(test.files().placed.isEmpty && test.files().incoming.isEmpty)
        #expect(try test.download(test.link(of: "large")) == large)
        #expect(
            try test.download(test.link(of: "large"), ["-r", "5999990-"]) == large.suffix(10))
        #expect(try test.problems() == [])
        let copy = folder.path("copy")
        #expect(try test.server.command("backup", copy, "--json").object["ok"] as? Bool == true)
        #expect(test.files(copy).placed.isEmpty)

        let lost = try #require(
            store.objects.state.withLock { state in
                state.objects.first { $0.value.bytes == Array(small) }?.key
            })
        store.objects.state.withLock { $0.objects[lost] = .init(bytes: [1]) }
        let damaged = try test.problems()
        #expect(damaged.count == 1 && damaged[0].contains("damaged asset: "), "\(damaged)")
        store.objects.state.withLock { $0.objects[lost] = nil }
        let missing = try test.problems()
        #expect(missing.count == 1 && missing[0].contains("missing asset: "), "\(missing)")
        let second = try test.server.command("backup", folder.path("second"), "--json")
        #expect(second.object["ok"] as? Bool == false)
        store.objects.state.withLock { $0.objects[lost] = .init(bytes: Array(small)) }

        let restored = folder.path("restored")
        let outcome = try Program.run(
            ["restore", copy, "--data", restored, "--yes", "--json"], environment: environment)
        #expect(outcome.object["ok"] as? Bool == true, "\(outcome)")
        _ = try test.server.command("container", "delete", "iCloud.a", "--yes")
        #expect(store.objects.keys == ["one/lenticular-owner"])
    }

    @Test("Two servers on one prefix: the second does not start, until it takes the prefix over")
    func ownership() throws {
        let test = try fixture()
        let bytes = try save(test, "one", bytes: 5_000)
        let copy = folder.path("copy")
        #expect(try test.server.command("backup", copy, "--json").object["ok"] as? Bool == true)
        let rehearsal = folder.path("rehearsal")
        let restored = try Program.run(
            ["restore", copy, "--data", rehearsal, "--yes", "--json"], environment: environment)
        #expect(restored.object["ok"] as? Bool == true, "\(restored)")
        let second = #expect(throws: ServerProcess.DidNotStart.self) {
            try ServerProcess(data: rehearsal, environment: environment)
        }
        #expect(second?.output.contains("another server keeps its assets there") == true)
        #expect(second?.output.contains("one/lenticular-owner") == true, "\(second?.output ?? "")")
        // Nor does a command touch what is the first one's.
        let removal = try Program.run(
            ["container", "delete", "iCloud.a", "--yes", "--data", rehearsal],
            environment: environment)
        #expect(removal.status != 0, "\(removal)")
        #expect(files.count == 1)
        test.server.signal(SIGTERM)
        #expect(test.server.wait() == 0)
        // The same server goes on with what is its own.
        try test.restart()
        #expect(try test.download(test.link(of: "one")) == bytes)
        test.server.signal(SIGTERM)
        _ = test.server.wait()
        store.objects.state.withLock { $0.objects["one/lenticular-owner"] = nil }
        let successor = try ServerProcess(data: rehearsal, environment: environment)
        successor.signal(SIGTERM)
        #expect(successor.wait() == 0)
    }

    @Test("A store that does not answer does not keep the server from starting")
    func startWithoutStore() throws {
        store.stop()
        let test = try fixture()
        let file = folder.path("file")
        _ = try makeFile(file, bytes: 10)
        let answer = try test.server.request(test.uploadPath(), ["--data-binary", "@\(file)"])
        #expect(answer.status == 503, "\(answer.text)")
        test.server.signal(SIGTERM)
        #expect(test.server.wait() == 0)
        #expect(test.server.log().joined().contains("the bucket of the assets does not answer"))
    }

    @Test(
        "A store that does not answer, or refuses, is an error that says what to do; nothing is half"
    )
    func trouble() throws {
        let test = try fixture()
        _ = try save(test, "one", bytes: 100_000)
        store.objects.fail("PUT ", .refuse(status: 503, code: "SlowDown"), times: 4)
        let file = folder.path("other")
        _ = try makeFile(file, bytes: 5_000, number: 9)
        var answer = try test.server.request(test.uploadPath(), ["--data-binary", "@\(file)"])
        #expect(answer.status == 503)
        #expect(answer.text.contains("TRY_AGAIN_LATER"), "\(answer.text)")
        store.objects.fail("PUT ", .refuse(status: 403, code: "AccessDenied"))
        answer = try test.server.request(test.uploadPath(), ["--data-binary", "@\(file)"])
        #expect(answer.status == 500 && !answer.text.contains("AccessDenied"), "\(answer.text)")
        #expect(files.count == 1 && test.files().incoming.isEmpty)
        let link = try test.link(of: "one")
        store.stop()
        answer = try test.server.request(link, [])
        #expect(answer.status == 503, "\(answer.text)")
        answer = try test.server.request(test.uploadPath(), ["--data-binary", "@\(file)"])
        #expect(answer.status == 503 && test.files().incoming.isEmpty)
        test.server.signal(SIGTERM)
        #expect(test.server.wait() == 0)
    }

    @Test("Downloads are redirected where that is set, to an address that the store believes")
    func redirected() throws {
        let test = try fixture(["LENTICULAR_S3_DOWNLOADS": "redirected"])
        let bytes = try save(test, "one", bytes: 100_000)
        let link = try test.link(of: "one")
        let answer = try test.server.request(
            link.replacingOccurrences(of: "${f}", with: "a.html"),
            ["-H", "Origin: https://a.example"])
        #expect(answer.status == 307)
        #expect(answer.text.contains("https://a.example"), "\(answer.text)")
        let followed = try test.download(link, ["-L", "-D", folder.path("heads")])
        #expect(followed == bytes)
        let heads = try String(contentsOfFile: folder.path("heads"), encoding: .utf8)
        #expect(heads.contains("Location: \(store.origin.text)/\(S3StandInServer.bucket)/one/"))
        // Nobody can take such an address back, so that it lives a minute, however long the link does.
        let life = try #require(
            heads.firstMatch(of: #/X-Amz-Expires=([0-9]+)/#).flatMap { Int($0.1) })
        #expect((1...60).contains(life))
        #expect(heads.contains("Content-Disposition: attachment"))
        #expect(heads.contains("Content-Type: application/octet-stream"))
    }

    @Test("Keys and settings that cannot be used stop the start, and say what is expected")
    func badSettings() throws {
        for text in ["", "one line", "a\nb\nc", "a b\nc", "a/b\nc"] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path("keys")))
            let outcome = try Program.run(
                ["serve", "--data", folder.path("data"), "--listen", "127.0.0.1:0"],
                environment: environment)
            #expect(outcome.status == 1)
            #expect(outcome.error.contains("s3.credentialsFile: "), "\(outcome.error)")
            #expect(!outcome.error.contains("one line"))
        }
        let outcome = try Program.run(
            ["serve", "--data", folder.path("data"), "--listen", "127.0.0.1:0"],
            environment: environment.merging([
                "LENTICULAR_S3_ENDPOINT": "https://localhost",
                "LENTICULAR_S3_AUTHORITIES_FILE": folder.path("none"),
            ]) { $1 })
        #expect(outcome.status == 1)
    }
}
