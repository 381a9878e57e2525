import Accounts
import CloudDatabase
import CloudModel
import Dispatch
import Foundation
import HTTP
import Seeding
import Storage
import Synchronization
import Testing

@testable import WebServices

@Suite("Addresses of assets whose holder has lost what they were got by")
struct AssetWithdrawalTests {
    private static func photo(_ value: AnswerPart) -> String {
        "{\"photo\":{\"value\":\(value.raw)}}"
    }

    private static func link(_ record: AnswerPart) throws -> String {
        try #require(
            record["fields"]["photo"]["value"]["downloadURL"].string, "\(record.raw)")
    }

    private static let photoBytes = pattern(1_000)

    /// A record with a file in the private database; its link.
    private func privateLink(_ client: WireClient) throws -> String {
        let value = try client.asset(Self.photoBytes)
        return try Self.link(client.save("mine", Self.photo(value), zone: nil))
    }

    private func delete(_ client: WireClient, from server: WireServer) throws {
        _ = try Users(catalog: server.catalog).delete(email: client.email)
    }

    @Test("A deleted user's links, upload URLs and uploads under way end at once")
    func account() throws {
        let server = try WireServer()
        let (ida, bo) = (try server.user("ida"), try server.user("bo"))
        let link = try privateLink(ida)
        let upload = try ida.uploadURL()
        let other = try privateLink(bo)
        #expect(try bo.download(link).bytes == Self.photoBytes, "whoever has it may use it")
        try delete(ida, from: server)
        for client in [ida, bo, server.stranger] {
            #expect(try client.download(link).status == 403)
            #expect(try client.download(link, method: .head).status == 403)
            #expect(try client.download(link, headers: [("Range", "bytes=1-2")]).status == 403)
            #expect(try client.upload([1, 2, 3], to: upload)?.status == 403)
        }
        for (method, fields) in [
            (HTTPRequest.Method.post, [("Upload-Length", "3")]), (.head, []), (.get, []),
            (.delete, []), (.other("PATCH"), [("Upload-Offset", "0")]),
        ] {
            let headers = [("Tus-Resumable", "1.0.0")] + fields
            let answer = try ida.download(
                upload, headers: headers.map { (name: $0.0, value: $0.1) }, method: method)
            #expect(answer.status == 403, "\(method)")
        }
        #expect(try bo.download(other).status == 200)
    }

    @Test(
        "An upload that is under way when its user is deleted leaves neither a receipt nor a file")
    func uploadUnderWay() throws {
        let server = try WireServer()
        let ida = try server.user("ida")
        let url = try ida.uploadURL()
        let files = try server.assetStoreFiles().count
        let answer = try ida.upload(Self.photoBytes, to: url) { try delete(ida, from: server) }
        #expect(answer?.status == 403, "\(answer?.text ?? "")")
        #expect(try server.assetStoreFiles().count == files)
    }

    @Test("A revoked API token and a revoked server key take their addresses with them")
    func credentials() throws {
        let server = try WireServer()
        let ida = try server.user()
        let key = try server.key(scope: .container)
        guard case .key(let keyID, _) = key.credential else { return }
        var proxy = key
        proxy.onBehalfOf = ida.name
        let link = try privateLink(ida)
        let upload = try ida.uploadURL()
        let byKey = try Self.link(proxy.record("mine", zone: nil))
        let uploadByKey = try proxy.uploadURL()
        let value = try key.asset([7], in: "public")
        let ofKey = try Self.link(
            key.save("public", Self.photo(value), zone: nil, in: "public"))
        let visitor = server.visitor()
        let ofWorld = try Self.link(visitor.record("public", zone: nil, in: "public"))
        for url in [link, byKey, ofKey, ofWorld] {
            #expect(try ida.download(url).status == 200)
        }
        try server.catalog.deleteServerKey(keyID: keyID)
        for url in [byKey, ofKey] { #expect(try ida.download(url).status == 403) }
        #expect(try ida.upload([1], to: uploadByKey)?.status == 403)
        for url in [link, ofWorld] { #expect(try ida.download(url).status == 200) }
        let id = try WireServer.id(WireServer.tea)
        for token in try server.catalog.apiTokens(ListRequest()).items
        where token.container == id && token.environment == .development {
            try server.catalog.deleteAPIToken(name: token.name)
        }
        for url in [link, ofWorld] { #expect(try ida.download(url).status == 403) }
        #expect(try ida.upload([1], to: upload)?.status == 403)
    }

    /// A note of ida's with a file, shared with two others.
    private struct Shared {
        let server: WireServer
        let ida: WireClient
        let bo: WireClient
        let eve: WireClient
        let guid: String

        init() throws {
            server = try WireServer()
            (ida, bo, eve) = (
                try server.user("ida"), try server.user("bo"), try server.user("eve")
            )
            try ida.make("Shelf")
            try ida.put(("note", nil), ("other", nil))
            for name in ["note", "other"] {
                let value = try ida.asset(AssetWithdrawalTests.photoBytes)
                _ = try ida.save(
                    name, AssetWithdrawalTests.photo(value), type: "Note",
                    more: "\"parent\":null")
            }
            guid = try ida.share("note")
            for client in [bo, eve] { try client.join(guid) }
        }

        func links(of client: WireClient) throws -> [String] {
            let copy = SharedZone(client, of: ida)
            let page = try copy.page()
            let listed = try #require(page["records"].elements.first { $0.name == "note" })
            return [
                try AssetWithdrawalTests.link(copy.lookup("note")[0]),
                try AssetWithdrawalTests.link(listed),
            ]
        }

        func uploadURL(of client: WireClient) throws -> String {
            let copy = SharedZone(client, of: ida)
            let answer = try client.send(
                "shared/assets/upload",
                "{\"tokens\":[{\"recordType\":\"Note\",\"fieldName\":\"photo\"}],\(copy.id)}")
            return try #require(answer["tokens"][0]["url"].string, "\(answer.text)")
        }

        func stopSharing() throws {
            let tag = try ida.record("share-note").tag
            let ended = try ida.modify([
                operation("delete", "share-note", type: nil, tag: tag)
            ])
            try #require(ended.records[0].code == nil, "\(ended.text)")
        }
    }

    @Test("When sharing stops, participants' links and upload URLs stop with it; the owner's stay")
    func sharing() throws {
        let shared = try Shared()
        let (bos, eves) = (try shared.links(of: shared.bo), try shared.links(of: shared.eve))
        let upload = try shared.uploadURL(of: shared.bo)
        let owners = try Self.link(shared.ida.record("note"))
        for url in bos + eves + [owners] {
            #expect(try shared.eve.download(url).bytes == Self.photoBytes)
        }
        try delete(shared.eve, from: shared.server)
        for url in eves { #expect(try shared.bo.download(url).status == 403) }
        for url in bos { #expect(try shared.bo.download(url).status == 200) }
        try shared.stopSharing()
        for url in bos + eves {
            #expect(try shared.bo.download(url).status == 403)
            #expect(try shared.ida.download(url).status == 403, "also for others who have it")
        }
        #expect(try shared.bo.upload([1], to: upload)?.status == 403)
        #expect(try shared.ida.download(owners).status == 200)
    }

    @Test(
        "A link ends with the record's place in the tree, and one of a saved record with the zone")
    func trees() throws {
        let shared = try Shared()
        let copy = SharedZone(shared.bo, of: shared.ida)
        let value = try #require(
            try shared.bo.upload([1, 2], to: shared.uploadURL(of: shared.bo)))["singleFile"]
        let saved = try Self.link(
            copy.save("leaf", below: "note", fields: Self.photo(value)))
        let read = try Self.link(copy.lookup("leaf")[0])
        for url in [saved, read] { #expect(try shared.bo.download(url).bytes == [1, 2]) }
        let leaf = try shared.ida.record("leaf")
        let moved = try shared.ida.modify([
            operation("update", "leaf", type: "Note", tag: leaf.tag, more: "\"parent\":null")
        ])
        #expect(moved.records[0].code == nil, "\(moved.text)")
        #expect(try shared.bo.download(read).status == 403)
        #expect(try shared.bo.download(saved).status == 200)
        try shared.stopSharing()
        #expect(try shared.bo.download(saved).status == 403)
    }

    @Test("Not one of 64 who race a revocation gets a byte after it was acknowledged")
    func races() throws {
        for round in 0..<4 {
            let shared = try Shared()
            let links = try shared.links(of: shared.bo) + shared.links(of: shared.eve)
            let isRevoked = Atomic(false)
            let late = Mutex(0)
            let ready = DispatchSemaphore(value: 0)
            let done = DispatchGroup()
            for number in 0..<64 {
                done.enter()
                Thread.detachNewThread {
                    defer { done.leave() }
                    var client = shared.eve
                    // No reader of an event loop: those are of one thread.
                    client.loop = -1
                    ready.signal()
                    for _ in 0..<20 {
                        let wasRevoked = isRevoked.load(ordering: .acquiring)
                        guard let answer = try? client.download(links[number % links.count])
                        else { continue }
                        if answer.status == 200, wasRevoked { late.withLock { $0 += 1 } }
                    }
                }
            }
            for _ in 0..<64 { try #require(ready.wait(timeout: .now() + 60) == .success) }
            if round % 2 == 0 {
                try shared.stopSharing()
            } else {
                try delete(shared.bo, from: shared.server)
                try delete(shared.eve, from: shared.server)
            }
            isRevoked.store(true, ordering: .releasing)
            try #require(done.wait(timeout: .now() + 600) == .success)
            #expect(late.withLock { $0 } == 0)
            for link in links { #expect(try shared.bo.download(link).status == 403) }
        }
    }

    @Test("No origin but one that was encoded is read, and every one is read as it was")
    func origins() throws {
        var random = SeededRandom("origins of addresses")
        let name = try #require(UserRecordName("_0123456789abcdef0123456789abcdef"))
        let zone = try #require(ZoneName("Shelf"))
        let origins = [
            AssetOrigin(credential: .apiToken([1, 2, 3, 4, 5, 6, 7, 8]), user: nil),
            AssetOrigin(credential: .serverKey(Array("0123456789abcdef".utf8)), user: name),
            AssetOrigin(
                credential: .apiToken([0]), user: name, sharedItem: .record(RecordNumber(77))),
            AssetOrigin(
                credential: .apiToken([]), user: name, sharedItem: .zone(zone, owner: name)),
        ]
        let tokens = AssetTokens(key: [UInt8](repeating: 1, count: 32), base: "http://x")
        for origin in origins {
            let url = tokens.uploadURL(
                identity: [UInt8](repeating: 2, count: 16), origin: origin, now: 0,
                random: .system)
            let text = String(url.split(separator: "/").last ?? "")
            #expect(tokens.uploadGrant(text)?.origin == origin)
            for _ in 0..<300 {
                var bytes = Array(text.utf8)
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] = UInt8.random(in: 33..<127, using: &random)
                let changed = String(decoding: bytes, as: UTF8.self)
                if changed != text { #expect(tokens.uploadGrant(changed) == nil) }
            }
        }
        for _ in 0..<5_000 {
            let count = Int.random(in: 0..<60, using: &random)
            let text = String(
                decoding: (0..<count).map { _ in UInt8.random(in: 33..<127, using: &random) },
                as: UTF8.self)
            #expect(tokens.origin(text) == nil)
        }
    }
}
