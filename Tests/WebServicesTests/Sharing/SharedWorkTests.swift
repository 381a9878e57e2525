import CloudModel
import SQLiteStorage
import Storage
import Testing

/// Large trees, which are worked through in steps after the request that shared or moved them.
@Suite("Work on shared trees")
struct SharedWorkTests {
    let first: WireServer
    let storage: HeldStorage
    let server: WireServer
    let ida: WireClient
    let bo: WireClient
    /// 60 records: 6 below the root, 9 below each of these.
    let branches: [String]
    let leaves: [String]

    init() throws {
        first = try WireServer()
        storage = HeldStorage(try first.store())
        server = try WireServer(
            storage: storage,
            limits: {
                $0.shareStepRecordsMax = 7
                // Nothing is waited for that only a step of work brings.
                ($0.sharedPageHoldMilliseconds, $0.indexWaitMilliseconds) = (0, 0)
            })
        ida = try server.user("ida")
        bo = try server.user("bo")
        try ida.make("Shelf")
        branches = (0..<6).map { "b\($0)" }
        leaves = branches.flatMap { branch in (0..<9).map { "\(branch)-\($0)" } }
        var operations = [operation("create", "root", type: "Note", fields: "{}")]
        for branch in branches {
            operations.append(
                operation("create", branch, type: "Note", fields: "{}", more: below("root")))
            for leaf in 0..<9 {
                operations.append(
                    operation(
                        "create", "\(branch)-\(leaf)", type: "Note", fields: "{}",
                        more: below(branch)))
            }
        }
        _ = try ida.modify(operations)
    }

    private var all: [String] { (["root"] + branches + leaves).sorted() }

    @Test("Until a tree is whole, its feed says that there is more, and lookups see all of it")
    func takingUp() throws {
        try bo.join(try ida.share("root"))
        var copy = SharedZone(bo, of: ida)
        #expect(try copy.advance())
        #expect(copy.names.count < all.count)
        #expect(try copy.lookup("b5-8")[0].name == "b5-8")
        let query = "{\(copy.id),\"query\":{\"recordType\":\"Note\"}}"
        #expect(try bo.send("shared/records/query", query).code == "TRY_AGAIN_LATER")
        #expect(try copy.save("new", below: "b5-8").code == nil)
        var steps = 0
        while try storage.doStep() {
            steps += 1
            try copy.advance()
        }
        #expect(steps > 5)
        try copy.catchUp()
        #expect(copy.names == (all + ["new"]).sorted())
        #expect(copy.deletions == [])
        #expect(try first.problems() == [])
    }

