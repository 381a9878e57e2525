import AssetStorage
import CloudDatabase
import CloudModel
import Cryptography
import Foundation
import Seeding
import Testing
import WebServices

@Suite("Records that hold assets")
struct AssetRecordTests {
    private static func field(_ value: AnswerPart) -> String {
        "{\"photo\":{\"value\":\(value.raw),\"type\":\"ASSETID\"}}"
    }

    @Test("assets/upload answers each token in order, with names made where there are none")
    func tokens() throws {
        let ida = try WireServer().user()
        let answer = try ida.tokens(
            """
            [{"recordType":"Cup","fieldName":"photo"},{"fieldName":"photo","recordName":"c1"},
            {"fieldName":"pages"},{"fieldName":"pages"}]
            """)
        #expect(answer.status == 200)
        let items = answer["tokens"].elements
        #expect(items.map { $0["fieldName"].string } == ["photo", "photo", "pages", "pages"])
        #expect(items[1].name == "c1")
        #expect(Set(items.map(\.name)).count == 4)
        #expect(Set(items.map { $0["url"].string }).count == 4)
        for item in items {
            #expect(item.keys == ["recordName", "fieldName", "url"])
            let url = try #require(item["url"].string)
            #expect(url.hasPrefix("https://sync.example/assets/"))
            #expect(!url.contains(ida.name), "a URL tells nobody who asked for it")
        }
    }

