import AssetStorage
import CloudModel
import Cryptography
import Foundation
import HTTPClient
import S3StandIn
import Seeding
import Synchronization
import Testing

@Suite("Assets on an S3-compatible store that fails")
struct S3Tests {
    private static let prefix = "lenticular/tea/development/"
    private static let put = "PUT /\(S3StandInServer.bucket)/"
    private static let get = "GET /\(S3StandInServer.bucket)/lenticular"
    private static let head = "HEAD /\(S3StandInServer.bucket)/"
    private static let post = "POST /\(S3StandInServer.bucket)/"

    private struct Fixture {
        let store: S3StandInServer
        let folder: TemporaryFolder
        let assets: S3Assets

        init(
            _ store: S3StandInServer, secret: [UInt8] = S3StandInServer.secret,
            redirects: Bool = false
        ) throws {
            self.store = store
            folder = try TemporaryFolder()
            assets = S3Assets(
                store.bucket(secret: secret), prefix: S3Tests.prefix,
                staging: FolderAssets(path: folder.path), sendsClientsThere: redirects)
        }
    }

    @Test("Small files go in one request, larger ones by parts, and neither stays on this machine")
    func parts() throws {
        let store = try S3StandInServer()
        let fixture = try Fixture(store)
        try fixture.assets.put(pattern(100_000))
        #expect(store.objects.count(Self.post) == 0)
        let digest = try fixture.assets.put(pattern(350_001)).digest
        #expect(store.objects.count(Self.post) == 2)
        #expect(store.objects.count(Self.put) == 1 + 4)
        #expect(store.objects.uploadCount == 0)
        #expect(store.objects.keys.contains(Self.prefix + digest.hexadecimal))
        #expect(fixture.folder.files.isEmpty)
    }

