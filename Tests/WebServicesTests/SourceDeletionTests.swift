import CloudModel
import SQLiteStorage
import Storage
import Testing

/// What becomes of others' DELETE_SELF references to a public record that is deleted (rulings.md 45).
@Suite("Others' sources of a deleted public record")
struct SourceDeletionTests {
    private let first: WireServer
    private let storage: HeldStorage
    private let server: WireServer
    private let ida: WireClient
    private let bo: WireClient

    init() throws {
        first = try WireServer()
        storage = HeldStorage(try first.store())
        server = try WireServer(storage: storage)
        ida = try server.user("ida")
        bo = try server.user("bo")
        try ida.save("t", zone: nil, in: "public")
    }

    private func save(_ names: [String], to target: String, _ action: String) throws {
        var rest = names[...]
        while !rest.isEmpty {
            let fields = """
                {"ref":{"value":{"recordName":"\(target)","action":"\(action)"}}}
                """
            let answer = try bo.modify(
                rest.prefix(200).map { operation("forceReplace", $0, fields: fields) }, zone: nil,
                in: "public")
            #expect(answer.status == 200)
            rest = rest.dropFirst(200)
        }
    }

    /// Deletes a record as the deletion of a request does that leaves its sources to the queue.
    private func writeTombstone(_ name: String) throws {
        let name = try #require(RecordName(name))
        try storage.writeAndWait { transaction in
            guard
                let zone = try transaction.zone(
                    named: ZoneID.defaultZone.name, ofOwnerNamed: .publicOwner),
                let head = try transaction.head(of: name, in: zone.number)
            else { return }
            let found = try transaction.version(at: head.position, in: zone.number) {
                ($0.body.count, $0.type)
            }
            let (bytes, type) = found ?? (0, 0)
            let position = try transaction.takePosition()
            _ = try transaction.save(
                NewVersion(
                    zone: zone, name: name, position: position, previous: head,
                    previousBytes: bytes,
                    previousIsAlive: true, type: type, flags: .tombstone,
                    body: Array(#"{"recordName":"\#(name.text)","deleted":true}"#.utf8)))
            try transaction.enqueue(
                .deleteSources(of: name, in: zone.number, deletedAt: position))
        }
    }

    private func alive(_ names: [String]) throws -> [String] {
        try bo.lookup(names, zone: nil, in: "public").json["records"].elements
            .filter { $0.code == nil }.compactMap(\.name)
    }

    @Test("They go in steps after it, with what refers to them, as any deletion does")
    func goes() throws {
        let names = (0..<150).map { "s\($0)" }
        try save(names, to: "t", "DELETE_SELF")
        try save(["below"], to: "s7", "DELETE_SELF")
        try save(["plain"], to: "s8", "NONE")
        try writeTombstone("t")
        #expect(try alive(names).count == 150)
        #expect(try storage.doStep())
        let left = try alive(names).count
        #expect(left > 0 && left < 150)
        while try storage.doStep() {}
        #expect(try alive(names) == [])
        #expect(try alive(["below", "plain"]) == ["plain"])
        #expect(try first.problems() == [])
    }

    @Test("One saved since stays, whether it still refers to the name or not")
    func savedSince() throws {
        try save(["a", "b", "c"], to: "t", "DELETE_SELF")
        try writeTombstone("t")
        try save(["a"], to: "t", "DELETE_SELF")
        try bo.save("b", zone: nil, in: "public")
        while try storage.doStep() {}
        #expect(try alive(["a", "b", "c"]) == ["a", "b"])
    }

    @Test("A target made anew meanwhile keeps those made for it, and not those of the old one")
    func madeAnew() throws {
        try save(["old"], to: "t", "DELETE_SELF")
        try writeTombstone("t")
        try ida.save("t", zone: nil, in: "public")
        try save(["new"], to: "t", "DELETE_SELF")
        while try storage.doStep() {}
        #expect(try alive(["t", "old", "new"]) == ["t", "new"])
        #expect(try first.problems() == [])
    }

    @Test("One that its own creator's VALIDATE holds stays, one that a stranger's holds goes")
    func held() throws {
        try save(["mine", "strange"], to: "t", "DELETE_SELF")
        try save(["holder"], to: "mine", "VALIDATE")
        let cy = try server.user("cy")
        try cy.save(
            "stranger", #"{"ref":{"value":{"recordName":"strange","action":"VALIDATE"}}}"#,
            zone: nil, in: "public")
        try writeTombstone("t")
        while try storage.doStep() {}
        #expect(try alive(["mine", "strange", "holder"]) == ["mine", "holder"])
    }

    @Test("A stop in the middle is gone on with when the store is opened again")
    func goesOn() throws {
        let names = (0..<60).map { "s\($0)" }
        try save(names, to: "t", "DELETE_SELF")
        try writeTombstone("t")
        #expect(try storage.doStep())
        #expect(try !alive(names).isEmpty)
        storage.forget()
        let reopened = try WireServer(storage: storage)
        while try storage.doStep() {}
        _ = reopened
        #expect(try alive(names) == [])
        #expect(try first.problems() == [])
    }
}
