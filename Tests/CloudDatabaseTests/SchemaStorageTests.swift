import CloudDatabase
import CloudModel
import Foundation
import SQLiteStorage
import Seeding
import Storage
import Testing

@Suite("The stored schema")
final class SchemaStorageTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "schema-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private func open(_ name: String = "store.sqlite") throws -> SQLiteStore {
        var random = SystemRandomNumberGenerator()
        let drawn = (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }
        return try SQLiteStore(
            path: path(name),
            options: SQLiteStore.Options(
                clock: Clock { 1_000 }, random: { Array(drawn.prefix($0)) }),
            onIndeterminate: { _ in })
    }

    /// The schema without the numbers that the store gives.
    private func plain(_ schema: Schema) -> Schema {
        Schema(
            types: schema.types.mapValues {
                var type = $0
                type.number = 0
                return type
            }, roles: schema.roles.mapValues { _ in 0 })
    }

    private func replace(
        _ store: SQLiteStore, by schema: Schema, who: String = "test"
    ) throws {
        try store.writeAndWait { transaction in
            let difference = SchemaDifference(from: try transaction.schema, to: schema)
            var made = try transaction.schema
            for change in difference.changes { made.apply(change) }
            try transaction.replaceSchema(by: made, who: who, difference: difference.lines)
        }
    }

    private func history(_ store: SQLiteStore, limit: Int = 1_000) throws -> [StoredSchemaChange] {
        try store.read { try $0.schemaHistory(limit: limit) }
    }

    @Test("Any schema in place of any other is there after a restart, under numbers that stay")
    func replacements() throws {
        var random = SeededRandom("schemas")
        var numbers: [RecordTypeName: Int64] = [:]
        for round in 1...40 {
            let store = try open()
            #expect(try store.schema.version == round - 1)
            let schema = random.schema()
            try replace(store, by: schema)
            #expect(plain(try store.schema) == schema)
            #expect(try store.schema.version == round)
            let live = try store.schema
            store.close()
            let again = try open()
            #expect(try again.schema == live)
            again.close()
            for (name, type) in live.types {
                #expect(
                    numbers.updateValue(type.number, forKey: name) ?? type.number == type.number)
            }
            #expect(Set(live.types.values.map(\.number)).count == live.types.count)
            #expect(try StoreCheck(path: path("store.sqlite")).problems() == [])
        }
        #expect(Set(numbers.values).count == numbers.count)
    }

    @Test("The history says who, when and what, the latest first, and the version counts it")
    func schemaHistory() throws {
        let store = try open()
        var schema = try store.schema
        for number in 1...5 {
            let name = try #require(RecordTypeName("T\(number)"))
            schema.types[name] = Schema.RecordType(grants: [:])
            try replace(store, by: schema, who: "user\(number)")
        }
        let found = try history(store, limit: 3)
        #expect(found.map(\.number) == [5, 4, 3])
        #expect(found.map(\.who) == ["user5", "user4", "user3"])
        #expect(found.first?.difference == ["+ type T5"])
        #expect(found.allSatisfy { $0.madeAt == 1_000 })
        #expect(try store.schema.version == 5)
    }

    @Test("A change that fails leaves the schema, the history and the numbers as they were")
    func failures() throws {
        struct Refusal: Error {}
        let store = try open()
        let before = try store.schema
        #expect(throws: Refusal.self) {
            try store.writeAndWait { transaction in
                var schema = try transaction.schema
                if let name = RecordTypeName("T") { schema.types[name] = Schema.RecordType() }
                try transaction.replaceSchema(by: schema, who: "x", difference: ["+ type T"])
                throw Refusal()
            }
        }
        #expect(try store.schema == before)
        #expect(try history(store).isEmpty)
        store.close()
        #expect(try open().schema == before)
    }

    @Test("A hold is there after the commit and after a restart, and ends with its time")
    func holds() throws {
        let store = try open()
        let parts = Schema.Parts(types: [.users], fields: [.users: [.roles]])
        try store.writeAndWait { try $0.hold(parts, until: $0.now + 1) }
        #expect(try store.schema.leaving == parts)
        store.close()
        let again = try open()
        #expect(try again.schema.leaving == parts)
        #expect(try again.writeAndWait { try $0.schema.leaving } == parts)
        try again.writeAndWait { try $0.hold(parts, until: $0.now) }
        #expect(try again.writeAndWait { try $0.schema.leaving.isEmpty })
        try again.writeAndWait { try $0.hold(parts, until: .max) }
        try again.writeAndWait { try $0.hold(Schema.Parts(), until: 0) }
        #expect(try again.schema.leaving.isEmpty)
        #expect(try history(again).isEmpty)
    }

    @Test("A successor has the schema and the history, and neither records nor old numbers")
    func successors() throws {
        let store = try open()
        let name = try #require(RecordTypeName("Old"))
        var schema = try store.schema
        schema.types[name] = Schema.RecordType()
        try replace(store, by: schema)
        let last = try store.writeAndWait { transaction in
            let user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
            _ = try transaction.makeZone(named: .defaultZone, ofOwnerNamed: user)
            return try transaction.takePosition()
        }
        let identity = try store.identity
        store.close()
        var random = SeededRandom("schemas")
        let wanted = random.schema()
        try SQLiteStore.makeSuccessor(
            at: path("next.sqlite"), of: path("store.sqlite"),
            StoreBeginning(
                schema: wanted, moment: 5_000, who: "reset", difference: ["- all data"]),
            random: { [UInt8](repeating: 7, count: $0) })
        let next = try open("next.sqlite")
        #expect(plain(try next.schema) == wanted)
        #expect(try next.identity.tokenKey == identity.tokenKey)
        #expect(try next.identity.incarnation != identity.incarnation)
        #expect(try history(next).map(\.who) == ["reset", "test"])
        #expect(try next.schema.version == 2)
        let position = try next.writeAndWait { transaction in
            #expect(
                try transaction.owner(
                    named: try #require(UserRecordName("_" + String(repeating: "a", count: 32))))
                    == nil)
            return try transaction.takePosition()
        }
        #expect(position > last)
        #expect(try StoreCheck(path: path("next.sqlite")).problems() == [])
    }
}
