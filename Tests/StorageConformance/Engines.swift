import CloudModel
import Foundation
import Storage
import Synchronization

/// A server's data under test, in a folder of their own.
final class EngineTestData: Sendable {
    static let container = TestStore.name(ContainerID("iCloud.Home"))
    static let key = StoreKey(container, .development)

    let testStore: TestStore
    let factory: any EngineFactory
    private let opened: Mutex<any StorageEngine>

    init(_ testStore: TestStore, _ name: String = "data") throws {
        self.testStore = testStore
        factory = try testStore.location.factory(name)
        opened = Mutex(try Self.open(factory, testStore))
    }

    private static func open(
        _ factory: any EngineFactory, _ testStore: TestStore
    ) throws -> any StorageEngine {
        try factory.open(
            EngineOptions(
                clock: testStore.clock.clock,
                random: { count in (0..<count).map { _ in .random(in: 0...255) } },
                report: { _, _ in }, onIndeterminate: { _ in }))
    }

    var engine: any StorageEngine { opened.withLock { $0 } }

    /// Ends the engine, whose stores are closed, and opens it as the next start does.
    func restart() throws {
        engine.close()
        let engine = try Self.open(factory, testStore)
        opened.withLock { $0 = engine }
    }

    func makeContainer() throws {
        try engine.catalog.add(ContainerRecord(id: Self.container, createdAt: 1))
    }

    /// Runs a body on the store, opened for it alone.
    @discardableResult
    func withStore<Value>(_ body: (any EngineStore) throws -> Value) throws -> Value {
        let store = try engine.open(Self.key, notices: CommitNotices())
        defer { _ = engine.close(Self.key, isUnused: true) }
        return try body(store)
    }

    /// Makes a zone of the first user's, who is made with their first.
    @discardableResult
    func makeZone(_ name: String) throws -> Position {
        try withStore { store in
            try store.writeAndWait { transaction in
                try transaction.makeZone(
                    named: TestStore.zone(name), ofOwnerNamed: TestStore.user(1)
                ).created
            }
        }
    }

    /// Finishes what was cut short; of which stores others are to remove what they keep.
    func recovered() throws -> Set<StoreKey> {
        var told: Set<StoreKey> = []
        try engine.recover { key, _ in told.insert(key) }
        return told
    }

    var zones: [String] {
        get throws {
            try withStore { store in
                try store.read { snapshot in
                    guard let owner = try snapshot.owner(named: TestStore.user(1)) else {
                        return []
                    }
                    return try snapshot.zones(of: owner.number).map(\.name.text)
                }
            }
        }
    }

    /// The stores that the engine knows.
    var stores: [StoreKey] {
        get throws { try engine.stores(ListRequest()).items.map(\.key) }
    }

    /// Fails when the engine's own check finds anything.
    func check() throws {
        try expect(engine.problems(of: .catalog, lossesSince: 0), is: [])
        for key in try stores {
            try expect(engine.problems(of: .store(key), lossesSince: 0), is: [])
        }
        engine.close()
    }
}

// All of a server's data.
extension StoragePromise {
    static let engines = storesOfEngines + endsOfEngines + copiesOfEngines

