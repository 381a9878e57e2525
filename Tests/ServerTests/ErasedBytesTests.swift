import Foundation
import Testing

@Suite("Bytes of people who were erased")
struct ErasedBytesTests {
    @Test("Once the erasure says that the last byte was gone, no file of the data has one")
    func scan() throws {
        let person = try ErasedPerson()
        try person.live(records: 200)
        // As an upgrade leaves its copies.
        let environment = "containers/\(ErasedPerson.container.lowercased())/development"
        for database in ["catalog.sqlite", "\(environment)/store.sqlite"] {
            let made = FileManager.default.createFile(
                atPath: "\(person.data)/\(database).before-0002-later",
                contents: Data(ErasedPerson.mark.utf8))
            #expect(made)
        }
        let before = try ErasedPerson.marks(in: person.data)
        let store = before.filter { $0.key.contains("store.sqlite") }.values.reduce(0, +)
        #expect(store > 500, "\(before)")
        #expect(before.keys.contains { $0.hasPrefix("catalog.sqlite") })
        #expect(before.keys.contains { $0.contains("/assets/") })
        #expect(before.keys.contains { $0.contains("/assets/incoming/") })

        let erased = try person.server.command(
            "user", "erase", ErasedPerson.email, "--public", "delete", "--yes", "--json")
        #expect(erased.status == 0, "\(erased)")
        #expect(erased.object["goneAt"] as? Int != nil, "\(erased)")
        #expect(try ErasedPerson.marks(in: person.data) == [:])
        let log = try String(contentsOfFile: "\(person.data)/erasures.log", encoding: .utf8)
        #expect(log.split(separator: "\n").count == 1 && log.hasSuffix(" delete\n"))
        let mode =
            try FileManager.default.attributesOfItem(
                atPath: "\(person.data)/erasures.log")[.posixPermissions] as? Int
        #expect(mode == 0o600)

        let check = try person.server.command("check")
        #expect(check.output == "no problems\n")
        person.server.signal(SIGTERM)
        #expect(person.server.wait() == 0)
        #expect(try ErasedPerson.marks(in: person.data) == [:])
        // What is others' stays.
        let path = "\(person.data)/containers/\(ErasedPerson.container.lowercased())/development"
        let bytes = try Data(contentsOf: URL(filePath: "\(path)/store.sqlite"))
        #expect(bytes.range(of: Data("keepsake".utf8)) != nil)
        let again = try Program.run(["check", "--data", person.data])
        #expect(again.status == 0, "\(again)")
    }

    @Test("A server that is killed while it erases goes on after the next start, to the last byte")
    func killed() throws {
        let person = try ErasedPerson()
        try person.live(records: 100)
        let server = person.server
        DispatchQueue.global().async {
            // NB: its server goes in the middle.
            _ = try? server.command(
                "user", "erase", ErasedPerson.email, "--public", "delete", "--yes")
        }
        let ledger = "\(person.data)/erasures.log"
        // With its line: a ledger that was only begun says nothing of anybody.
        while FileManager.default.contents(atPath: ledger)?.last != UInt8(ascii: "\n") {
            sched_yield()
        }
        server.signal(SIGKILL)
        _ = server.wait()
        let next = try ServerProcess(
            data: person.data, environment: ["LENTICULAR_RETENTION_UPKEEP_SECONDS": "1"])
        // It may have been killed before the account was deleted: the ledger knows.
        let users = try next.command("user", "list").output
        #expect(!users.contains(ErasedPerson.email), "\(users)")
        let end = Date(timeIntervalSinceNow: 120)
        var left = try ErasedPerson.marks(in: person.data)
        while !left.isEmpty, Date() < end { left = try ErasedPerson.marks(in: person.data) }
        #expect(left == [:])
        #expect(try next.command("check").output == "no problems\n")
    }

    @Test("An older backup that is restored brings nobody back who was erased since")
    func restored() throws {
        let person = try ErasedPerson()
        try person.live(records: 40)
        let backups = person.folder.path("backups")
        for (name, erases) in [("old", true), ("new", false)] {
            let copy = try person.server.command("backup", "\(backups)/\(name)")
            #expect(copy.status == 0, "\(copy)")
            guard erases else { continue }
            #expect(
                try person.server.command(
                    "user", "erase", ErasedPerson.email, "--public", "delete", "--yes"
                ).status == 0)
        }
        // Beside the backups, and within the newer one.
        let ledger = try String(contentsOfFile: "\(person.data)/erasures.log", encoding: .utf8)
        for location in ["erasures.log", "new/erasures.log"] {
            #expect(try String(contentsOfFile: "\(backups)/\(location)", encoding: .utf8) == ledger)
        }
        #expect(try !ErasedPerson.marks(in: "\(backups)/old").isEmpty)
        #expect(try ErasedPerson.marks(in: "\(backups)/new") == [:])
        let data = person.folder.path("restored")
        let restored = try Program.run(
            ["restore", "\(backups)/old", "--data", data, "--yes", "--json"])
        #expect(restored.status == 0 && restored.object["erasedAgain"] as? Int == 1, "\(restored)")
        #expect(try String(contentsOfFile: "\(data)/erasures.log", encoding: .utf8) == ledger)
        #expect(try ErasedPerson.marks(in: data) == [:])
        let server = try ServerProcess(data: data)
        #expect(try !server.command("user", "list").output.contains(ErasedPerson.email))
        #expect(try server.command("user", "list").output.contains("mo@example.org"))
        #expect(try server.command("check").output == "no problems\n")
    }
}
