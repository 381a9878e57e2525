import CloudModel
import Dispatch
import Storage
import Synchronization
import Testing

/// Decisions that take longer than others should wait for: made on a snapshot, checked in the writer.
@Suite("Long decisions beside the writer")
struct BesideWriterTests {
    /// A store that lets a test do something between a decision on a worker and its write.
    final class BetweenStorage: ForwardingStorage {
        let store: any Store
        /// Done before the next write of what was decided, once.
        let between = Mutex<(@Sendable () -> Void)?>(nil)
        /// Whether `between` stays for the writes that come after.
        let isLasting = Atomic(false)
        /// Snapshots that were opened on workers.
        let reads = Atomic(0)
        /// Reads on workers wait while it is locked.
        let gate = Mutex(())
        private let isArmed = Atomic(false)

        init(_ store: any Store) { self.store = store }

        func read<Value>(
            _ load: ReadLoad, _ body: (any StoreSnapshot) throws -> Value
        ) throws -> Value {
            // Requests on workers are told to stop; nobody else is.
            if load.stop != nil {
                gate.withLock { _ in }
                reads.wrappingAdd(1, ordering: .acquiringAndReleasing)
            }
            let value = try store.read(load, body)
            if load.stop != nil { isArmed.store(true, ordering: .releasing) }
            return value
        }

        func write<Value: Sendable>(
            _ load: WriteLoad,
            _ body: @escaping @Sendable (any StoreTransaction) throws -> Value,
            completion: @escaping @Sendable (Result<Value, any Error>) -> Void
        ) {
            // The store's own work writes whenever it gets to it.
            if load.caller != .background,
                isArmed.exchange(false, ordering: .acquiringAndReleasing)
            {
                let isLasting = isLasting.load(ordering: .acquiring)
                let change = between.withLock { between in
                    defer { if !isLasting { between = nil } }
                    return between
                }
                change?()
            }
            store.write(load, body, completion: completion)
        }
    }

    /// A server that decides everything beside the writer, and its store.
    fileprivate struct Scene {
        let plain: WireServer
        let storage: BetweenStorage
        let server: WireServer
        let ida: WireClient

        init(_ change: (inout ServiceLimits) -> Void = { _ in }) throws {
            plain = try WireServer()
            storage = BetweenStorage(try plain.store())
            server = try WireServer(storage: storage) {
                $0.writerMillisecondsMax = 0
                change(&$0)
            }
            ida = try server.user("ida")
            try ida.make("Shelf")
        }

        /// Writes straight into the store, as other requests do meanwhile.
        func meanwhile(_ change: @escaping @Sendable () throws -> Void) {
            storage.between.withLock {
                $0 = {
                    do { try change() } catch { Issue.record("\(error)") }
                }
            }
        }
    }

    private func reference(_ name: String, _ action: String = "VALIDATE") -> String {
        #"{"ref":{"value":{"recordName":"\#(name)","action":"\#(action)"}}}"#
    }