    private static let storesOfEngines = [
        StoragePromise("A store is known once it was opened, and to the next start") { testStore in
            try expect(!testStore.location.factory("empty").hasData())
            let test = try EngineTestData(testStore)
            let key = EngineTestData.key
            try expect(test.factory.hasData())
            try expectFailure(CatalogRefusal.self, where: { $0 == .containerUnknown }) {
                try test.withStore { _ in }
            }
            try test.makeContainer()
            try expect(test.stores.isEmpty)
            try expect(!test.engine.isMissing(key))
            try test.makeZone("a")
            for _ in 0..<2 {
                try expect(test.stores, is: [key])
                try expect(!test.engine.isMissing(key))
                let absent = StoreKey(key.container, .production)
                try expect(
                    test.engine.examine([absent, key]).map { try $0.get() }, is: [.unknown, .there])
                let known = try require(test.engine.stores(ListRequest()).items.first)
                try expect(known.isThere && !known.isLeftOpen)
                try expect(!test.factory.words.location(.store(key)).isEmpty)
                try expect(test.zones, is: ["a"])
                try test.restart()
            }
            try test.check()
        },
        StoragePromise("A store that comes and goes goes on with its life and its positions") {
            testStore in
            let test = try EngineTestData(testStore)
            try test.makeContainer()
            let first = try test.makeZone("a")
            let identity = try test.withStore { try $0.identity }
            try expect(try test.makeZone("b"), is: first + 1)
            let again = try test.withStore { try $0.identity }
            try expect(again.incarnation, is: identity.incarnation)
            try test.restart()
            try expect(test.makeZone("c") > first + 1)
            try expect(test.withStore { try $0.identity.knows(again.incarnation, through: first) })
            try test.check()
        },
        StoragePromise("An open store tells how it fares; a closed one takes no writes") {
            testStore in
            let test = try EngineTestData(testStore)
            try test.makeContainer()
            let held = try test.withStore { store in
                guard case .well = store.condition else {
                    throw BrokenPromise(description: "a new store is not well")
                }
                return store
            }
            try expectFailure(StorageFailure.self) { try held.writeAndWait { _ in } }
            try test.check()
        },
        StoragePromise("When a store is due is kept, and its end says when its work is") {
            testStore in
            let test = try EngineTestData(testStore)
            try test.makeContainer()
            try test.makeZone("a")
            func due() throws -> [Milliseconds?] {
                try test.engine.stores(ListRequest()).items.map(\.due)
            }
            try expect(due(), is: [nil])
            let stray = StoreKey(TestStore.name(ContainerID("iCloud.none")), .production)
            try test.engine.setDue([
                KnownStore(key: EngineTestData.key, due: 77), KnownStore(key: stray, due: 5),
            ])
            try test.restart()
            try expect(due(), is: [77])
            let store = try test.engine.open(EngineTestData.key, notices: CommitNotices())
            try store.writeAndWait { try $0.enqueue(.collect) }
            let next = try require(test.engine.close(EngineTestData.key, isUnused: true))
            try expect(next <= testStore.clock.now)
            try test.check()
        },
        StoragePromise("Figures have a name each, and count what closed stores have done") {
            testStore in
            let test = try EngineTestData(testStore)
            try test.makeContainer()
            func observed() throws -> [String: UInt64] {
                var counts: [String: UInt64] = [:]
                for figure in test.engine.figures {
                    try expect(counts[figure.name] == nil, "\(figure.name) is there twice")
                    guard case .distribution(let values) = figure.value else {
                        counts[figure.name] = 0
                        continue
                    }
                    try expect(values.counts.count, is: values.bounds.count + 1)
                    try expect(values.bounds == values.bounds.sorted())
                    counts[figure.name] = values.counts.reduce(0, +)
                }
                return counts
            }
            try test.makeZone("a")
            let before = try observed()
            try test.makeZone("b")
            let after = try observed()
            try expect(before.keys == after.keys && !before.isEmpty)
            try expect(before.allSatisfy { $0.value <= after[$0.key] ?? 0 })
            try expect(before.contains { $0.value < after[$0.key] ?? 0 }, "nothing was counted")
            try test.check()
        },
    ]

