import CloudModel
import EngineUnderTest
import Foundation
import Seeding
import Testing

@testable import Server

/// Records of which a bit has flipped on the disk.
@Suite("Damaged records")
struct DamagedRecordTests {
    private let notes: FolderNotes
    private let names = ["a", "b", "c", "d"]

    init() throws {
        notes = try FolderNotes()
        for name in names { try notes.save(name) }
        // So that there is an index.
        _ = try notes.found(after: nil)
    }

    private var decay: StoreDecay { StoreDecay(store: notes.store) }

    /// The row of a record that was just saved: the last.
    private func lastRow() throws -> StoreDecay.Row { try #require(try decay.rows().last) }

    private func lookup(_ asked: [String]) throws -> [[String: Any]] {
        let answer = try notes.post(
            "private/records/lookup",
            ["zoneID": ["zoneName": "z"], "records": asked.map { ["recordName": $0] }])
        return try #require(answer["records"] as? [[String: Any]])
    }

    private func modify(_ type: String, _ name: String) throws -> [String: Any] {
        var record: [String: Any] = ["recordName": name]
        if !type.hasSuffix("elete") {
            record["recordType"] = "Note"
            record["fields"] = ["t": ["value": "new"], "n": ["value": 9]]
        }
        let answer = try notes.post(
            "private/records/modify",
            [
                "zoneID": ["zoneName": "z"], "atomic": false,
                "operations": [["operationType": type, "record": record]],
            ])
        return try #require((answer["records"] as? [[String: Any]])?.first, "\(answer)")
    }

    private func problems() throws -> [String] {
        try #require(notes.running).folder.problems()
    }

    @Test("Whichever byte of a row has changed, the record is an INTERNAL_ERROR and nothing else")
    func everyByte() throws {
        var random = SeededRandom("bytes of a row")
        let row = try lastRow()
        let before = try lookup(names)
        for location in row.content.indices {
            var content = row.content
            content[location] ^= 1 << UInt8(random.below(8))
            try decay.put(content, row.key)
            let found = try lookup(names)
            for (now, then) in zip(found, before).dropLast() {
                #expect(NSDictionary(dictionary: now) == NSDictionary(dictionary: then))
            }
            let last = try #require(found.last)
            #expect(
                last["serverErrorCode"] as? String == "INTERNAL_ERROR", "byte \(location): \(last)")
            #expect(last["fields"] == nil)
        }
        try decay.put(row.content, row.key)
        #expect(try NSArray(array: lookup(names)) == NSArray(array: before))
    }

    @Test("A row cut short, made longer, or of another key is no record either")
    func otherRows() throws {
        let all = try decay.rows()
        let row = try #require(all.last)
        let other = try #require(all.dropLast().last)
        for content in [
            Array(row.content.dropLast()), row.content + [0], [], [1, 2, 3], other.content,
        ] {
            try decay.put(content, row.key)
            let last = try #require(try lookup(names).last)
            #expect(last["serverErrorCode"] as? String == "INTERNAL_ERROR", "\(last)")
        }
    }

    @Test("A page of the feed ends before a damaged record, and the next step says INTERNAL_ERROR")
    func feed() throws {
        let all = try decay.rows()
        try decay.damage(all[2], at: 40)
        let first = try notes.page(nil)
        let shown = try #require(first["records"] as? [[String: Any]])
        #expect(shown.compactMap { $0["recordName"] as? String } == ["a", "b"])
        #expect(first["moreComing"] as? Bool == true)
        let next = try notes.page(first["syncToken"] as? String)
        #expect(next["serverErrorCode"] as? String == "INTERNAL_ERROR", "\(next)")
        // Once it is gone the same token goes on.
        #expect(try modify("forceDelete", "c")["deleted"] as? Bool == true)
        let last = try notes.page(first["syncToken"] as? String)
        let rest = try #require(last["records"] as? [[String: Any]])
        #expect(rest.compactMap { $0["recordName"] as? String } == ["d", "c"])
        #expect(last["moreComing"] as? Bool == false)
    }

    @Test("A query ends before it, too")
    func query() throws {
        try decay.damage(try #require(try decay.rows().dropFirst().first), at: 40)
        let first = try notes.found(after: nil)
        #expect((first["records"] as? [Any])?.count == 1)
        let marker = try #require(first["continuationMarker"] as? String)
        let next = try notes.found(after: marker)
        #expect(next["serverErrorCode"] as? String == "INTERNAL_ERROR", "\(next)")
    }

    @Test(
        "It can be deleted and replaced, and then nothing is left of the damage",
        arguments: ["forceDelete", "forceReplace"])
    func mended(type: String) throws {
        try decay.damage(lastRow(), at: 40)
        #expect(
            try problems().contains { $0.contains("records that are not what was written: 1") })
        #expect(try modify("forceUpdate", "d")["serverErrorCode"] as? String == "INTERNAL_ERROR")
        let answer = try modify(type, "d")
        #expect(answer["serverErrorCode"] == nil, "\(answer)")
        let found = try #require(try lookup(["d"]).first)
        if type == "forceDelete" {
            #expect(found["serverErrorCode"] as? String == "NOT_FOUND")
        } else {
            let fields = found["fields"] as? [String: [String: Any]]
            #expect(fields?["t"]?["value"] as? String == "new")
        }
        #expect(try problems() == [])
    }

    @Test("Each is counted and told of once, however often it is met")
    func counted() throws {
        try decay.damage(lastRow(), at: 40)
        for _ in 0..<5 { _ = try lookup(["d"]) }
        let figures = try #require(notes.running).folder.engine.figures
        let figure = try #require(figures.first { $0.name == "lenticular_damaged_records_total" })
        guard case .counter(let count) = figure.value else {
            Issue.record("\(figure)")
            return
        }
        #expect(count == 1)
    }

    @Test("The check names the record, and deletes it when it is told to")
    func command() throws {
        try decay.damage(lastRow(), at: 40)
        notes.stop()
        let outcome = try Program.run(["check", "--json", "--data", notes.data])
        let problems = try #require(outcome.object["problems"] as? [String])
        #expect(problems.contains { $0.contains("record 'd' of zone 'z'") }, "\(problems)")
        let removed = try Program.run(["check", "--remove-damaged", "--json", "--data", notes.data])
        #expect(removed.status == 0, "\(removed)")
        #expect(removed.object["removedRecords"] as? Int == 1)
        let again = try Program.run(["check", "--json", "--data", notes.data])
        #expect(again.object["ok"] as? Bool == true, "\(again)")
    }
}
