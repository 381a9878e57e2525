import CloudModel
import SQLite
import Seeding
import Storage
import StorageConformance
import Testing

@testable import SQLiteStorage

/// Records are found where they were seen last, and where they are when that is elsewhere.
@Suite("Known positions")
struct PositionCacheTests {
    // MARK: - The cache alone

    @Test("Positions stay known while more and more names come, and the last one counts")
    func growth() {
        var random = SeededRandom("known positions")
        let cache = PositionCache(bytesMax: 2 << 20)
        let hashes = (0..<100_000).map { _ in Int64(bitPattern: random.next()) }
        for (number, hash) in hashes.enumerated() { cache.note(hash, at: Position(number + 1)) }
        func known(_ first: Int) -> Int {
            hashes.enumerated().count {
                cache.position(of: $0.element) == Position(first + $0.offset)
            }
        }
        #expect(known(1) > 90_000)
        for (number, hash) in hashes.enumerated() {
            cache.note(hash, at: Position(number + 200_001))
        }
        #expect(known(200_001) > 90_000)
        #expect(known(1) == 0)
    }

    @Test("Where there is no room for more, the last one is known", arguments: [0, 1, 64, 65_536])
    func limit(bytesMax: Int) {
        var random = SeededRandom("known positions")
        let cache = PositionCache(bytesMax: bytesMax)
        let hashes = (0..<50_000).map { _ in Int64(bitPattern: random.next()) }
        for (number, hash) in hashes.enumerated() {
            let position = Position(number + 1)
            cache.note(hash, at: position)
            #expect(cache.position(of: hash) == (bytesMax < 64 ? nil : position))
        }
        // Each place once: hashes that are alike in the bits of a slot find the same.
        let known = Set(hashes.compactMap { cache.position(of: $0) })
        #expect(known.count <= bytesMax / MemoryLayout<UInt64>.size)
    }