    @Test("Bytes that the store gives back otherwise than they were stored are not handed on")
    func decayed() throws {
        let store = try S3StandInServer()
        let fixture = try Fixture(store)
        let bytes = pattern(300_001)
        let digest = try fixture.assets.put(bytes).digest
        let key = Self.prefix + digest.hexadecimal
        for offset in [0, 70_000, 262_143, 262_144, 300_000] {
            store.objects.state.withLock { $0.objects[key]?.bytes[offset] ^= 4 }
            let reader = try #require(try fixture.assets.open(digest))
            try reader.check(0..<1)
            let part = offset / AssetParts.byteCount * AssetParts.byteCount
            #expect(throws: AssetFailure.damaged(digest)) {
                _ = try reader.read(at: part, count: 65_536)
            }
            #expect(throws: AssetFailure.damaged(digest)) {
                _ = try reader.read(at: offset, count: 1)
            }
            let other = part == 0 ? 65_536 : 0
            #expect(try reader.read(at: other, count: 10) == Array(bytes[other..<other + 10]))
            // Without sums, as of files from before, the whole tells.
            let fresh = FolderAssets(path: fixture.folder.path + "-other")
            let another = S3Assets(store.bucket(), prefix: Self.prefix, staging: fresh)
            #expect(throws: AssetFailure.damaged(digest)) {
                try #require(try another.open(digest)).check(0..<1)
            }
            store.objects.state.withLock { $0.objects[key]?.bytes[offset] ^= 4 }
        }
        let whole = try #require(try fixture.assets.open(digest))
        try whole.check(0..<1)
        var all: [UInt8] = []
        var offset = 5
        while offset < bytes.count {
            let piece = try whole.read(at: offset, count: 1 << 20)
            all += piece
            offset += piece.count
        }
        #expect(all == Array(bytes[5...]))
        try fixture.assets.put(pattern(10))
        _ = store.objects.state.withLock { $0.objects[key]?.bytes.removeLast() }
        let short = try #require(try fixture.assets.open(digest))
        #expect(throws: AssetFailure.damaged(digest)) { try short.check(0..<1) }
    }

    @Test("What is there already is sent all the same, so that nobody learns of it; it stays one")
    func equal() throws {
        let store = try S3StandInServer()
        let fixture = try Fixture(store)
        let digest = try fixture.assets.put(pattern(5_000)).digest
        let seen = store.objects.state.withLock { $0.seen }
        let reader = try #require(try fixture.assets.open(digest))
        store.objects.state.withLock { $0.seen = [] }
        #expect(try fixture.assets.put(pattern(5_000)).digest == digest)
        #expect(store.objects.state.withLock { $0.seen } == seen)
        #expect(store.objects.keys.count == 1)
        #expect(try reader.readAll()?.digest == digest)
        // What has been damaged there is mended by it.
        store.objects.state.withLock {
            $0.objects[Self.prefix + digest.hexadecimal] = .init(
                bytes: [UInt8](repeating: 1, count: 5_000))
        }
        try fixture.assets.put(pattern(5_000))
        #expect(try fixture.assets.get(digest) == pattern(5_000))
    }

    @Test("A prefix belongs to one server: another neither stores nor removes anything there")
    func ownership() throws {
        let store = try S3StandInServer()
        let object = "lenticular/lenticular-owner"
        func server(_ name: String) throws -> (S3Ownership, S3Assets, TemporaryFolder) {
            let bucket = store.bucket()
            let folder = try TemporaryFolder()
            let ownership = S3Ownership(bucket, prefix: "lenticular/") { name }
            return (
                ownership,
                S3Assets(
                    bucket, prefix: Self.prefix, staging: FolderAssets(path: folder.path),
                    ownership: ownership), folder
            )
        }
        let first = try server("one")
        let digest = try first.1.put(pattern(10)).digest
        #expect(store.objects.state.withLock { $0.objects[object]?.bytes } == Array("one".utf8))
        let second = try server("two")
        let foreign = AssetFailure.ownedByAnother(object: object)
        #expect(throws: foreign) { try second.0.confirm() }
        #expect(throws: foreign) { try second.1.put(pattern(20)) }
        #expect(throws: foreign) { try second.1.delete(digest) }
        #expect(throws: foreign) { try second.1.removeEverything { true } }
        #expect(throws: foreign) { try second.1.removeAbandoned(begunBefore: .max) }
        #expect(second.2.files.isEmpty)
        #expect(store.objects.keys == [object, Self.prefix + digest.hexadecimal])
        // The first again, after a start.
        #expect(try server("one").1.get(digest) == pattern(10))
        try server("one").0.confirm()
        #expect("\(foreign)".contains(object))
        // Taken over, as the manual says.
        store.objects.state.withLock { $0.objects[object] = nil }
        try second.1.delete(digest)
        #expect(store.objects.keys == [object])
        #expect(throws: foreign) { try server("one").0.confirm() }
    }

    /// What a data folder notes, and the time by which it looks again.
    private final class Turns: Sendable {
        let noted: Mutex<[String]>
        let now = Mutex(ContinuousClock.now)
        private let count: Mutex<Int>
        private let name: String

        init(_ name: String, noted: [String] = []) {
            self.name = name
            self.noted = Mutex(noted)
            count = Mutex(0)
        }

        var note: S3TurnNote {
            S3TurnNote(
                read: { () throws(AssetFailure) in self.noted.withLock { $0 } },
                write: { turns throws(AssetFailure) in self.noted.withLock { $0 = turns } },
                next: {
                    self.count.withLock {
                        $0 += 1
                        return "\(self.name)\($0)"
                    }
                }, now: { self.now.withLock { $0 } })
        }
    }

    @Test(
        "A copy of a data folder takes a prefix over or is refused; who lost it writes no more there"
    )
    func copies() throws {
        let store = try S3StandInServer()
        func start(_ turns: Turns) -> S3Ownership {
            S3Ownership(store.bucket(), prefix: "a/", turns: turns.note) { "one" }
        }
        let foreign = AssetFailure.ownedByAnother(object: "a/lenticular-owner")
        let first = Turns("first")
        try start(first).confirm()
        let running = start(first)
        try running.confirm()
        // Copied while it runs, and started.
        let second = Turns("second", noted: first.noted.withLock { $0 })
        try start(second).confirm()
        try running.confirm()
        first.now.withLock { $0 += .seconds(60) }
        #expect(throws: foreign) { try running.confirm() }
        #expect(throws: foreign) { try start(first).confirm() }
        try start(second).confirm()
        // A copy of before, and one that has noted nothing.
        #expect(throws: foreign) { try start(Turns("third", noted: ["second1"])).confirm() }
        #expect(throws: foreign) { try start(Turns("third")).confirm() }
        store.objects.state.withLock { $0.objects["a/lenticular-owner"] = nil }
        try start(first).confirm()
        #expect(throws: foreign) { try start(second).confirm() }
    }

    @Test("Of two servers that come at once one gets the prefix, also where there is no condition")
    func ownershipRace() throws {
        for (status, code) in [(501, "NotImplemented"), (400, "InvalidArgument"), (0, "")] {
            let store = try S3StandInServer()
            let bucket = store.bucket()
            let first = S3Ownership(bucket, prefix: "a/") { "one" }
            let second = S3Ownership(bucket, prefix: "a/") { "two" }
            if status > 0 {
                store.objects.fail(Self.put, .refuse(status: status, code: code))
                try first.confirm()
                #expect(throws: AssetFailure.self) { try second.confirm() }
            } else {
                // The second finds nothing and writes; the first has been there meanwhile.
                store.objects.fail(
                    "GET /\(S3StandInServer.bucket)/a", .refuse(status: 404, code: ""), times: 1)
                store.objects.state.withLock {
                    $0.objects["a/lenticular-owner"] = .init(bytes: Array("one".utf8))
                }
                #expect(throws: AssetFailure.self) { try second.confirm() }
                try first.confirm()
            }
            #expect(
                store.objects.state.withLock { $0.objects["a/lenticular-owner"]?.bytes }
                    == Array("one".utf8))
            store.stop()
            #expect(throws: AssetFailure.self) {
                try S3Ownership(bucket, prefix: "b/") { "three" }.confirm()
            }
        }
    }

    @Test("What may pass is tried again, after pauses that double; the third failure is the last")
    func retries() throws {
        let store = try S3StandInServer()
        let fixture = try Fixture(store)
        store.objects.fail(Self.put, .refuse(status: 503, code: "SlowDown"))
        store.objects.fail(Self.put, .loseAnswer(status: 500))
        let digest = try fixture.assets.put(pattern(1_000)).digest
        #expect(try fixture.assets.get(digest) == pattern(1_000))
        let pauses = store.pauses.all
        #expect(pauses.count == 2)
        #expect((50...100).contains(pauses[0]) && (100...200).contains(pauses[1]))
        store.objects.fail(Self.put, .refuse(status: 500, code: "InternalError"), times: 3)
        #expect(
            throws: AssetFailure.unavailable(
                call: "S3 PUT", reason: "500 InternalError (attempts: 3)")
        ) { try fixture.assets.put(pattern(1_000, seed: 2)) }
        #expect(store.objects.keys.count == 1)
        #expect(fixture.folder.files.isEmpty)
        // The same again, when the store is well: nothing is in the way.
        try fixture.assets.put(pattern(1_000, seed: 2))
        #expect(store.objects.keys.count == 2)
    }

    @Test("What will not pass is said at once, without a word of the keys")
    func refusals() throws {
        let store = try S3StandInServer()
        let foreign = try Fixture(store, secret: Array("other".utf8))
        #expect(
            throws: AssetFailure.system(call: "S3 LIST", reason: "403 SignatureDoesNotMatch")
        ) { try foreign.assets.list(after: nil, limit: 1) }
        #expect(
            throws: AssetFailure.system(call: "S3 PUT", reason: "403 SignatureDoesNotMatch")
        ) { try foreign.assets.put([1]) }
        #expect(foreign.folder.files.isEmpty)
        #expect(store.pauses.all.isEmpty)
        let fixture = try Fixture(store)
        store.objects.fail(Self.put, .refuse(status: 507, code: "InsufficientStorage"))
        #expect(throws: AssetFailure.full) { try fixture.assets.put([2]) }
    }

    @Test("An upload by parts that fails leaves nothing; one whose last answer was lost is whole")
    func brokenParts() throws {
        let store = try S3StandInServer()
        let fixture = try Fixture(store)
        let bytes = pattern(250_000)
        store.objects.fail("\(Self.put)\(Self.prefix)", .refuse(status: 500, code: ""), times: 3)
        #expect(throws: AssetFailure.self) { try fixture.assets.put(bytes) }
        #expect(store.objects.uploadCount == 0 && store.objects.keys.isEmpty)
        // The second POST completes; its answer is lost, and the third finds no upload.
        store.objects.fail(Self.post, .loseAnswer(status: 500))
        let digest = try fixture.assets.put(bytes).digest
        #expect(try fixture.assets.get(digest) == bytes)
        #expect(store.objects.keys.count == 1)
    }

    @Test("Parts that nobody will complete are removed after their time")
    func abandoned() throws {
        let store = try S3StandInServer()
        let fixture = try Fixture(store)
        for index in 1...2 {
            store.objects.state.withLock {
                $0.uploads["\(index)"] = .init(key: Self.prefix + "ab", begun: .now)
            }
        }
        store.objects.state.withLock {
            $0.uploads["foreign"] = .init(key: "other/ab", begun: .distantPast)
            $0.uploads["1"]?.begun = Date(timeIntervalSince1970: 1_000)
        }
        try fixture.assets.removeAbandoned(begunBefore: 1_000_001)
        #expect(store.objects.state.withLock { $0.uploads.keys.sorted() } == ["2", "foreign"])
        store.objects.fail("GET ", .refuse(status: 501, code: "NotImplemented"))
        try fixture.assets.removeAbandoned(begunBefore: .max)
        #expect(store.objects.uploadCount == 2)
    }

    @Test("A download goes on after half a body, no body and refusals, byte for byte")
    func halves() throws {
        let store = try S3StandInServer()
        let fixture = try Fixture(store)
        let bytes = pattern(400_000)
        let digest = try fixture.assets.put(bytes).digest
        store.objects.fail(Self.get, .halfBody)
        store.objects.fail(Self.get, .refuse(status: 503, code: "SlowDown"))
        store.objects.fail(Self.get, .noBody)
        store.objects.fail(Self.get, .halfBody)
        #expect(try fixture.assets.get(digest) == bytes)
        // Five windows; what two halves brought is not asked for again.
        #expect(store.objects.count(Self.get) == 5 + 4 - 1)
        store.objects.fail(Self.get, .noBody, times: 3)
        #expect(throws: AssetFailure.self) { try fixture.assets.get(digest) }
    }

    @Test("Bytes that changed since a file was opened are no bytes of it; what has gone has gone")
    func changed() throws {
        let store = try S3StandInServer()
        let fixture = try Fixture(store)
        let digest = try fixture.assets.put(pattern(200_000)).digest
        let key = Self.prefix + digest.hexadecimal
        let reader = try #require(try fixture.assets.open(digest))
        store.objects.state.withLock { $0.objects[key]?.bytes[150_000] ^= 1 }
        #expect(throws: AssetFailure.self) { try reader.readAll() }
        let other = try #require(try fixture.assets.open(digest))
        try fixture.assets.delete(digest)
        #expect(throws: AssetFailure.self) { try other.readAll() }
    }

    @Test("A store that has died is unavailable, and files stay out of the way")
    func dead() throws {
        let store = try S3StandInServer()
        let fixture = try Fixture(store)
        let digest = try fixture.assets.put(pattern(300_000)).digest
        let reader = try #require(try fixture.assets.open(digest))
        _ = try reader.read(at: 0, count: 10_000)
        let upload = try fixture.assets.begin(expectedBytes: 10)
        try [UInt8](repeating: 1, count: 10).withUnsafeBytes { try upload.append($0) }
        store.stop()
        #expect(throws: AssetFailure.self) { try reader.readAll() }
        _ = try upload.seal()
        let failure = #expect(throws: AssetFailure.self) { try upload.place() }
        #expect(failure.map { "\($0)".hasPrefix("S3 PUT: not reachable") } == true)
        upload.discard()
        #expect(fixture.folder.files.isEmpty)
    }

    @Test(
        "A client's address is signed, names the file harmlessly, and is there only where it is set"
    )
    func addresses() throws {
        let store = try S3StandInServer()
        let fixture = try Fixture(store, redirects: true)
        let digest = try fixture.assets.put(pattern(1_000)).digest
        let presentation = AssetPresentation(
            type: "image/png", disposition: "attachment; filename=\"a b&c.png\"")
        let address = try #require(
            fixture.assets.address(of: digest, presentation: presentation, seconds: 60))
        #expect(address.hasPrefix(store.origin.text + "/"))
        let client = BlockingHTTPClient(store.origin, trust: nil)
        let target = String(address.dropFirst(store.origin.text.count))
        let response = try client.send(ClientRequest(method: "GET", target: target))
        #expect(response.status == 200)
        #expect(response.header("content-type") == "image/png")
        #expect(response.header("content-disposition") == presentation.disposition)
        #expect(try response.readAll(bytesMax: 10_000) == pattern(1_000))
        let forged = target.replacing("image", with: "text")
        #expect(try client.send(ClientRequest(method: "GET", target: forged)).status == 403)
        #expect(
            try Fixture(store).assets.address(of: digest, presentation: presentation, seconds: 60)
                == nil)
    }

    @Test("A bucket is named in the path, or before the endpoint's host where isPathStyle is false")
    func addressing() throws {
        let store = try S3StandInServer()
        let folder = try TemporaryFolder()
        let fixture = try Fixture(store)
        let digest = try fixture.assets.put(pattern(10)).digest
        let starts = try [true, false].map { isPathStyle in
            let assets = S3Assets(
                store.bucket(isPathStyle: isPathStyle), prefix: Self.prefix,
                staging: FolderAssets(path: folder.path), sendsClientsThere: true)
            let address = try #require(
                assets.address(
                    of: digest,
                    presentation: AssetPresentation(type: "image/png", disposition: "inline"),
                    seconds: 60))
            return address.components(separatedBy: Self.prefix)[0]
        }
        let host = store.origin.text.dropFirst("http://".count)
        #expect(
            starts == [
                "http://\(host)/\(S3StandInServer.bucket)/",
                "http://\(S3StandInServer.bucket).\(host)/",
            ])
    }

    @Test("A container that goes takes its objects along, and no other's")
    func everything() throws {
        let store = try S3StandInServer()
        let fixture = try Fixture(store)
        for seed in 0..<12 { try fixture.assets.put(pattern(10, seed: UInt64(seed))) }
        store.objects.state.withLock {
            $0.objects["lenticular/tea/production/x"] = .init(bytes: [1])
            $0.uploads["1"] = .init(key: Self.prefix + "ab")
        }
        try fixture.assets.removeEverything { true }
        #expect(store.objects.keys == ["lenticular/tea/production/x"])
        #expect(store.objects.uploadCount == 0)
    }
}
