import AssetStorage
import CloudDatabase
import CloudModel
import Foundation
import Seeding
import Testing

@Suite("What assets take, and what becomes of them")
struct AssetCollectionTests {
    private static func field(_ value: AnswerPart) -> String {
        "{\"photo\":{\"value\":\(value.raw),\"type\":\"ASSETID\"}}"
    }

    /// Removes all that may go: receipts that have expired, and what has been unused for a day.
    private func collect(_ server: WireServer) throws {
        try server.collect(olderThan: server.clock.now)
        let collection = CollectAssets(try server.store(), assetStore: try server.assetStore())
        while try collection.removeUnused(since: server.clock.now - 86_400_000) {}
    }

    @Test(
        "Replaced, removed, deleted and never used files go after the grace period, held ones stay")
    func collection() throws {
        let server = try WireServer()
        let ida = try server.user()
        try ida.make("Shelf", "Attic")
        let values = try (0..<7).map { try ida.asset(pattern(1_000, seed: UInt64($0))) }
        _ = try ida.save("replaced", Self.field(values[0]))
        _ = try ida.save("replaced", Self.field(values[1]))
        _ = try ida.save("cleared", Self.field(values[2]))
        _ = try ida.save("cleared", "{\"photo\":{\"value\":null}}")
        _ = try ida.save("deleted", Self.field(values[3]))
        try ida.delete("deleted")
        _ = try ida.save("attic", Self.field(values[4]), zone: "Attic")
        try ida.remove("Attic")
        // One file in two records: it stays as long as one of them.
        for name in ["first", "second"] { _ = try ida.save(name, Self.field(values[5])) }
        try ida.delete("first")
        #expect(try server.problems().isEmpty)
        try collect(server)
        #expect(try server.assetFiles().count == 7, "receipts keep them all")
        server.clock.advance(86_400_000 + 1_000)
        try collect(server)
        #expect(try server.assetFiles().count == 2)
        #expect(try server.problems().isEmpty)
        for name in ["replaced", "second"] {
            let url = try ida.record(name)["fields"]["photo"]["value"]["downloadURL"].string ?? ""
            #expect(try ida.download(url).bytes.count == 1_000)
        }
        // What has gone can come again.
        _ = try ida.save("again", Self.field(ida.asset(pattern(1_000, seed: 6))))
        #expect(try server.problems().isEmpty)
    }

    @Test("Files that no row stands for, as a crash leaves them, go when they are old")
    func stray() throws {
        let server = try WireServer()
        let ida = try server.user()
        let held = try ida.asset(pattern(10))
        _ = try ida.save("a", Self.field(held), zone: nil)
        let assetStore = try server.assetStore()
        for seed in 1...250 {
            let upload = try assetStore.storage.begin(expectedBytes: 0)
            try pattern(20, seed: UInt64(seed)).withUnsafeBytes { try upload.append($0) }
            try upload.place()
        }
        let collection = CollectAssets(try server.store(), assetStore: assetStore)
        while try collection.removeStray(placedBefore: 0, now: 0) {}
        #expect(try server.assetFiles().count == 251)
        let later = Milliseconds(Date().timeIntervalSince1970 * 1_000) + 10_000
        while try collection.removeStray(placedBefore: later, now: later) {}
        #expect(try server.assetFiles().count == 1)
    }

    @Test("Assets count for the owner, once a record, and a quota refuses the save, not the upload")
    func quota() throws {
        let server = try WireServer { $0.userQuotaBytes = 100_000 }
        let ida = try server.user()
        let value = try ida.asset(pattern(40_000))
        #expect(try ida.save("a", Self.field(value), zone: nil).code == nil)
        let twice = "{\"p\":{\"value\":\(value.raw)},\"q\":{\"value\":\(value.raw)}}"
        #expect(try ida.save("b", twice, zone: nil).code == nil)
        #expect(try ida.save("c", Self.field(value), zone: nil).code == "QUOTA_EXCEEDED")
        // What is replaced makes room for what comes.
        #expect(try ida.save("b", Self.field(ida.asset(pattern(50_000))), zone: nil).code == nil)
        #expect(
            try ida.save("b", Self.field(ida.asset(pattern(90_000))), zone: nil).code
                == "QUOTA_EXCEEDED")
        try ida.delete("a", zone: nil)
        #expect(try ida.save("b", Self.field(ida.asset(pattern(90_000))), zone: nil).code == nil)
        #expect(try server.problems().isEmpty)
    }

    @Test("Random saves, copies and deletions always count right")
    func counting() throws {
        var generator = SeededRandom("asset counting")
        let server = try WireServer()
        let ida = try server.user()
        try ida.make("Shelf", "Attic")
        let values = try (0..<6).map { try ida.asset(pattern(100 + $0, seed: UInt64($0))).raw }
        for step in 0..<150 {
            let zone = Bool.random(using: &generator) ? "Shelf" : "Attic"
            let operations = (0..<3).map { index in
                let name = "r\(index * 3 + Int.random(in: 0..<3, using: &generator))"
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    return operation("forceDelete", name, type: nil)
                }
                let picked = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
                    values.randomElement(using: &generator) ?? ""
                }
                return operation(
                    ["forceReplace", "forceUpdate"].randomElement(using: &generator) ?? "",
                    name, type: "Cup",
                    fields:
                        "{\"pages\":{\"value\":[\(picked.joined(separator: ","))],\"type\":\"ASSETID_LIST\"}}"
                )
            }
            #expect(try ida.modify(operations, zone: zone).status == 200)
            if step == 100 {
                try ida.remove("Attic")
                try ida.make("Attic")
                try server.collect(olderThan: 0)
            }
        }
        #expect(try server.problems().isEmpty)
    }
}