    @Test("What is decided beside the writer comes out as what is decided in it")
    func alike() throws {
        let scene = try Scene()
        let ida = scene.ida
        let made = try ida.modify([
            operation("create", "a", fields: #"{"n":{"value":1}}"#),
            operation("create", "b", fields: reference("a")),
            operation("create", "c", more: #""parent":{"recordName":"a"}"#),
        ])
        #expect(made.records.allSatisfy { $0.code == nil }, "\(made.text)")
        #expect(try ida.delete("a").code == "VALIDATING_REFERENCE_ERROR")
        let conflict = try ida.modify([operation("update", "a", tag: "none")], atomic: false)
        #expect(conflict.records[0].code == "CONFLICT")
        #expect(try ida.record("b")["fields"]["ref"].exists)
        #expect(scene.storage.reads.load(ordering: .acquiring) > 0)
        #expect(try scene.plain.problems() == [])
    }

    @Test("A long decision does not hold another save")
    func others() throws {
        let scene = try Scene()
        let mo = try scene.server.user("mo")
        try scene.ida.save("a")
        let long = scene.storage.gate.withLock { _ in
            // Its decision waits for the gate, in its own time.
            let long = scene.ida.start(
                "private/records/modify",
                #"{"zoneID":{"zoneName":"Shelf"},"operations":["#
                    + operation("forceUpdate", "a") + "]}")
            // Zones are made in the writer, behind what has come before.
            #expect((try? mo.make("Other"))?.status == 200)
            #expect(long.response.isEmpty)
            return long
        }
        #expect(try long.answer().status == 200)
    }

    @Test("A record that another request has saved since the decision is a conflict")
    func movedRecord() throws {
        let scene = try Scene()
        let tag = try scene.ida.save("a", #"{"n":{"value":1}}"#)["recordChangeTag"].string ?? ""
        let between = scene
        scene.meanwhile {
            try between.writeBeside { try $0.rewrite("a", in: "Shelf", of: between.ida.name) }
        }
        let answer = try scene.ida.modify([operation("update", "a", tag: tag)])
        #expect(answer.records[0].code == "CONFLICT", "\(answer.text)")
    }

    @Test("Changes that the decision does not rest on leave it standing")
    func unrelated() throws {
        let scene = try Scene()
        for name in ["a", "b", "c"] { try scene.ida.save(name) }
        let before = scene.storage.reads.load(ordering: .acquiring)
        let between = scene
        scene.meanwhile {
            try between.writeBeside { try $0.rewrite("c", in: "Shelf", of: between.ida.name) }
        }
        let answer = try scene.ida.modify([operation("forceUpdate", "a")])
        #expect(answer.records[0].code == nil, "\(answer.text)")
        // The decision and the look at what has changed before it was handed in.
        #expect(scene.storage.reads.load(ordering: .acquiring) == before + 2)
        #expect(try scene.plain.problems() == [])
    }

    @Test("More changes than the writer looks through are looked through beside it")
    func manyChanges() throws {
        let scene = try Scene { $0.changesRecheckedMax = 1 }
        for name in ["a", "b", "c"] { try scene.ida.save(name) }
        let between = scene
        scene.meanwhile {
            try between.writeBeside {
                try $0.rewrite("b", in: "Shelf", of: between.ida.name)
                try $0.rewrite("c", in: "Shelf", of: between.ida.name)
            }
        }
        let answer = try scene.ida.modify([operation("forceUpdate", "a")])
        #expect(answer.records[0].code == nil, "\(answer.text)")
        #expect(ServiceLimits().changesRecheckedMax == 4_096)
    }

    @Test("A decision that others undo again and again is given up after so many attempts")
    func givenUp() throws {
        let scene = try Scene { $0.decisionAttemptsMax = 3 }
        try scene.ida.save("a")
        let between = scene
        scene.storage.isLasting.store(true, ordering: .releasing)
        scene.meanwhile {
            try between.writeBeside { try $0.rewrite("a", in: "Shelf", of: between.ida.name) }
        }
        let answer = try scene.ida.modify([operation("forceUpdate", "a")])
        #expect(answer.status == 503 && answer.code == "TRY_AGAIN_LATER", "\(answer.text)")
        #expect(ServiceLimits().decisionAttemptsMax == 5)
        scene.storage.isLasting.store(false, ordering: .releasing)
        scene.storage.between.withLock { $0 = nil }
        #expect(try scene.ida.save("a").code == nil)
    }

    @Test("A batch whose reference loses its target meanwhile fails for it")
    func lostTarget() throws {
        let scene = try Scene()
        try scene.ida.save("t")
        let between = scene
        scene.meanwhile {
            try between.writeBeside {
                try $0.writeTombstone("t", in: "Shelf", of: between.ida.name)
            }
        }
        let answer = try scene.ida.modify([operation("create", "s", fields: reference("t"))])
        #expect(answer.records[0].code == "VALIDATING_REFERENCE_ERROR", "\(answer.text)")
        #expect(try scene.plain.problems() == [])
    }

    @Test("A share that comes to lie below a record meanwhile is seen", arguments: [1_000, 0])
    func shareBelow(_ descendantsReadMax: Int) throws {
        let scene = try Scene { $0.descendantsReadMax = descendantsReadMax }
        let ida = scene.ida
        try ida.put(("top", nil), ("middle", "top"), ("branch", nil), ("leaf", "branch"))
        try ida.share("leaf")
        let share = shareOperation("create", "s", root: "top", rootTag: try ida.record("top").tag)
        // It is neither a root nor shared itself.
        scene.meanwhile { try ida.put(("branch", "middle")) }
        let refused = try ida.modify([share]).records[0]
        #expect(refused.reason.contains("'leaf' below it"), "\(refused.raw)")
        try ida.put(("branch", nil))
        #expect(try ida.modify([share]).records[0].code == nil)
        #expect(try scene.plain.problems() == [])
    }

    @Test("A zone that is made anew meanwhile is another zone")
    func otherZone() throws {
        let scene = try Scene()
        let tag = try scene.ida.save("a")["recordChangeTag"].string ?? ""
        let between = scene
        scene.meanwhile { try between.writeBeside { try $0.remake("Shelf", of: between.ida.name) } }
        let answer = try scene.ida.modify([operation("update", "a", tag: tag)], atomic: false)
        #expect(answer.records[0].code == "NOT_FOUND", "\(answer.text)")
        #expect(try scene.ida.save("a").code == nil)
        #expect(try scene.plain.problems() == [])
    }
}

/// Changes of other requests, made straight in a store.
private struct Beside {
    let transaction: any StoreTransaction

    private func location(
        _ name: String, in zone: String, of owner: String
    ) throws -> (RecordName, StoredZone, StoredHead, Int) {
        guard let name = RecordName(name), let zone = ZoneName(zone),
            let owner = UserRecordName(owner),
            let stored = try transaction.zone(named: zone, ofOwnerNamed: owner),
            let head = try transaction.head(of: name, in: stored.number)
        else { throw WireFailure("nothing is there") }
        let bytes = try transaction.current(of: name, in: stored.number) { $0.body.count } ?? 0
        return (name, stored, head, bytes)
    }

    /// Saves a record as it is, at a later position.
    func rewrite(_ name: String, in zone: String, of owner: String) throws {
        let (name, zone, head, bytes) = try location(name, in: zone, of: owner)
        let (type, flags, body) =
            try transaction.current(of: name, in: zone.number) {
                ($0.type, $0.flags, [UInt8]($0.body))
            } ?? (0, [], [])
        _ = try transaction.save([
            NewVersion(
                zone: zone, name: name, position: try transaction.takePosition(), previous: head,
                previousBytes: bytes, previousIsAlive: true, type: type, flags: flags, body: body)
        ])
    }

    func writeTombstone(_ name: String, in zone: String, of owner: String) throws {
        let (name, zone, head, bytes) = try location(name, in: zone, of: owner)
        _ = try transaction.save([
            NewVersion(
                zone: zone, name: name, position: try transaction.takePosition(), previous: head,
                previousBytes: bytes, previousIsAlive: true, type: 0, flags: .tombstone,
                body: Array("{}".utf8))
        ])
    }

    func remake(_ zone: String, of owner: String) throws {
        guard let name = ZoneName(zone), let owner = UserRecordName(owner),
            let stored = try transaction.zone(named: name, ofOwnerNamed: owner)
        else { throw WireFailure("no such zone") }
        try transaction.deleteZone(stored)
        _ = try transaction.makeZone(named: name, ofOwnerNamed: owner)
    }
}

extension BesideWriterTests.Scene {
    fileprivate func writeBeside(_ change: @escaping @Sendable (Beside) throws -> Void) throws {
        try plain.store().writeAndWait { try change(Beside(transaction: $0)) }
    }
}
