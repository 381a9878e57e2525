import CloudModel
import SQLite
import SQLiteStorage
import Storage
import StorageConformance
import Testing

/// What must never be false is looked at before it is written, in release builds too.
@Suite("Damage is refused before it spreads")
final class InvariantTests {
    private let location: SQLiteLocation
    private let store: any Store

    init() throws {
        location = try SQLiteLocation()
        store = try location.openStore()
    }

    deinit { location.remove() }

    /// Damages the file behind the store's back, as a faulty disk or another program does.
    private func damage(_ sql: String) throws {
        try Connection(path: location.path, mode: .readWrite).execute(sql)
    }

    private func user(_ digit: Character) throws -> UserRecordName {
        try #require(UserRecordName("_" + String(repeating: digit, count: 32)))
    }

    private func makeZone() throws -> StoredZone {
        let (user, name) = (try user("a"), try #require(ZoneName("Shelf")))
        return try store.writeAndWait { transaction in
            return try transaction.makeZone(named: name, ofOwnerNamed: user)
        }
    }

    @discardableResult
    private func save(_ name: String, in zone: StoredZone) throws -> StoredHead {
        let name = try #require(RecordName(name))
        return try store.writeAndWait { transaction in
            let previous = try transaction.head(of: name, in: zone.number)
            let position = try transaction.takePosition()
            let record = try transaction.save(
                NewVersion(
                    zone: zone, name: name, position: position, previous: previous,
                    previousBytes: previous == nil ? 0 : 1, previousIsAlive: previous != nil,
                    type: 0,
                    flags: [], body: [65]))
            return StoredHead(record: record, position: position)
        }
    }

    private func expectBroken(_ words: String, _ body: () throws -> Void) {
        do {
            try body()
            Issue.record("nothing was refused")
        } catch let broken as BrokenInvariant {
            #expect(broken.description.contains(words))
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("No position is written where the store is further than its writer knows")
    func positionsGoBack() throws {
        let zone = try makeZone()
        try save("a", in: zone)
        try damage("UPDATE progress SET last_position = last_position + 1000000000")
        for _ in 0..<2 {
            expectBroken("positions only grow") { try save("b", in: zone) }
        }
        let name = try #require(RecordName("b"))
        #expect(try store.read { try $0.head(of: name, in: zone.number) } == nil)
        // Whoever opens the store anew goes on behind what it holds.
        location.close(store)
        let again = try location.openStore()
        let last = try again.identity.last
        #expect(try again.writeAndWait { try $0.takePosition() } > last)
    }

    @Test("No version is written over a head that leads to none, or to another record's")
    func headsLeadAstray() throws {
        let zone = try makeZone()
        let one = try save("a", in: zone)
        let two = try save("b", in: zone)
        try damage("UPDATE heads SET position = position + 500 WHERE id = \(one.record.value)")
        expectBroken("a head leads to its version") { try save("a", in: zone) }
        try damage(
            "UPDATE heads SET position = \(two.position) WHERE id = \(one.record.value)")
        expectBroken("a head leads to its version") { try save("a", in: zone) }
        // What is whole goes on being written, and what was damaged is told.
        try save("b", in: zone)
        #expect(try !location.problems().isEmpty)
    }

    /// A share of a tree of one record, with its share record.
    private func makeShare(in zone: StoredZone) throws -> StoredShare {
        let (root, record) = (try save("root", in: zone), try save("share", in: zone))
        return try store.writeAndWait { transaction in
            let share = try transaction.makeShare(
                in: zone.number, record: record.record, root: root.record, publicPermission: .none)
            for head in [root, record] {
                let position = try transaction.takePosition()
                try transaction.move(
                    MembershipMove(
                        head.record, at: position,
                        into: .init(share.number, version: head.position, type: 0)))
            }
            return share
        }
    }

    @Test("Nobody is granted a share whose zone they are then counted wrongly to have")
    func grantsMiscounted() throws {
        let share = try makeShare(in: try makeZone())
        let viewer = try user("b")
        try store.writeAndWait { try $0.grant(share, to: viewer, permission: .readOnly) }
        try damage("UPDATE views SET shares_granted = 3")
        // With nothing granted, the zone would stay in sight.
        expectBroken("who has a zone has a grant of it") {
            try store.writeAndWait { try $0.revoke(share.number, from: viewer) }
        }
        try damage("UPDATE views SET shares_granted = 0")
        expectBroken("who has a zone has a grant of it") {
            try store.writeAndWait { try $0.endShare(share.number) }
        }
        #expect(try store.read { try $0.share(share.number)?.ended } == nil)
        try damage("UPDATE views SET shares_granted = -5")
        let other = try user("c")
        try damage(
            "INSERT INTO views VALUES ('\(other.text)', \(share.zone.value), 1, NULL, NULL, -1, 1, 1)"
        )
        expectBroken("who has a zone has a grant of it") {
            try store.writeAndWait { try $0.grant(share, to: other, permission: .readOnly) }
        }
    }

    @Test("No record leaves a share, or moves in it, by a stay that is not its own")
    func coversLeadAstray() throws {
        let share = try makeShare(in: try makeZone())
        let root = try #require(share.root)
        try damage(
            "UPDATE current_memberships SET position = position + 500 WHERE record = \(root.value)")
        expectBroken("coverage leads to its membership") {
            try store.writeAndWait { transaction in
                let cover = try #require(try transaction.currentMembership(of: root))
                let position = try transaction.takePosition()
                try transaction.move(
                    MembershipMove(root, at: position, outOf: cover, left: position))
            }
        }
        expectBroken("coverage leads to its membership") {
            try store.writeAndWait { transaction in
                let cover = try #require(try transaction.currentMembership(of: root))
                let position = try transaction.takePosition()
                try transaction.move(
                    MembershipMove(
                        root, at: position, from: cover,
                        into: .init(cover.share, version: position, type: 0)))
            }
        }
        #expect(try store.read { try $0.currentMembership(of: root) } != nil)
    }

    @Test("No change commits whose zone or owner is not there to count it")
    func countedNowhere() throws {
        let zone = try makeZone()
        try save("a", in: zone)
        try damage("UPDATE owners SET id = id + 1000")
        expectBroken("what is stored counts to an owner") { try save("b", in: zone) }
        try damage("UPDATE owners SET id = id - 1000; UPDATE zones SET id = id + 1000")
        expectBroken("what changes in a zone moves its feed") { try save("b", in: zone) }
        try damage("UPDATE zones SET id = id - 1000")
        let name = try #require(RecordName("b"))
        #expect(try store.read { try $0.head(of: name, in: zone.number) } == nil)
        try save("b", in: zone)
    }
}