    private static let endsOfEngines = [
        StoragePromise("A store that is reset has a schema and its history, and new positions") {
            testStore in
            let test = try EngineTestData(testStore)
            try test.makeContainer()
            let last = try test.makeZone("a")
            let life = try test.withStore { try $0.identity }
            var schema = Schema()
            schema.types[TestStore.type] = Schema.RecordType()
            try test.engine.reset(
                EngineTestData.key,
                to: StoreBeginning(
                    schema: schema, moment: 5, who: "trial", difference: ["+ type Note"]))
            try expect(test.recovered(), is: [])
            try expect(test.zones.isEmpty)
            try test.withStore { store in
                try expect(store.schema.types[TestStore.type] != nil)
                let change = try store.read { try $0.schemaHistory(limit: 1).first }
                try expect(change?.who, is: "trial")
                try expect(!store.identity.knows(life.incarnation, through: last))
            }
            try expect(test.makeZone("b") > last)
            try test.restart()
            try expect(test.zones, is: ["b"])
            try test.check()
        },
        StoragePromise("What a removal has left of one environment does not go with another's") {
            testStore in
            let test = try EngineTestData(testStore)
            let other = StoreKey(EngineTestData.container, .production)
            try test.makeContainer()
            try test.makeZone("a")
            _ = try test.engine.open(other, notices: CommitNotices())
            _ = test.engine.close(other, isUnused: true)
            try expectFailure(StorageFailure.self) {
                try test.engine.remove(EngineTestData.container) { _ in throw StorageFailure.full }
            }
            try test.makeContainer()
            try test.makeZone("b")
            try test.restart()
            try expect(test.recovered(), is: [other])
            try expect(test.recovered(), is: [])
            try expect(test.zones, is: ["b"])
            try test.check()
        },
        StoragePromise("Of a container that is removed nothing is left, for its name's next either")
        {
            testStore in
            for isMadeAtOnce in [true, false] {
                let test = try EngineTestData(testStore, "removal-\(isMadeAtOnce)")
                try test.makeContainer()
                try test.makeZone("a")
                // What others keep of it cannot be removed at first.
                try expectFailure(StorageFailure.self) {
                    try test.engine.remove(EngineTestData.container) { _ in
                        throw StorageFailure.full
                    }
                }
                try expect(
                    test.engine.catalog.containers(ListRequest()).items.isEmpty
                        && test.stores.isEmpty)
                try expectFailure(CatalogRefusal.self) { try test.withStore { _ in } }
                if isMadeAtOnce {
                    try test.makeContainer()
                    try test.makeZone("b")
                }
                try test.restart()
                if isMadeAtOnce {
                    try expect(!test.recovered().contains(EngineTestData.key))
                } else {
                    try test.engine.recover { _, _ in throw StorageFailure.full }
                    try expect(test.recovered().contains(EngineTestData.key))
                }
                try expect(test.recovered(), is: [])
                if !isMadeAtOnce { try test.makeContainer() }
                try expect(test.zones, is: isMadeAtOnce ? ["b"] : [])
                try test.check()
            }
            let test = try EngineTestData(testStore)
            try expectFailure(CatalogRefusal.self, where: { $0 == .containerUnknown }) {
                try test.engine.remove(EngineTestData.container) { _ in }
            }
            try test.check()
        },
    ]