    @Test(
        "assets/upload refuses what is no token, more than the limit, and zones that are not there")
    func badTokens() throws {
        let server = try WireServer()
        let ida = try server.user()
        #expect(try ida.send("private/assets/upload", "{}").reason.contains("'tokens'"))
        for (tokens, words) in [
            ("[{}]", "'fieldName'"), ("[7]", "tokens"),
            ("[{\"fieldName\":\"9\"}]", "fieldName '9'"),
            ("[{\"fieldName\":\"a\",\"recordName\":\"_x\"}]", "recordName"),
            ("[{\"fieldName\":\"a\",\"recordType\":\"-\"}]", "recordType"),
            (
                "[\(Array(repeating: "{\"fieldName\":\"a\"}", count: 201).joined(separator: ","))]",
                "tokens: 201 given; the limit is 200"
            ),
        ] {
            let answer = try ida.tokens(tokens)
            #expect(answer.status == 400)
            #expect(answer.reason.contains(words), "\(answer.reason)")
        }
        #expect(try ida.tokens("[{\"fieldName\":\"a\"}]", zone: "Nowhere").code == "ZONE_NOT_FOUND")
        #expect(try server.visitor().tokens("[{\"fieldName\":\"a\"}]", in: "public").status == 421)
    }

    @Test(
        "An upload answers all five keys, whatever the method and the pieces; its bytes come back")
    func roundTrip() throws {
        for key in [nil, AssetKey(pattern(32))] {
            let server = try WireServer(assetKey: key)
            let ida = try server.user()
            for (index, count) in [0, 1, 65_536, 200_001].enumerated() {
                let bytes = pattern(count, seed: UInt64(index))
                let answer = try #require(
                    try ida.upload(
                        bytes, to: ida.uploadURL(), by: index % 2 == 0 ? 7_001 : 65_536,
                        method: index % 2 == 0 ? .post : .put, hasLength: index != 2))
                #expect(answer.status == 200)
                let file = answer["singleFile"]
                #expect(
                    file.keys == [
                        "wrappingKey", "fileChecksum", "receipt", "referenceChecksum", "size",
                    ])
                #expect(file["size"].int == Int64(count))
                let checksum = Base64.decode(file["fileChecksum"].string ?? "") ?? []
                #expect(checksum == [1] + SHA256.digest(bytes).prefix(20))
                #expect(Base64.decode(file["referenceChecksum"].string ?? "")?.count == 21)
                #expect(Base64.decode(file["wrappingKey"].string ?? "")?.count == 16)
                let saved = try ida.save("r\(index)", Self.field(file), zone: nil)
                let value = saved["fields"]["photo"]["value"]
                #expect(value.keys == ["fileChecksum", "size", "downloadURL"])
                #expect(saved["fields"]["photo"]["type"].string == "ASSETID")
                for shown in [
                    value, try ida.record("r\(index)", zone: nil)["fields"]["photo"]["value"],
                ] {
                    let url = try #require(shown["downloadURL"].string)
                    #expect(try ida.download(url).bytes == bytes)
                }
            }
            #expect(try server.problems().isEmpty)
        }
    }

    @Test(
        "Links are there in every answer with records, also when fields are chosen, and nowhere else"
    )
    func shown() throws {
        let server = try WireServer()
        let ida = try server.user()
        try ida.make("Shelf")
        let bytes = pattern(10)
        let value = try ida.asset(bytes).raw
        let fields = """
            {"photo":{"value":\(value)},"pages":{"value":[\(value),\(value)],"type":"ASSETID_LIST"},
            "n":{"value":1,"type":"INT64"}}
            """
        let saved = try ida.save("a", fields)
        #expect(saved["fields"]["pages"]["value"].elements.count == 2)
        let record = "{\"records\":[{\"recordName\":\"a\"}],\"zoneID\":{\"zoneName\":\"Shelf\"}"
        let answers = [
            saved, try ida.record("a"), try ida.changes()["records"][0],
            try ida.send(
                "private/records/query",
                "{\"query\":{\"recordType\":\"Cup\",\"filterBy\":[]},\"zoneID\":{\"zoneName\":\"Shelf\"}}"
            ).records[0],
            try ida.send("private/records/lookup", record + ",\"numbersAsStrings\":true}").records[
                0],
            try ida.send(
                "private/records/lookup", record + ",\"desiredKeys\":[\"photo\",\"pages\"]}"
            )
            .records[0],
        ]
        for answer in answers {
            let values =
                [answer["fields"]["photo"]["value"]] + answer["fields"]["pages"]["value"].elements
            #expect(values.count == 3)
            for value in values {
                #expect(value.keys == ["fileChecksum", "size", "downloadURL"], "\(answer.raw)")
                #expect(try ida.download(value["downloadURL"].string ?? "").bytes == bytes)
            }
            #expect(!answer.raw.contains("digest"))
        }
        let conflict = try ida.modify([operation("create", "a", type: "Cup")]).json["records"][0]
        #expect(conflict.code == "CONFLICT")
        #expect(
            conflict["serverRecord"]["fields"]["photo"]["value"].keys == ["fileChecksum", "size"])
    }

    @Test("downloadURL holds no percent sign, and works with any name in its place")
    func anyName() throws {
        let ida = try WireServer().user()
        let bytes = pattern(100)
        let saved = try ida.save("a", Self.field(ida.asset(bytes)), zone: nil)
        let url = try #require(saved["fields"]["photo"]["value"]["downloadURL"].string)
        #expect(!url.contains("%"))
        let parts = url.components(separatedBy: "${f}")
        #expect(parts.count == 2)
        let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/?=&")
        #expect(parts.joined().allSatisfy { plain.contains($0) })
        for name in [
            "${f}", "$%7Bf%7D", "%24%7Bf%7D", "photo.jpg", "", "a/b/c", "..%2F..%2Fetc%2Fpasswd",
            "%00%0D%0A", "%FF", "%zz", "..", String(repeating: "x", count: 3_000),
        ] {
            let found = try ida.download(parts[0] + name + parts[1])
            #expect(found.status == 200, "\(name)")
            #expect(found.bytes == bytes, "\(name)")
            let disposition = try #require(found.header("content-disposition"))
            #expect(disposition.hasPrefix("attachment"))
            #expect(disposition.utf8.allSatisfy { (0x20..<0x7f).contains($0) })
            #expect(!disposition.contains(".."))
        }
        let named = try ida.download(parts[0] + "K%C3%A4se%22%0d%5C%2Fa%20b.PNG" + parts[1])
        #expect(
            named.header("content-disposition")
                == "attachment; filename=\"a b.PNG\"; filename*=UTF-8''a%20b.PNG")
        #expect(named.header("content-type") == "image/png")
        let dangerous = try ida.download(parts[0] + "page.html" + parts[1])
        #expect(dangerous.header("content-type") == "application/octet-stream")
        #expect(dangerous.header("x-content-type-options") == "nosniff")
        #expect(dangerous.header("content-security-policy")?.hasPrefix("sandbox;") == true)
    }

    @Test("Links and upload URLs end in time, and not one of their characters can be changed")
    func signedURLs() throws {
        let server = try WireServer()
        let ida = try server.user()
        let upload = try ida.uploadURL()
        let saved = try ida.save("a", Self.field(ida.asset([1, 2, 3])), zone: nil)
        let url = try #require(saved["fields"]["photo"]["value"]["downloadURL"].string)
        #expect(try ida.download(url, method: .post).status == 405)
        for (index, character) in url.enumerated() where index > 40 {
            let name = try #require(url.range(of: "${f}"))
            let location = url.index(url.startIndex, offsetBy: index)
            if name.contains(location) { continue }
            let forged = url.replacingCharacters(
                in: location...location, with: character == "0" ? "1" : "0")
            let status = try ida.download(forged).status
            #expect(status == 404 || forged.count != url.count, "\(forged)")
        }
        for index in upload.indices.suffix(66) {
            let forged = upload.replacingCharacters(
                in: index...index, with: upload[index] == "A" ? "B" : "A")
            #expect(try ida.upload([1], to: forged)?.status == 404)
        }
        server.clock.advance(899_000)
        #expect(try ida.upload([4], to: upload)?.status == 200)
        server.clock.advance(2_000)
        let late = try #require(try ida.upload([4], to: upload))
        #expect(late.status == 403)
        #expect(late.reason.contains("expired"))
        server.clock.advance(3_600_000 - 902_000)
        #expect(try ida.download(url).status == 200)
        server.clock.advance(2_000)
        #expect(try ida.download(url).status == 403)
        let fresh = try ida.record("a", zone: nil)["fields"]["photo"]["value"]["downloadURL"]
        #expect(try ida.download(fresh.string ?? "").bytes == [1, 2, 3])
    }

    @Test(
        "A receipt is good in its database, for its user, for a day; anything else fails the record"
    )
    func receipts() throws {
        let server = try WireServer()
        let (ida, otto) = (try server.user("ida"), try server.user("otto"))
        let value = try ida.asset(pattern(10))
        let raw = value.raw
        func refusal(
            _ value: String, by user: WireClient, in database: String = "private"
        ) throws
            -> AnswerPart
        {
            try user.save("x", "{\"photo\":{\"value\":\(value)}}", zone: nil, in: database)
        }
        let receipt = try #require(value["receipt"].string)
        let checksum = try #require(value["fileChecksum"].string)
        let wrongs = [
            (try refusal(raw, by: otto), "receipt"),
            (try refusal(raw, by: ida, in: "public"), "receipt"),
            (try refusal(raw, by: server.user("ida", WireServer.mate)), "receipt"),
            (try refusal(raw, by: server.user("ida", WireServer.tea, .production)), "production"),
            (
                // The first letter is of a random number, and may be any.
                try refusal(
                    raw.replacing(
                        receipt, with: (receipt.hasPrefix("A") ? "B" : "A") + receipt.dropFirst()),
                    by: ida), "receipt"
            ),
            (try refusal(raw.replacing(receipt, with: receipt.dropLast() + "A"), by: ida), "size"),
            (try refusal(raw.replacing(receipt, with: "nonsense"), by: ida), "receipt"),
            (try refusal(raw.replacing(receipt, with: ""), by: ida), "receipt"),
            (try refusal(raw.replacing(checksum, with: "AQID"), by: ida), "fileChecksum"),
            (try refusal(raw.replacing("\"size\":10", with: "\"size\":11"), by: ida), "size"),
            (try refusal("{\"fileChecksum\":\(quoted(checksum)),\"size\":10}", by: ida), "receipt"),
            (try refusal("{\"size\":10}", by: ida), "no type"),
        ]
        for (index, wrong) in wrongs.enumerated() {
            #expect(wrong.0.code == "BAD_REQUEST", "\(index): \(wrong.0.raw)")
            #expect(wrong.0.reason.contains(wrong.1), "\(index): \(wrong.0.reason)")
        }
        let whole = try ida.modify(
            [
                operation(
                    "forceReplace", "x", type: "Cup",
                    fields: "{\"photo\":{\"value\":7,\"type\":\"ASSETID\"}}")
            ],
            zone: nil)
        #expect(whole.status == 400)
        #expect(whole.reason.contains("could not decode asset object"))
        // For any record and field, again and again, until it is a day old.
        for name in ["a", "b"] {
            #expect(try ida.save(name, Self.field(value), zone: nil).code == nil)
        }
        server.clock.advance(86_399_000)
        #expect(try ida.save("c", "{\"other\":{\"value\":\(raw)}}", zone: nil).code == nil)
        server.clock.advance(2_000)
        #expect(try ida.save("d", Self.field(value), zone: nil).reason.contains("expired"))
        #expect(try server.problems().isEmpty)
    }

    @Test("A value that the field holds already is kept without a receipt, in lists too")
    func kept() throws {
        let server = try WireServer()
        let ida = try server.user()
        let (first, second) = (
            try ida.asset(pattern(10, seed: 1)), try ida.asset(pattern(20, seed: 2))
        )
        let list = "{\"pages\":{\"value\":[\(first.raw),\(second.raw)],\"type\":\"ASSETID_LIST\"}}"
        let saved = try ida.save("a", list, zone: nil)
        server.clock.advance(90_000_000)
        let shown = saved["fields"]["pages"]["value"].elements.map(\.raw)
        let third = try ida.asset(pattern(30, seed: 3))
        let changed = try ida.save(
            "a",
            "{\"pages\":{\"value\":[\(shown[1]),\(third.raw),\(shown[0])],\"type\":\"ASSETID_LIST\"}}",
            zone: nil)
        #expect(
            changed["fields"]["pages"]["value"].elements.map { $0["size"].int } == [20, 30, 10])
        let other = try ida.save(
            "b", "{\"pages\":{\"value\":[\(shown[1])],\"type\":\"ASSETID_LIST\"}}", zone: nil)
        #expect(other.code == "BAD_REQUEST")
        // An update that does not speak of the field leaves it.
        let updated = try ida.modify(
            [operation("forceUpdate", "a", type: "Cup", fields: "{\"n\":{\"value\":1}}")], zone: nil
        ).json["records"][0]
        #expect(updated["fields"]["pages"]["value"].elements.count == 3)
        #expect(try server.problems().isEmpty)
    }

    @Test("rereference makes stored assets usable in other records, and refuses as a whole")
    func rereference() throws {
        let server = try WireServer()
        let ida = try server.user()
        let bytes = pattern(50)
        _ = try ida.save("a", Self.field(ida.asset(bytes)), zone: nil)
        server.clock.advance(90_000_000)
        let answer = try ida.send(
            "private/assets/rereference", #"{"assets":[{"recordName":"a","fieldName":"photo"}]}"#)
        #expect(answer.status == 200)
        let value = answer["assets"][0]
        #expect(
            value.keys == [
                "wrappingKey", "fileChecksum", "receipt", "referenceChecksum", "size",
                "downloadURL",
            ])
        let copy = try ida.save("b", Self.field(value), zone: nil)
        let url = try #require(copy["fields"]["photo"]["value"]["downloadURL"].string)
        #expect(try ida.download(url).bytes == bytes)
        #expect(try server.assetFiles().count == 1)
        for (body, words) in [
            (
                #"{"assets":[{"recordName":"a","fieldName":"photo"},{"recordName":"z","fieldName":"photo"}]}"#,
                "record 'z'"
            ),
            (#"{"assets":[{"recordName":"a","fieldName":"none"}]}"#, "field 'none'"),
            (#"{"assets":[{"recordName":"a"}]}"#, "'fieldName'"), (#"{}"#, "'assets'"),
        ] {
            let refused = try ida.send("private/assets/rereference", body)
            #expect(refused.status == 400)
            #expect(refused.reason.contains(words), "\(refused.reason)")
        }
        let otto = try server.user("otto")
        let foreign = try otto.send(
            "private/assets/rereference", #"{"assets":[{"recordName":"a","fieldName":"photo"}]}"#)
        #expect(foreign.status == 400)
    }

    @Test("rereference makes no more than the limit, however few fields hold them")
    func rereferenceLimit() throws {
        let ida = try WireServer(limits: { $0.rereferencedAssetsMax = 10 }).user()
        let value = try ida.asset(pattern(5)).raw
        let list = Array(repeating: value, count: 5).joined(separator: ",")
        _ = try ida.save(
            "a", "{\"pages\":{\"value\":[\(list)],\"type\":\"ASSETID_LIST\"}}", zone: nil)
        func ask(_ times: Int) throws -> Answer {
            let source = #"{"recordName":"a","fieldName":"pages"}"#
            let sources = Array(repeating: source, count: times).joined(separator: ",")
            return try ida.send("private/assets/rereference", "{\"assets\":[\(sources)]}")
        }
        #expect(try ask(2)["assets"].elements.count == 10)
        let refused = try ask(3)
        #expect(refused.status == 400 && refused.code == "BAD_REQUEST")
        #expect(refused.reason.contains("the fields hold over 10"), "\(refused.reason)")
    }
}
