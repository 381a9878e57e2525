import AssetStorage
import CloudModel
import Cryptography
import Seeding
import Storage
import Synchronization
import Testing

@testable import Backups

/// Objects in memory, of which nothing can be stored any more after so many changes: as if the process were killed.
private final class ObjectsInMemory: BackupObjects {
    private struct State {
        var objects: [String: [UInt8]] = [:]
        var changesLeft = Int.max
        var stored = 0
    }

    struct Killed: Error {}

    private let state = Mutex(State())

    func allow(changes: Int) { state.withLock { $0.changesLeft = changes } }
    var stored: Int { state.withLock { $0.stored } }
    var all: [String: [UInt8]] { state.withLock { $0.objects } }

    func change(_ name: String, _ body: (inout [UInt8]) -> Void) {
        state.withLock { body(&$0.objects[name, default: []]) }
    }

    private func change(_ body: (inout State) -> Void) throws {
        try state.withLock { state throws(Killed) in
            guard state.changesLeft > 0 else { throw Killed() }
            state.changesLeft -= 1
            body(&state)
        }
    }

    func put(_ name: String, _ bytes: [UInt8]) throws {
        try change {
            $0.objects[name] = bytes
            $0.stored += bytes.count
        }
    }

    func read(_ name: String, _ stretch: Range<Int>?) throws -> [UInt8]? {
        guard let bytes = state.withLock({ $0.objects[name] }) else { return nil }
        guard let stretch else { return bytes }
        guard stretch.upperBound <= bytes.count else { throw BackupFailure("too short") }
        return Array(bytes[stretch])
    }

    func list(_ prefix: String) throws -> [BackupObject] {
        state.withLock { state in
            state.objects.filter { $0.key.hasPrefix(prefix) }
                .map { BackupObject(name: $0.key, byteCount: $0.value.count) }
                .sorted { $0.name < $1.name }
        }
    }

    func delete(_ name: String) throws { try change { $0.objects[name] = nil } }
}

@Suite("Backups that share what has not changed")
final class BackupRepositoryTests {
    private let objects = ObjectsInMemory()
    private let random = RandomSource.system
    private var seeded = SeededRandom("backups")
    private var now: Milliseconds = 1_800_000_000_000
    /// What the parts hold now.
    private var files: [String: [UInt8]] = [:]
    /// How many bytes were read to make a backup.
    private var read = 0

    private func key(_ byte: UInt8?) throws -> BackupKey {
        guard let byte else { return BackupKey(random: random) }
        return try #require(BackupKey([UInt8](repeating: byte, count: 32), random: random))
    }

    private func repository(_ byte: UInt8? = 7, owner: String = "me") throws -> BackupRepository {
        try BackupRepository(objects, key: key(byte), random: random, owner: owner)
    }

    private func randomBytes(_ count: Int) -> [UInt8] {
        (0..<count / 8).flatMap { _ in
            withUnsafeBytes(of: UInt64.random(in: 0 ... .max, using: &seeded)) { Array($0) }
        }
    }

    /// Makes a backup of all files; their marks are their lengths and first bytes, as `marks` says.
    private func back(up repository: BackupRepository, marks: [String: [UInt8]] = [:]) throws -> Int
    {
        let new = try repository.begin(at: now, version: "test")
        for (name, bytes) in files.sorted(by: { $0.key < $1.key }) {
            if let mark = marks[name], mark == new.previousMark(of: name) {
                new.keep(name)
                continue
            }
            _ = try new.add(
                name, mark: marks[name],
                NewBackup.Source { offset, count in
                    self.read += count
                    return Array(bytes[Int(offset)..<min(bytes.count, Int(offset) + count)])
                })
        }
        let stored = try new.finish()
        try repository.sweep(now: now)
        return stored
    }