    private static let copiesOfEngines = [
        StoragePromise("An image is of one moment; what is restored from it begins another life") {
            testStore in
            let test = try EngineTestData(testStore)
            let key = EngineTestData.key
            try test.makeContainer()
            let content = AssetContent(
                digest: try require(AssetDigest([UInt8](repeating: 7, count: 32))), size: 9)
            let receipt = StoredReceipt(content: content, identity: [1], expires: .max)
            try test.makeZone("a")
            try test.withStore { store in
                try store.writeAndWait { try $0.addReceipt([1], receipt) }
            }
            let (bytes, life, after) = try test.withStore { store in
                let life = try store.identity
                return try test.engine.read(.store(key)) { image in
                    let after = try store.writeAndWait { transaction in
                        try transaction.makeZone(
                            named: TestStore.zone("b"), ofOwnerNamed: TestStore.user(1)
                        )
                        .created
                    }
                    let page = try image.assets(after: nil, limit: 5)
                    try expect(page.map(\.content) == [content] && page.allSatisfy(\.isNeeded))
                    try expect(image.assets(after: content.digest, limit: 5).isEmpty)
                    try expect(image.problems(), is: [])
                    return (try Self.bytes(of: image), life, after)
                }
            }
            let page = try test.engine.assets(of: key, after: nil, limit: 5)
            try expect(page.map(\.content) == [content])
            let catalog = try test.engine.read(.catalog) { try Self.bytes(of: $0) }
            try test.check()

            let target = try testStore.location.factory("restored")
            var found: [ReferencedAsset] = []
            try target.restore(
                .store(key), from: { visit in try Self.hand(bytes, to: visit) },
                assets: { found.append($0) })
            try expect(found.map(\.content) == [content] && found.allSatisfy(\.isNeeded))
            try expect(!target.hasData())
            try target.restore(
                .catalog, from: { visit in try Self.hand(catalog, to: visit) },
                assets: { _ in })
            try expect(target.hasData())
            let restored = try EngineTestData(testStore, "restored")
            try expect(restored.stores, is: [key])
            try expect(restored.zones, is: ["a"])
            try restored.withStore { store in
                try expect(store.identity.knows(life.incarnation, through: life.last))
                try expect(!store.identity.knows(life.incarnation, through: after))
            }
            try expect(restored.makeZone("c") > after)
            try restored.check()
        },
        StoragePromise("What a restored catalog numbers comes behind what it has") { testStore in
            let test = try EngineTestData(testStore)
            func add(_ detail: String, to catalog: any CatalogStorage) throws {
                let letter = Letter(
                    purpose: .device, account: nil, address: TestPeople.address("ann"),
                    detail: detail, madeAt: 1)
                try catalog.add(letter, dueAt: 1)
            }
            for detail in ["a", "b", "c"] { try add(detail, to: test.engine.catalog) }
            let bytes = try test.engine.read(.catalog) { try Self.bytes(of: $0) }
            try test.check()
            try testStore.location.factory("restored").restore(
                .catalog, from: { visit in try Self.hand(bytes, to: visit) }, assets: { _ in })
            let restored = try EngineTestData(testStore, "restored")
            try add("d", to: restored.engine.catalog)
            let due = try restored.engine.catalog.dueLetters(to: .email, now: 1, countMax: 9)
            try expect(due.map(\.detail), is: ["a", "b", "c", "d"])
            try restored.check()
        },
        StoragePromise("Damaged bytes are not restored, and leave no data") { testStore in
            let test = try EngineTestData(testStore)
            try test.makeContainer()
            var bytes = try test.engine.read(.catalog) { try Self.bytes(of: $0) }
            for index in bytes.indices where index % 512 < 256 { bytes[index] ^= 0x55 }
            let target = try testStore.location.factory("restored")
            do {
                try target.restore(
                    .catalog, from: { visit in try Self.hand(bytes, to: visit) },
                    assets: { _ in })
                throw BrokenPromise(description: "damaged bytes were restored")
            } catch is any EngineFault {}
            try expect(!target.hasData())
            try test.check()
        },
        StoragePromise("A part whose mark is that of an earlier image is as it was then") {
            testStore in
            let test = try EngineTestData(testStore)
            let part = EnginePart.store(EngineTestData.key)
            try test.makeContainer()
            try test.makeZone("a")
            let mark = try test.engine.read(part) { $0.mark }
            try expect(test.engine.read(part, unless: nil) { _ in true }, is: true)
            try test.makeZone("b")
            try expect(test.engine.read(part, unless: mark) { _ in true }, is: true)
            try test.check()
        },
    ]

    private static func bytes(of image: any PartImage) throws -> [UInt8] {
        var bytes: [UInt8] = []
        let count = 10_000
        while true {
            let more = try image.read(at: Int64(bytes.count), count: count)
            bytes += more
            guard more.count == count else { break }
        }
        try expect(!bytes.isEmpty)
        try expect(image.read(at: Int64(bytes.count), count: 10).isEmpty)
        return bytes
    }

    /// Hands bytes on in two pieces.
    private static func hand(_ bytes: [UInt8], to visit: ([UInt8]) throws -> Void) throws {
        try visit(Array(bytes.prefix(1_000)))
        try visit(Array(bytes.dropFirst(1_000)))
    }
}
