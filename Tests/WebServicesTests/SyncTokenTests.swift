import CloudModel
import Cryptography
import Foundation
import SQLiteStorage
import Testing

/// Tokens of another place and another time (rulings.md 3, 27, 28).
@Suite("Sync tokens")
struct SyncTokenTests {
    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
        try ida.make("Shelf", "Other")
        try ida.save("r")
    }

    private let unknown = "Unknown sync continuation type"

    private func zoneToken(_ zone: String = "Shelf") throws -> String {
        try #require(ida.changes(zone)["syncToken"].string)
    }

    private func databaseToken() throws -> String {
        try #require(ida.databaseChanges()["syncToken"].string)
    }

    @Test("Tokens are padded standard base64")
    func form() throws {
        for token in try [zoneToken(), databaseToken()] {
            let bytes = try #require(Base64.decode(token))
            #expect(Base64.encode(bytes) == token)
        }
    }

    @Test("What is no token, or one with any byte changed, is refused everywhere")
    func forged() throws {
        let (zone, database) = try (zoneToken(), databaseToken())
        var bad = [
            "x", "AAAA", "not base64!", "null", " \(zone)", "\(zone)=", String(zone.dropLast()),
        ]
        for token in [zone, database] {
            let bytes = try #require(Base64.decode(token))
            for index in bytes.indices {
                for bit in [1, 0x80] as [UInt8] {
                    var changed = bytes
                    changed[index] ^= bit
                    bad.append(Base64.encode(changed))
                }
            }
            bad.append(Base64.encode(bytes + [0]))
            bad.append(Base64.encode(bytes.dropLast()))
        }
        for token in bad {
            let item = try ida.changes(after: token)
            #expect(item.code == "BAD_REQUEST" && item.reason == unknown)
            let feed = try ida.databaseChanges(after: token)
            #expect(feed.status == 400 && feed.reason == unknown)
            let zones = try ida.send(
                "private/zones/changes", "{\"metaSyncToken\":\(quoted(token))}")
            #expect(zones.status == 400 && zones.reason == unknown)
        }
    }

    @Test("A token of another zone, user, database, feed, environment or container is refused")
    func foreign() throws {
        let mo = try server.user("mo")
        try mo.make("Shelf")
        let live = try server.user("ida", WireServer.tea, .production)
        try live.make("Shelf")
        let elsewhere = try server.user("ida", WireServer.mate)
        try elsewhere.make("Shelf")
        let zones = try [
            zoneToken("Other"), mo.changes()["syncToken"].string,
            live.changes()["syncToken"].string,
            elsewhere.changes()["syncToken"].string, databaseToken(),
        ]
        for token in zones {
            let item = try ida.changes(after: token)
            #expect(item.reason == unknown && !item["changeTokenExpired"].exists)
        }
        let shared = try ida.send("shared/changes/database", "{}")
        let databases = try [
            zoneToken(), shared["syncToken"].string, mo.databaseChanges()["syncToken"].string,
            live.databaseChanges()["syncToken"].string,
            elsewhere.databaseChanges()["syncToken"].string,
        ]
        for token in databases {
            #expect(try ida.databaseChanges(after: token).reason == unknown)
        }
    }

    @Test("A token of an earlier zone of the name has expired")
    func earlierGeneration() throws {
        let token = try zoneToken()
        try ida.remove("Shelf")
        #expect(try ida.changes(after: token).code == "ZONE_NOT_FOUND")
        try ida.make("Shelf")
        let item = try ida.changes(after: token)
        #expect(item.code == "BAD_REQUEST" && item.reason.hasPrefix("change token expired"))
        #expect(item.keys == ["zoneID", "reason", "serverErrorCode", "changeTokenExpired"])
        #expect(item["changeTokenExpired"].bool == true)
        let request = try ida.send(
            "private/records/changes",
            "{\"zoneID\":{\"zoneName\":\"Shelf\"},\"syncToken\":\"\(token)\"}")
        #expect(request.status == 400 && request["changeTokenExpired"].bool == true)
        #expect(try ida.changes()["records"].raw == "[]")
    }

    @Test("A zone token is good until tombstones after it are collected")
    func collectedRecords() throws {
        let early = try zoneToken()
        try ida.save("gone")
        try ida.delete("gone")
        let late = try zoneToken()
        let deletedAt = server.clock.now
        server.clock.advance(1_000)
        try server.collect(olderThan: deletedAt)
        #expect(try ida.changes(after: early)["records"].elements.count == 1)
        try server.collect(olderThan: deletedAt + 1)
        let expired = try ida.changes(after: early)
        #expect(expired.reason.hasPrefix("change token expired"))
        #expect(expired["changeTokenExpired"].bool == true)
        #expect(try ida.changes(after: late)["records"].raw == "[]")
        #expect(try ida.changes()["records"].elements.map(\.name) == ["r"])
        #expect(try server.problems() == [])
    }

    @Test("Collection that finds nothing old expires no token, however small its steps")
    func collectingNothing() throws {
        let token = try zoneToken()
        let database = try databaseToken()
        try server.collect(olderThan: server.clock.now + 1_000, limit: 1)
        #expect(try ida.changes(after: token).code == nil)
        #expect(try ida.databaseChanges(after: database).status == 200)
    }

    @Test("Half-read first and reversed fetches outlive collection that they do not need")
    func halfRead() throws {
        for number in 1...4 { try ida.save("r\(number)") }
        try ida.delete("r1")
        server.clock.advance(10)
        try server.collect(olderThan: server.clock.now)
        for direction in ["false", "true"] {
            let more = "\"reverse\":\(direction)"
            let first = try ida.changes(limit: 2, more: more)
            let rest = try ida.changes(after: first["syncToken"].string, limit: 9, more: more)
            #expect(rest.code == nil && rest["records"].elements.count == 2, "\(rest.raw)")
        }
    }

    @Test("A database token is good until the zone tombstones after it are collected")
    func collectedZones() throws {
        let early = try databaseToken()
        try ida.remove("Other")
        let late = try databaseToken()
        server.clock.advance(1_000)
        try server.collect(olderThan: server.clock.now, limit: 1)
        let expired = try ida.databaseChanges(after: early)
        #expect(expired.status == 400 && expired["changeTokenExpired"].bool == true)
        #expect(expired.reason.hasPrefix("change token expired"))
        #expect(try ida.databaseChanges(after: late).zones.isEmpty)
        #expect(try ida.databaseChanges().zones.count == 1)
        #expect(try server.problems() == [])
    }

    @Test("A first fetch after the last zones were collected gives tokens that are good")
    func firstFetchAfterCollection() throws {
        try ida.make("Third")
        try ida.remove("Third")
        server.clock.advance(1_000)
        try server.collect(olderThan: server.clock.now)
        let whole = try ida.databaseChanges()
        #expect(try ida.databaseChanges(after: whole["syncToken"].string).status == 200)
        let first = try ida.databaseChanges(limit: 1)
        let second = try ida.databaseChanges(after: first["syncToken"].string, limit: 1)
        #expect(second.status == 200 && second.zones.count == 1, "\(second.text)")
        #expect(try ida.databaseChanges(after: second["syncToken"].string).status == 200)
    }

    @Test("After a restore, tokens from before the backup go on, later ones and lost lives' expire")
    func restored() throws {
        let copies = server.folder.appending(path: "copies")
        try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
        let backup = copies.appending(path: "backup.sqlite").path
        let (zone, database) = try (zoneToken(), databaseToken())
        try server.restart { try FileManager.default.copyItem(atPath: $0, toPath: backup) }
        try ida.save("lost")
        var later = [try (zoneToken(), databaseToken())]
        for life in 1...2 {
            try server.restart { path in
                for file in [path, "\(path)-wal", "\(path)-shm"] {
                    if FileManager.default.fileExists(atPath: file) {
                        try FileManager.default.removeItem(atPath: file)
                    }
                }
                try FileManager.default.copyItem(atPath: backup, toPath: path)
                try SQLiteStore.beginIncarnation(at: path) { RandomSource.system.bytes($0) }
            }
            #expect(try ida.record("lost").code == "NOT_FOUND")
            #expect(try ida.changes(after: zone)["records"].raw == "[]")
            #expect(try ida.databaseChanges(after: database).zones.isEmpty)
            for (zone, database) in later {
                let item = try ida.changes(after: zone)
                #expect(item["changeTokenExpired"].bool == true, "life \(life): \(item.raw)")
                let feed = try ida.databaseChanges(after: database)
                #expect(feed["changeTokenExpired"].bool == true, "life \(life): \(feed.text)")
            }
            try ida.save("new \(life)")
            #expect(try ida.changes(after: zone)["records"].elements.map(\.name) == ["new \(life)"])
            later.append(try (zoneToken(), databaseToken()))
        }
        #expect(try server.problems() == [])
    }

    @Test("Collection by small steps ends with the same as by large ones")
    func steps() throws {
        for number in 1...20 { try ida.save("o\(number)", zone: "Other") }
        for number in 1...10 { try ida.delete("o\(number)", zone: "Other") }
        for number in 1...10 { try ida.save("x\(number)") }
        for number in 1...10 { try ida.delete("x\(number)") }
        try ida.remove("Other")
        server.clock.advance(10)
        try server.collect(olderThan: server.clock.now, limit: 3)
        #expect(try server.problems() == [])
        #expect(try ida.changes()["records"].elements.map(\.name) == ["r"])
        let owner = try server.store().read { snapshot in
            try snapshot.owner(named: #require(UserRecordName(ida.name)))?.usedBytes
        }
        #expect(owner == Int64(try ida.record("r").raw.utf8.count))
    }
}