    private func contents(
        _ repository: BackupRepository, at moment: Milliseconds
    ) throws -> [String: [UInt8]] {
        let backup = repository.contents(of: try #require(try repository.last(at: moment)))
        var found: [String: [UInt8]] = [:]
        for name in backup.names { try backup.read(name) { found[name, default: []] += $0 } }
        return found
    }

    @Test(
        "Of a large file that has changed in one place one piece is stored again, and an unchanged one is not read"
    )
    func increments() throws {
        let repository = try repository()
        files = ["large": randomBytes(80 << 20), "other": randomBytes(8 << 20)]
        let marks: [String: [UInt8]] = ["other": [1]]
        #expect(try back(up: repository, marks: marks) > 88 << 20)
        now += 60_000
        files["large"]?[12_345_678] ^= 1
        read = 0
        let stored = try back(up: repository, marks: marks)
        #expect((65_536..<200_000).contains(stored), "\(stored)")
        #expect((80 << 20...81 << 20).contains(read), "\(read)")
        #expect(try contents(repository, at: now) == files)
        now += 60_000
        #expect(try back(up: repository, marks: marks) < 10_000)
    }

    @Test(
        "Two hundred runs that are killed at any change leave every finished backup good, and the next one is made"
    )
    func kills() throws {
        let repository = try repository()
        var finished: [Milliseconds: [String: [UInt8]]] = [:]
        files = ["a": randomBytes(3 << 20), "b": randomBytes(200_000)]
        var kills = 0
        while kills < 200 {
            now += Milliseconds.random(in: 1_000...4_000_000, using: &seeded)
            for name in ["a", "b", "c"] where Bool.random(using: &seeded) {
                var bytes = files[name] ?? []
                let change = randomBytes(Int.random(in: 8...300_000, using: &seeded))
                let at = Int.random(in: 0...bytes.count, using: &seeded)
                bytes.replaceSubrange(at..<min(bytes.count, at + change.count), with: change)
                files[name] = bytes
            }
            let changes = Int.random(in: 0...6, using: &seeded)
            objects.allow(changes: changes)
            do {
                _ = try back(up: repository)
            } catch is ObjectsInMemory.Killed { kills += 1 }
            objects.allow(changes: .max)
            let there = Set(try repository.moments())
            if there.contains(now) { finished[now] = files }
            finished = finished.filter { there.contains($0.key) }
            #expect(there == Set(finished.keys))
        }
        for (moment, files) in finished { #expect(try contents(repository, at: moment) == files) }
        now += 1
        _ = try back(up: repository)
        #expect(try contents(repository, at: .max) == files)
        // Nothing is left of those that came to nothing.
        let needed = try repository.moments().reduce(into: Set<String>()) {
            try $0.formUnion(#require(try repository.last(at: $1)).packs.keys.map { "packs/\($0)" })
        }
        #expect(try Set(objects.list("packs/").map(\.name)) == needed)
    }

    @Test("What a run that was cut off has stored is gone before the next one stores anything")
    func cutOff() throws {
        let repository = try repository()
        files = ["a": randomBytes(40 << 20)]
        objects.allow(changes: 2)
        #expect(throws: ObjectsInMemory.Killed.self) { try self.back(up: repository) }
        objects.allow(changes: .max)
        #expect(try objects.list("packs/").count == 2)
        _ = try repository.begin(at: now, version: "test")
        #expect(try objects.list("packs/").isEmpty)
    }

    @Test("A run that is to end ends before the next piece, and there is no backup")
    func stopped() throws {
        let repository = try repository()
        let isOver = Mutex(false)
        let new = try repository.begin(at: now, version: "test") { isOver.withLock { !$0 } }
        #expect(throws: BackupFailure.self) {
            _ = try new.add(
                "a", mark: nil,
                NewBackup.Source { offset, count in
                    isOver.withLock { $0 = offset > 0 }
                    return [UInt8](repeating: 1, count: count)
                })
        }
        #expect(try repository.moments().isEmpty)
    }

    @Test("A sealed backup shows nothing of what it holds, and opens by its key alone")
    func sealed() throws {
        let secret = Array("a record that nobody may read".utf8)
        files = [
            "store/production/iCloud.secret": Array(repeating: secret, count: 5_000).flatMap { $0 }
        ]
        _ = try back(up: repository(7))
        for (name, bytes) in objects.all {
            #expect(!name.contains("secret"))
            #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
            #expect(!String(decoding: bytes, as: UTF8.self).contains("nobody"))
        }
        #expect(throws: BackupFailure.self) { try self.repository(8) }
        #expect(throws: BackupFailure.self) { try self.repository(nil) }
        #expect(try contents(repository(7), at: .max) == files)
    }

    @Test(
        "Whatever bit of whatever object is flipped, no other bytes than those that were backed up come out"
    )
    func flipped() throws {
        for byte in [UInt8(7), nil] {
            for name in objects.all.keys { try objects.delete(name) }
            files = ["a": randomBytes(200_000), "b": randomBytes(10_000)]
            _ = try back(up: repository(byte))
            for _ in 0..<150 {
                let (name, bytes) = try #require(objects.all.randomElement(using: &seeded))
                let at = Int.random(in: 0..<bytes.count, using: &seeded)
                objects.change(name) { $0[at] ^= 1 << UInt8.random(in: 0..<8, using: &seeded) }
                // What cannot be opened is refused; what opens is what it was.
                if let found = try? contents(repository(byte), at: .max) {
                    for (name, bytes) in found {
                        #expect(files[name] == nil || files[name] == bytes)
                    }
                }
                objects.change(name) { $0 = bytes }
            }
            #expect(try contents(repository(byte), at: .max) == files)
        }
    }

    @Test("Another server's backups are not added to")
    func owners() throws {
        files = ["a": [1, 2, 3]]
        _ = try back(up: repository(owner: "me"))
        #expect(throws: BackupFailure.self) { try self.repository(owner: "another") }
    }

    @Test("Packs of which little is in use any more go, and what was in use of them stays")
    func sparse() throws {
        let repository = try repository()
        files = ["a": randomBytes(8 << 20)]
        for _ in 0..<60 {
            _ = try back(up: repository)
            now += 40 * 86_400_000
            let at = Int.random(in: 0..<7 << 20, using: &seeded)
            files["a"]?.replaceSubrange(at..<at + (1 << 20), with: randomBytes(1 << 20))
        }
        _ = try back(up: repository)
        let kept = try objects.list("packs/").reduce(0) { $0 + $1.byteCount }
        // Ten backups are of the last year, each with a megabyte of its own.
        #expect(kept < 40 << 20, "\(kept)")
        #expect(try contents(repository, at: .max) == files)
    }

    @Test("Of two copies of a folder the one that began the last run goes on, the other is refused")
    func copies() throws {
        let repository = try repository()
        var first: [String] = []
        for _ in 0..<3 { try repository.takeTurn(noted: first) { first = $0 } }
        var second = first
        try repository.takeTurn(noted: second) { second = $0 }
        #expect(throws: BackupFailure.self) {
            try repository.takeTurn(noted: first) { first = $0 }
        }
        #expect(try !repository.isLast(first) && repository.isLast(second))
        try repository.takeTurn(noted: second) { second = $0 }
        // One that has noted nothing, as a restored folder.
        #expect(throws: BackupFailure.self) { try repository.takeTurn(noted: []) { _ in } }
        // Somebody has decided for the first one.
        try objects.delete("turn")
        try repository.takeTurn(noted: first) { first = $0 }
        #expect(throws: BackupFailure.self) {
            try repository.takeTurn(noted: second) { second = $0 }
        }
    }

    @Test("A run that ends while it takes its turn, wherever that is, is no other folder's")
    func endedTurns() throws {
        struct Ended: Error {}
        let repository = try repository()
        var noted: [String] = []
        for step in 0..<300 {
            objects.allow(changes: step % 4 == 1 ? 0 : .max)
            var notes = 0
            do {
                try repository.takeTurn(noted: noted) {
                    notes += 1
                    if (step % 4 == 2 && notes == 1) || (step % 4 == 3 && notes == 2) {
                        throw Ended()
                    }
                    noted = $0
                }
                #expect(step % 4 == 0)
            } catch is BackupFailure {
                Issue.record("its own turn was refused in step \(step)")
            } catch {
                #expect(step % 4 != 0)
            }
            objects.allow(changes: .max)
            #expect(try repository.isLast(noted))
        }
    }
}
