import Seeding
import Testing

/// Assets of shared records (rulings.md 33).
@Suite("Assets in shared zones")
struct SharedAssetTests {
    let server: WireServer
    let ida: WireClient
    let bo: WireClient
    let copy: SharedZone

    init() throws {
        server = try WireServer { $0.userQuotaBytes = 100_000 }
        ida = try server.user("ida")
        bo = try server.user("bo")
        try ida.make("Shelf")
        copy = SharedZone(bo, of: ida)
    }

    private static func photo(_ value: AnswerPart) -> String {
        "{\"photo\":{\"value\":\(value.raw)}}"
    }

    /// An upload URL of the shared zone, as the participant asks for it.
    private func upload(_ bytes: [UInt8]) throws -> AnswerPart {
        let answer = try bo.send(
            "shared/assets/upload",
            "{\"tokens\":[{\"recordType\":\"Note\",\"fieldName\":\"photo\"}],\(copy.id)}")
        let url = try #require(answer["tokens"][0]["url"].string, "\(answer.text)")
        return try #require(try bo.upload(bytes, to: url))["singleFile"]
    }

    private func link(_ record: AnswerPart) -> String? {
        record["fields"]["photo"]["value"]["downloadURL"].string
    }

    @Test("A participant sees the owner's files and adds their own, which the owner pays for")
    func bothWays() throws {
        try ida.put(("note", nil))
        let photo = pattern(1_000)
        _ = try ida.save(
            "note", Self.photo(ida.asset(photo)), type: "Note", more: "\"parent\":null")
        let joined = try bo.accept(
            ida.share("note"), more: ",\"shouldFetchRootRecord\":true"
        ).json["results"][0]
        #expect(try bo.download(link(joined["rootRecord"]) ?? "").bytes == photo, "\(joined.raw)")
        #expect(try bo.download(link(copy.lookup("note")[0]) ?? "").bytes == photo)
        let page = try copy.page()
        let listed = page["records"].elements.first { $0.name == "note" }
        #expect(try bo.download(listed.flatMap(link) ?? "").bytes == photo)

        let mine = pattern(60_000, seed: 2)
        let saved = try copy.save("mine", below: "note", fields: Self.photo(upload(mine)))
        #expect(saved.code == nil, "\(saved.raw)")
        #expect(try ida.download(link(ida.record("mine")) ?? "").bytes == mine)
        // It is the owner's room that it takes, and the participant's is untouched.
        let more = try copy.save(
            "more", below: "note", fields: Self.photo(upload(pattern(50_000, seed: 3))))
        #expect(more.code == "QUOTA_EXCEEDED")
        #expect(
            try bo.save("own", Self.photo(bo.asset(pattern(90_000, seed: 4))), zone: nil).code
                == nil)
        #expect(try server.problems() == [])
    }

    @Test("A receipt of another database of the same user, and of another user, is refused")
    func receipts() throws {
        try ida.put(("note", nil))
        try bo.join(try ida.share("note"))
        let shared = try upload(pattern(10))
        #expect(try copy.save("a", below: "note", fields: Self.photo(shared)).code == nil)
        let own = try bo.asset(pattern(20))
        #expect(try copy.save("b", below: "note", fields: Self.photo(own)).code == "BAD_REQUEST")
        #expect(try bo.save("own", Self.photo(shared), zone: nil).code == "BAD_REQUEST")
        #expect(try ida.save("c", Self.photo(shared)).code == "BAD_REQUEST")
    }

    @Test("Who may only read can save no file; who is removed is given no links any more")
    func permissions() throws {
        try ida.put(("note", nil))
        _ = try ida.save(
            "note", Self.photo(ida.asset(pattern(1_000))), type: "Note", more: "\"parent\":null")
        let guid = try ida.share("note", permission: "READ_ONLY")
        #expect(
            try bo.send(
                "shared/assets/upload", "{\"tokens\":[{\"fieldName\":\"photo\"}],\(copy.id)}"
            ).status != 200, "a stranger")
        try bo.join(guid)
        let link = try #require(try link(copy.lookup("note")[0]))
        let kept = try copy.save(
            "note", below: nil,
            fields: Self.photo(copy.lookup("note")[0]["fields"]["photo"]["value"]))
        #expect(kept.code == "ACCESS_DENIED")
        #expect(
            try copy.save("n", below: "note", fields: Self.photo(upload([1]))).code
                == "ACCESS_DENIED")
        let again = try bo.send(
            "shared/assets/rereference",
            "{\"assets\":[{\"recordName\":\"note\",\"fieldName\":\"photo\"}],\(copy.id)}")
        #expect(again.status == 200, "\(again.text)")

        let share = try ida.record("share-note")
        let ended = try ida.modify([
            operation("delete", "share-note", type: nil, tag: share.tag)
        ])
        #expect(ended.records[0].code == nil, "\(ended.text)")
        for answer in [
            try bo.lookup(["note"], zone: nil, in: "shared", more: copy.id),
            try bo.send(
                "shared/assets/rereference",
                "{\"assets\":[{\"recordName\":\"note\",\"fieldName\":\"photo\"}],\(copy.id)}"),
            try bo.send(
                "shared/assets/upload", "{\"tokens\":[{\"fieldName\":\"photo\"}],\(copy.id)}"),
        ] {
            #expect(!answer.text.contains("/assets/") && answer.text.contains("serverErrorCode"))
        }
        #expect(try bo.download(link).status == 403, "what was handed out before ends, too")
    }
}