    @Test("What leaves a tree is hidden at once, however much it is")
    func leaving() throws {
        storage.release()
        try bo.join(try ida.share("root"))
        var copy = SharedZone(bo, of: ida)
        try copy.catchUp()
        #expect(copy.names == all)
        storage.hold()
        try ida.put(("above", nil))
        var again = copy
        try ida.put(("b1", "above"), ("b2", "above"), ("b3", nil), ("b4", nil))
        for name in ["b1", "b2-0", "b3-8", "b4-4"] {
            #expect(try again.lookup(name)[0].code == "NOT_FOUND", "\(name)")
            #expect(try again.save(name, below: "root").code == "NOT_FOUND")
        }
        #expect(try again.page()["moreComing"].bool == true)
        #expect(
            try SharedZone(bo, of: ida).page()["records"].elements.allSatisfy {
                !["b1", "b2", "b3", "b4"].contains(($0.name ?? "").prefix(2))
            })
        storage.release()
        try again.catchUp()
        let left =
            (["root"] + ["b0", "b5"] + leaves.filter { "05".contains($0.dropFirst().first!) })
        #expect(again.names == left.sorted())
        #expect(try first.problems() == [])
    }

    @Test("What comes back before the work has reached it is missed by nobody")
    func thereAndBack() throws {
        storage.release()
        try bo.join(try ida.share("root"))
        try ida.put(("above", nil))
        var before = SharedZone(bo, of: ida)
        try before.catchUp()
        storage.hold()
        var during = SharedZone(bo, of: ida)
        try ida.put(("b1", "above"), ("b2", "above"))
        try during.advance(limit: 200)
        try before.advance()
        try storage.doStep()
        try ida.put(("b1", "root"), ("b2", "b1-0"))
        try during.advance(limit: 10)
        try storage.doStep()
        try before.advance(limit: 2)
        try ida.put(("b3", "b2-1"))
        while try storage.doStep() { try during.advance(limit: 3) }
        try before.catchUp(limit: 5)
        try during.catchUp()
        #expect(before.names == all)
        #expect(during.names == all)
        #expect(try first.problems() == [])
    }

    @Test(
        "A first fetch is not told what had left before it began, though that is noted during it",
        arguments: [1, 3, 200])
    func firstFetch(_ limit: Int) throws {
        storage.release()
        try bo.join(try ida.share("root"))
        storage.hold()
        try ida.put(("b1", nil), ("b2", nil))
        var copy = SharedZone(bo, of: ida)
        repeat { try copy.advance(limit: limit) } while try storage.doStep()
        try copy.catchUp(limit: limit)
        #expect(copy.deletions == [])
        #expect(copy.names == all.filter { !["b1", "b2"].contains($0.prefix(2)) })
        // What leaves later is.
        try ida.put(("b3", nil))
        storage.release()
        try copy.catchUp(limit: limit)
        #expect(copy.deletions.sorted() == all.filter { $0.hasPrefix("b3") })
    }

    @Test("Work goes on after a restart where it was")
    func restart() throws {
        try bo.join(try ida.share("root"))
        try storage.doStep()
        try storage.doStep()
        storage.forget()
        let reopened = try WireServer(storage: storage)
        var copy = SharedZone(bo, of: ida)
        #expect(try copy.advance())
        #expect(copy.names.count < all.count)
        storage.release()
        try copy.catchUp()
        _ = reopened
        #expect(copy.names == all)
        #expect(try first.problems() == [])
    }

    @Test("Sharing that ends before the tree was whole leaves nothing to see, and can begin again")
    func endsEarly() throws {
        let link = try ida.share("root")
        try bo.join(link)
        var copy = SharedZone(bo, of: ida)
        try copy.advance()
        try storage.doStep()
        try ida.delete("share-root")
        try copy.catchUp()
        #expect(copy.names == [])
        #expect(try ida.share("root") == link)
        try bo.join(link)
        storage.release()
        try copy.catchUp()
        #expect(copy.names == all)
        #expect(try first.problems() == [])
    }

    @Test("An empty page waits a little for the work, and is sent when it has waited enough")
    func held() throws {
        let slow = try WireServer(
            storage: storage,
            limits: {
                $0.shareStepRecordsMax = 7
                $0.sharedPageHoldMilliseconds = 60_000
            })
        let (ida, bo) = (try slow.user("ida"), try slow.user("bo"))
        try ida.make("Shelf")
        try ida.put(("top", nil))
        for index in 0..<9 { try ida.put(("t\(index)", "top")) }
        try bo.join(try ida.share("top"))
        let copy = SharedZone(bo, of: ida)
        let page = try copy.page()
        #expect(page["moreComing"].bool == true)
        let token = try #require(page["syncToken"].string)
        let zone = "{\(copy.id),\"syncToken\":\(quoted(token))}"
        let waiting = bo.start("shared/changes/zone", "{\"zones\":[\(zone)]}")
        storage.release()
        let answer = try waiting.answer()
        #expect(!answer.zones[0]["records"].elements.isEmpty)
    }

    @Test("When as many requests wait as may, a further one is answered at once")
    func heldCount() throws {
        let slow = try WireServer(
            storage: storage,
            limits: {
                $0.shareStepRecordsMax = 7
                $0.sharedPageHoldMilliseconds = 3_600_000
                $0.heldPollsMax = 0
            })
        let (ida, bo) = (try slow.user("ida"), try slow.user("bo"))
        try ida.make("Shelf")
        try ida.put(("top", nil))
        for index in 0..<9 { try ida.put(("t\(index)", "top")) }
        try bo.join(try ida.share("top"))
        let copy = SharedZone(bo, of: ida)
        let token = try #require(try copy.page()["syncToken"].string)
        let page = try copy.page(after: token)
        #expect(page["records"].elements.isEmpty)
        #expect(page["moreComing"].bool == true)
        storage.release()
    }

    @Test("A way up that is longer than may be gone is refused")
    func depth() throws {
        let server = try WireServer(limits: { $0.hierarchyDepthMax = 5 })
        let ida = try server.user("ida")
        try ida.make("Shelf")
        try ida.put(("n0", nil), ("x", nil))
        for index in 1...6 { try ida.put(("n\(index)", "n\(index - 1)")) }
        let moved = try ida.modify([
            operation("forceUpdate", "x", type: "Note", fields: "{}", more: below("n6"))
        ]).records[0]
        #expect(moved.code == "BAD_REQUEST")
        #expect(moved.reason.contains("5 parents above it"))
        let near = try ida.modify([
            operation("forceUpdate", "x", type: "Note", fields: "{}", more: below("n2"))
        ]).records[0]
        #expect(near.code == nil)
    }
}