    @Test("Any thread may note and ask at any time")
    func threads() async {
        let cache = PositionCache(bytesMax: 1 << 20)
        await withTaskGroup(of: Int.self) { group in
            for thread in 0..<4 {
                group.addTask {
                    var random = SeededRandom(seed: UInt64(thread))
                    var wrong = 0
                    for _ in 0..<20_000 {
                        // The position says whose it is.
                        let number = random.below(1 << 16)
                        let hash = Int64(number) &* 0x5851_F42D_4C95_7F2D
                        cache.note(hash, at: Position(number + 1))
                        let found = cache.position(of: hash)
                        if let found, found != Position(number + 1) { wrong += 1 }
                    }
                    return wrong
                }
            }
            for await wrong in group { #expect(wrong == 0) }
        }
    }

    // MARK: - In a store

    private static let names = [
        "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "6F9619FF-8B86-4D01-B42D-00CF4FC964FF", "plain",
        #"with"quote"#, #"with\"both"#, "12345678-1234-1234-1234-123456789012",
    ]

    /// A store whose records have the texts that the server makes.
    private struct TextStore {
        let location: SQLiteLocation
        let store: any Store
        let zone: StoredZone
        let type: Int64
        var current: [String: Position] = [:]

        init(nameHashBits: Int) throws {
            location = try SQLiteLocation(nameHashBits: nameHashBits)
            store = try location.openStore()
            let user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
            let name = try #require(ZoneName("Shelf"))
            let note = try #require(RecordTypeName("Note"))
            (zone, type) = try store.writeAndWait { transaction in
                var schema = try transaction.schema
                schema.types[note] = Schema.RecordType()
                try transaction.replaceSchema(by: schema, who: "test", difference: ["+ type Note"])
                let zone = try transaction.makeZone(named: name, ofOwnerNamed: user)
                return (zone, try #require(try transaction.schema.types[note]).number)
            }
        }

        private func text(_ name: String, _ position: Position) -> [UInt8] {
            let escaped = name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
            let owner = "_" + String(repeating: "a", count: 32)
            let stamp = #"{"timestamp":1,"userRecordName":"\#(owner)","deviceID":"iCloud"}"#
            let zoneID = String(decoding: zone.name.identifierJSON(owner: owner), as: UTF8.self)
            return Array(
                (#"{"recordName":"\#(escaped)","recordType":"Note","fields":{},"pluginFields":{},"#
                    + #""recordChangeTag":"\#(ChangeTag.text(position))","created":\#(stamp),"#
                    + #""modified":\#(stamp),"deleted":false,"zoneID":\#(zoneID)}"#).utf8)
        }

        /// Saves a record, deletes it, or lets either be undone.
        mutating func write(_ name: String, isDeletion: Bool = false, isUndone: Bool = false) throws
        {
            struct Undone: Error {}
            let (zone, type, text) = (zone, type, text)
            let recordName = try #require(RecordName(name))
            do {
                current[name] = try store.writeAndWait { transaction in
                    let previous = try transaction.current(of: recordName, in: zone.number) {
                        (
                            head: StoredHead(record: $0.record, position: $0.position),
                            aliveBytes: $0.flags.contains(.tombstone) ? nil : $0.body.count
                        )
                    }
                    let position = try transaction.takePosition()
                    _ = try transaction.save(
                        NewVersion(
                            zone: zone, name: recordName, position: position,
                            previous: previous?.head,
                            previousBytes: previous?.aliveBytes ?? 0,
                            previousIsAlive: previous?.aliveBytes != nil, type: type,
                            flags: isDeletion ? .tombstone : [],
                            body: text(name, position)))
                    if isUndone { throw Undone() }
                    return position
                }
            } catch is Undone {}
        }

        func expectAll() throws {
            try store.read { snapshot in
                for text in PositionCacheTests.names {
                    let name = try #require(RecordName(text))
                    let found = try snapshot.current(of: name, in: zone.number) {
                        #expect(Array($0.body) == self.text(text, $0.position))
                        return $0.position
                    }
                    #expect(found == current[text])
                }
            }
        }
    }

    @Test("A record that was saved or looked up lately is found without a search for its name")
    func known() throws {
        var textStore = try TextStore(nameHashBits: 64)
        defer { textStore.location.remove() }
        try textStore.write("plain")
        try textStore.write(Self.names[0])
        try Connection(path: textStore.location.path, mode: .readWrite).execute("DELETE FROM heads")
        try textStore.expectAll()
    }

    @Test(
        "Whatever was written, undone or seen by others, a name leads to its present version",
        arguments: [64, 3])
    func walk(nameHashBits: Int) throws {
        var random = SeededRandom("known positions")
        var textStore = try TextStore(nameHashBits: nameHashBits)
        defer { textStore.location.remove() }
        for _ in 0..<200 {
            let name = Self.names[random.below(Self.names.count)]
            try textStore.write(
                name, isDeletion: random.below(4) == 0, isUndone: random.below(4) == 0)
            if random.below(3) == 0 { try textStore.expectAll() }
        }
        try textStore.expectAll()
        #expect(try textStore.location.problems() == [])
    }

    @Test(
        "A damaged record is one also where its place is known",
        arguments: [
            "UPDATE version_users SET checksum = checksum + 1",
            "UPDATE version_rows SET content = content || x'00'",
        ])
    func damage(sql: String) throws {
        var textStore = try TextStore(nameHashBits: 64)
        defer { textStore.location.remove() }
        try textStore.write("plain")
        let name = try #require(RecordName("plain"))
        try Connection(path: textStore.location.path, mode: .readWrite).execute(sql)
        try textStore.store.read { snapshot in
            let isDamaged = try snapshot.current(of: name, in: textStore.zone.number) {
                $0.isDamaged
            }
            #expect(isDamaged == true)
        }
    }

    @Test("A reader that began before a save goes on seeing what it saw")
    func previousSnapshots() throws {
        var textStore = try TextStore(nameHashBits: 64)
        defer { textStore.location.remove() }
        try textStore.write("plain")
        let before = textStore.current["plain"]
        let name = try #require(RecordName("plain"))
        try textStore.store.read { snapshot in
            func seen() throws -> Position? {
                try snapshot.current(of: name, in: textStore.zone.number) { $0.position }
            }
            #expect(try seen() == before)
            try textStore.write("plain")
            #expect(try seen() == before)
        }
        try textStore.expectAll()
    }
}
