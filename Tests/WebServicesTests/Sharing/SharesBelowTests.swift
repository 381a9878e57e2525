import CloudModel
import Testing

/// What is shared below a record that is about to be shared, or moved.
@Suite("Shares below a record")
struct SharesBelowTests {
    /// A server, and somebody who has a zone there.
    private static func open(
        _ change: (inout ServiceLimits) -> Void = { _ in }
    ) throws -> (server: WireServer, ida: WireClient) {
        let server = try WireServer(limits: change)
        let ida = try server.user("ida")
        try ida.make("Shelf")
        return (server, ida)
    }

    @Test("A new share costs the same, however many the zone has")
    func cost() throws {
        // Looking at each of the others would take more steps.
        let (server, ida) = try Self.open { $0.decisionStepsMax = 60 }
        for index in 0..<100 { try ida.shareNote("n\(index)", as: "s\(index)") }
        try ida.put(("top", nil), ("middle", "top"), ("leaf", "middle"))
        #expect(try !ida.share("top").isEmpty)
        #expect(try server.problems() == [])
    }

    /// The limits have it looked for downwards, first downwards and then upwards, and upwards.
    @Test("It is there, whichever way it is looked for", arguments: [1_000, 3, 0])
    func ways(_ descendantsReadMax: Int) throws {
        let (server, ida) = try Self.open { $0.descendantsReadMax = descendantsReadMax }
        try ida.put(("top", nil), ("a", "top"), ("b", "top"), ("c", "top"), ("leaf", "c"))
        try ida.put(("other", nil), ("shared", nil))
        try ida.share("leaf")
        try ida.share("shared")
        let above = try ida.tryToShare("top")
        #expect(above.code == "BAD_REQUEST" && above.reason.contains("'leaf' below it"))
        let moved = try ida.modify([move("top", below: "shared")]).records[0]
        #expect(moved.code == "BAD_REQUEST" && moved.reason.contains("shared trees"))
        // What the batch itself brings there counts, and what it takes away from there does not.
        #expect(try ida.modify([move("c", below: "other")]).records[0].code == nil)
        let brought = try ida.tryToShare("top", after: move("c", below: "a"))
        #expect(brought.code == "BAD_REQUEST" && brought.reason.contains("'leaf' below it"))
        #expect(try ida.modify([move("c", below: "b")]).records[0].code == nil)
        #expect(try ida.tryToShare("top").code == "BAD_REQUEST")
        let taken = try ida.tryToShare("top", after: move("leaf", below: "other"))
        #expect(taken.code == nil)
        try ida.delete("new share")
        try ida.put(("leaf", "c"))
        // A share that the batch ends is none.
        let ended = try ida.tryToShare(
            "top", after: operation("forceDelete", "share-leaf", type: nil))
        #expect(ended.code == nil)
        #expect(try server.problems() == [])
    }

    @Test("It is there below more records than are read at once")
    func many() throws {
        let (server, ida) = try Self.open()
        try ida.put(("top", nil))
        for start in stride(from: 0, to: 600, by: 200) {
            let children = try ida.modify(
                (start..<start + 200).map {
                    operation("create", "c\($0)", type: "Note", fields: "{}", more: below("top"))
                })
            #expect(children.records.allSatisfy { $0.code == nil })
        }
        try ida.put(("leaf", "c599"))
        try ida.share("leaf")
        #expect(try ida.tryToShare("top").reason.contains("'leaf' below it"))
        try ida.put(("leaf", nil))
        #expect(try ida.tryToShare("top").code == nil)
        #expect(try server.problems() == [])
    }

    @Test("It is there far below")
    func deep() throws {
        let (server, ida) = try Self.open()
        try ida.put(("n0", nil))
        for number in 1...50 { try ida.put(("n\(number)", "n\(number - 1)")) }
        try ida.share("n50")
        #expect(try ida.tryToShare("n0").reason.contains("'n50' below it"))
        #expect(try ida.tryToShare("n30").reason.contains("'n50' below it"))
        try ida.delete("share-n50")
        #expect(try ida.tryToShare("n0").code == nil)
        #expect(try server.problems() == [])
    }

    @Test(
        "It is there though it is damaged, and ends with its root", arguments: [1_000, 0],
        [["leaf"], ["share-leaf"], ["leaf", "share-leaf"]])
    func damaged(_ descendantsReadMax: Int, _ names: [String]) throws {
        let (server, ida) = try Self.open { $0.descendantsReadMax = descendantsReadMax }
        try ida.put(("top", nil), ("leaf", "top"), ("other", nil))
        try ida.share("leaf")
        for name in names {
            try server.damage(name)
            #expect(try ida.record(name).code == "INTERNAL_ERROR")
        }
        #expect(try ida.tryToShare("top").reason.contains("'leaf' below it"))
        let deleted = try ida.modify(
            ["other", "leaf"].map { operation("forceDelete", $0, type: nil) })
        #expect(deleted.records.allSatisfy { $0["deleted"].bool == true }, "\(deleted.text)")
        #expect(try ida.record("share-leaf").code == "NOT_FOUND")
        try ida.put(("leaf", "top"))
        #expect(try ida.tryToShare("top").code == nil)
        let problems = try server.problems()
        #expect(problems == [])
    }

    private func move(_ name: String, below parent: String) -> String {
        operation(
            "forceUpdate", name, type: "Note", fields: "{}", more: WebServicesTests.below(parent))
    }
}

extension WireClient {
    /// Shares a stored record, after another operation of the same batch.
    ///
    /// - Returns: what is answered to the share.
    fileprivate func tryToShare(_ root: String, after other: String? = nil) throws -> AnswerPart {
        let share = shareOperation(
            "create", "new share", root: root, rootTag: try record(root).tag)
        return try #require(try modify([other, share].compactMap { $0 }).records.last)
    }
}
