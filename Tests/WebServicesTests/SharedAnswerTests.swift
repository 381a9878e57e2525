import Testing

/// Many devices that wait for the same feed, and who gets what was made for whom.
@Suite("One answer for those who wait with the same question")
struct SharedAnswerTests {
    private let server: WireServer
    private let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user("ida")
        try ida.make("Shelf")
    }

    /// What a device asks that waits for the changes of a zone after a token.
    private static func question(_ token: AnswerPart, of owner: WireClient?) throws -> String {
        let owner = owner.map { ",\"ownerRecordName\":\(quoted($0.name))" } ?? ""
        let token = try #require(token["syncToken"].string)
        return """
            {"zones":[{"zoneID":{"zoneName":"Shelf"\(owner)},"syncToken":\(quoted(token))}],\
            "waitSeconds":55}
            """
    }

    private func held(_ count: Int) throws {
        try server.until { server.web.heldCount == count }
    }

    private static func names(_ answer: Answer) -> [String] {
        answer.zones[0]["records"].elements.compactMap(\.name).sorted()
    }

    @Test("Devices of one user that wait with the same token get what one of them was answered")
    func devices() throws {
        let question = try Self.question(ida.changes("Shelf"), of: nil)
        let waiting = (0..<12).map { _ in ida.start("private/changes/zone", question) }
        try held(12)
        try ida.save("a")
        let answers = try waiting.map { try $0.answer() }
        #expect(Set(answers.map(\.text)).count == 1)
        #expect(Self.names(answers[0]) == ["a"])
        #expect(server.web.sharedCount > 0)
        // Whoever asks anew with the former token has its own look.
        try ida.save("b")
        let later = try ida.start("private/changes/zone", question).answer()
        #expect(Self.names(later) == ["a", "b"])
    }

    @Test("Two users who wait on one zone get what each may see, by whatever token they ask")
    func users() throws {
        let (bo, mo) = (try server.user("bo"), try server.user("mo"))
        try ida.put(("ours", nil), ("theirs", nil))
        try bo.join(try ida.share("ours"))
        try mo.join(try ida.share("theirs"))
        var (copy, other) = (SharedZone(bo, of: ida), SharedZone(mo, of: ida))
        try copy.catchUp()
        try other.catchUp()
        let questions = try [copy, other].map {
            try Self.question($0.page(after: $0.token), of: ida)
        }
        // Somebody else's token, from before anything of that answer was made.
        let thief = try mo.start("shared/changes/zone", questions[0]).answer()
        #expect(thief.zones[0].code == "BAD_REQUEST", "\(thief.text)")
        let ours = (0..<6).map { _ in bo.start("shared/changes/zone", questions[0]) }
        let theirs = (0..<6).map { _ in mo.start("shared/changes/zone", questions[1]) }
        try held(12)
        try ida.put(("leaf", "ours"), ("page", "theirs"))
        for waiting in ours { #expect(try Self.names(waiting.answer()) == ["leaf"]) }
        for waiting in theirs { #expect(try Self.names(waiting.answer()) == ["page"]) }
        // What was made for one user is not there for another who asks the very same.
        let late = try mo.start("shared/changes/zone", questions[0]).answer()
        #expect(late.zones[0].code == "BAD_REQUEST", "\(late.text)")
    }

    @Test("Devices that wait in a shared zone are told nothing once their user may see it no more")
    func rights() throws {
        let bo = try server.user("bo")
        try ida.put(("ours", nil))
        try bo.join(try ida.share("ours"))
        var copy = SharedZone(bo, of: ida)
        try copy.catchUp()
        let question = try Self.question(copy.page(after: copy.token), of: ida)
        let waiting = (0..<6).map { _ in bo.start("shared/changes/zone", question) }
        try held(6)
        let ended = try ida.modify([
            operation("forceDelete", "share-ours", type: nil),
            operation("forceUpdate", "ours", type: "Note", fields: #"{"n":{"value":7}}"#),
        ])
        #expect(ended.records.allSatisfy { $0.code == nil }, "\(ended.text)")
        for device in waiting {
            let answer = try device.answer()
            #expect(answer.zones[0].code == "ZONE_NOT_FOUND", "\(answer.text)")
        }
    }
}
