import Awaiting
import ChildProcesses
import Foundation
import Testing

/// What meets damaged records beside the requests for them.
@Suite("What works on stores with damaged records")
struct DamageElsewhereTests {
    private static let dayMilliseconds: Int64 = 86_400_000
    private let people: FolderPeople

    init() throws { people = try FolderPeople() }

    private func save(_ names: [String], in database: String? = nil) throws {
        let saved = try people.modify(
            "ann", names.map { ("create", FolderPeople.note($0, "text of \($0)")) }, in: database)
        #expect(saved.allSatisfy { $0["serverErrorCode"] == nil }, "\(saved)")
    }

    /// Lets seconds pass, in which somebody uses the store, until it holds.
    private func passTime(
        _ location: SourceLocation = #_sourceLocation, until isSo: () throws -> Bool
    ) throws {
        do {
            try Wait.until {
                people.server.time.now.withLock { $0 += 1_000 }
                try people.post("ann", "public/users/caller", [:])
                return try isSo()
            }
        } catch is WaitedInVain {
            Issue.record("it did not come", sourceLocation: location)
        }
    }

    private func command(_ arguments: String...) throws -> Program.Outcome {
        try Program.run(arguments + ["--data", people.data])
    }

    @Test("No type goes from a schema while a record is damaged, since it may be of that type")
    func schema() throws {
        try save(["a", "b", "c"])
        try people.decay.damage("b")
        people.server.stop()
        let file = people.temporary.path("schema.ckdb")
        try "DEFINE SCHEMA RECORD TYPE Tree (name STRING);".write(
            toFile: file, atomically: true, encoding: .utf8)
        let refused = try command("schema", "import", "iCloud.a", file)
        #expect(refused.status != 0)
        #expect(refused.error.contains("1 records are not what was written"), "\(refused)")
        #expect(try command("check", "--remove-damaged").status == 0)
        let counted = try command("schema", "import", "iCloud.a", file)
        #expect(counted.error.contains("- type Note (in 2 records)"), "\(counted)")
    }

    @Test("An export has all but the damaged records, and says how many it left out")
    func export() throws {
        try save(["a", "b", "c", "d"])
        try save(["p", "q"], in: "public")
        for name in ["b", "c", "p"] { try people.decay.damage(name) }
        people.server.stop()
        let file = people.temporary.path("ann.zip")
        let done = try command("user", "export", "ann@a.example", file, "--json")
        #expect(done.status == 1, "\(done)")
        let report = try #require(done.object["report"] as? [String: Any])
        let problems = try #require(report["problems"] as? [String])
        #expect(
            problems == [
                "records of the zone 'z' that are not what was written: 2",
                "records that are public, of this user or of others, that are not what was written: 1",
            ])
        let unpacked = people.temporary.path("ann")
        let unzip = ChildProcess()
        unzip.secondsMax = 60
        unzip.arguments = ["python3", "-m", "zipfile", "-e", file, unpacked]
        try unzip.run()
        unzip.waitUntilExit()
        func names(_ path: String) throws -> (names: [String?], damaged: Int?) {
            let data = try Data(
                contentsOf: URL(fileURLWithPath: "\(unpacked)/iCloud.a/development/\(path)"))
            let object = try #require(
                try JSONSerialization.jsonObject(with: data) as? [String: Any])
            let records = object["records"] as? [[String: Any]] ?? []
            return (
                records.map { $0["recordName"] as? String }.filter { $0?.hasPrefix("_") == false },
                object["damaged"] as? Int
            )
        }
        #expect(try names("private/z.json") == (["a", "d"], 2))
        #expect(try names("public.json") == (["q"], 1))
    }

    @Test("Who is erased leaves damaged public records alone, whosever they are, which is told")
    func erase() throws {
        try save(["a", "b", "c"])
        try save(["p", "q"], in: "public")
        for name in ["b", "p"] { try people.decay.damage(name) }
        people.server.stop()
        let erased = try command(
            "user", "erase", "ann@a.example", "--public", "delete", "--yes", "--json")
        #expect(erased.status == 0, "\(erased)")
        let report = try #require(erased.object["report"] as? [String: Any])
        #expect(report["zones"] as? Int == 1 && report["records"] as? Int == 2, "\(report)")
        #expect(report["publicRecords"] as? Int == 1, "\(report)")
        #expect(report["damagedPublicRecords"] as? Int == 1, "\(report)")
        // Of the zone nothing is left, of the public record what it was.
        let check = try command("check", "--json")
        let problems = try #require(check.object["problems"] as? [String])
        #expect(problems.contains { $0.contains("records that are not what was written: 1") })
        #expect(try command("check", "--remove-damaged").output.contains("records removed: 1"))
        #expect(try command("check").output == "no problems\n")
    }

    @Test("A deleted zone goes with its damaged records, and so do deletions that are damaged")
    func collected() throws {
        let names = (0..<120).map { "n\($0)" }
        try save(names)
        try save(["p", "q"], in: "public")
        let sorted: [String: Any] = [
            "recordType": "Note", "sortBy": [["fieldName": "t", "ascending": true]],
        ]
        // So that there is an index.
        try people.post(
            "ann", "private/records/query", ["zoneID": ["zoneName": "z"], "query": sorted])
        try people.modify("ann", [("forceDelete", ["recordName": "q"])], in: "public")
        for name in ["n0", "n60", "n61", "n119", "q"] { try people.decay.damage(name) }
        let zone: [String: Any] = ["zoneID": ["zoneName": "z"]]
        try people.post(
            "ann", "private/zones/modify",
            ["operations": [["operationType": "delete", "zone": zone]]])
        people.server.time.now.withLock { $0 += 181 * Self.dayMilliseconds }
        // Its user's record is all that is left beside the public one.
        try passTime { try people.decay.rows().count <= 3 }
        try passTime { try people.server.folder.problems() == [] }
    }

    @Test("The file of a damaged record stays as long as the record does")
    func assets() throws {
        try save(["plain"])
        for name in ["held", "other"] {
            let record: [String: Any] = [
                "recordName": name, "recordType": "Note",
                "fields": ["f": ["value": try people.upload("file of \(name)", as: "ann")]],
            ]
            let saved = try people.modify("ann", [("create", record)])
            #expect(saved[0]["serverErrorCode"] == nil, "\(saved)")
        }
        #expect(try people.files().count == 2)
        try people.decay.damage("held")
        try people.modify("ann", [("forceDelete", ["recordName": "other"])])
        people.server.time.now.withLock { $0 += 3 * Self.dayMilliseconds }
        try passTime { try people.files().count < 2 }
        let found = try people.lookup("ann", "held")
        #expect(found["serverErrorCode"] as? String == "INTERNAL_ERROR")
        #expect(try people.files().count == 1)
        try people.modify("ann", [("forceDelete", ["recordName": "held"])])
        people.server.time.now.withLock { $0 += 3 * Self.dayMilliseconds }
        try passTime { try people.files().isEmpty }
        #expect(try people.server.folder.problems() == [])
    }
}
