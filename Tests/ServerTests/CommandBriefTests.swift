import Foundation
import Testing

@testable import Server

@Suite("Long values in lists of records")
struct CommandBriefTests {
    private let folder: TemporaryFolder
    private let place = ["iCloud.a", "development", "public"]

    init() throws {
        folder = try TemporaryFolder()
        try ServerProcess.makeData(folder.path("data"))
        try run(["container", "create", "iCloud.a"])
    }

    @discardableResult
    private func run(_ words: [String]) throws -> [String: Any] {
        let outcome = try Program.run(words + ["--data", folder.path("data"), "--json"])
        try #require(outcome.status == 0, "\(outcome)")
        return outcome.object
    }

    /// The fields of the one record that a command answers.
    private func fields(
        _ command: [String], _ more: [String] = []
    ) throws -> [String: [String: Any]] {
        let records = try run(command + place + more)["records"] as? [[String: Any]]
        let record = try #require(records?.first)
        #expect(record["recordName"] as? String == "one" && record["recordChangeTag"] != nil)
        return try #require(record["fields"] as? [String: [String: Any]])
    }

    @Test("They come cut short where that is asked for, and whole elsewhere")
    func lists() throws {
        let text = String(repeating: "a\"🌍\n", count: 900)
        let raw = Data(repeating: 7, count: 2_000)
        let items = (0..<1_000).map { "item \($0)" }
        let giant = [String(repeating: "x", count: 2_000)]
        let short = String(repeating: "s", count: 1_000)
        let given: [String: [String: Any]] = [
            "text": ["value": text, "type": "STRING"],
            "raw": ["value": raw.base64EncodedString(), "type": "BYTES"],
            "items": ["value": items, "type": "STRING_LIST"],
            "giant": ["value": giant, "type": "STRING_LIST"],
            "short": ["value": short, "type": "STRING"],
            "number": ["value": 1 << 62, "type": "INT64"],
        ]
        let record: [String: Any] = ["recordName": "one", "recordType": "Note", "fields": given]
        let file = folder.path("record.json")
        try JSONSerialization.data(withJSONObject: record).write(to: URL(fileURLWithPath: file))
        try run(["record", "save"] + place + [file])
        for command in [["record", "list"], ["record", "changes"]] {
            let brief = try fields(command, ["--brief"])
            let start = try #require(brief["text"]?["value"] as? String)
            #expect(text.hasPrefix(start) && start.unicodeScalars.count == 256)
            #expect(brief["text"]?["whole"] as? Int == text.utf8.count)
            #expect(brief["text"]?["type"] as? String == "STRING")
            #expect(brief["raw"]?["whole"] as? Int == raw.count)
            let first = try #require(brief["items"]?["value"] as? [String])
            #expect(first.count > 50 && first == Array(items.prefix(first.count)))
            #expect(brief["items"]?["whole"] as? Int == items.count)
            #expect((brief["giant"]?["value"] as? [String])?.isEmpty == true)
            #expect(brief["giant"]?["whole"] as? Int == 1)
            #expect(brief["short"]?["value"] as? String == short)
            #expect(brief["short"]?["whole"] == nil)
            #expect(brief["number"]?["value"] as? Int == 1 << 62)
            let whole = try fields(command)
            #expect(whole["text"]?["value"] as? String == text)
            #expect(whole["items"]?["value"] as? [String] == items)
        }
        let got = try fields(["record", "get"], ["one"])
        #expect(got["raw"]?["value"] as? String == raw.base64EncodedString())
        #expect(got["raw"]?["whole"] == nil)
    }
}
