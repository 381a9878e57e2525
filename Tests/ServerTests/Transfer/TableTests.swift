import Foundation
import Seeding
import Testing

@testable import Administration
@testable import Server

@Suite("Tables of records")
struct TableTests {
    @Test("A text that a spreadsheet takes for a formula gets an apostrophe, and loses it again")
    func formulas() {
        for (text, cell) in [
            ("=1+1", "'=1+1"), ("+49", "'+49"), ("-5", "'-5"), ("@x", "'@x"), ("'=x", "''=x"),
            ("'", "'"), ("'x", "'x"), ("a=b", "a=b"), ("", "\"\""), ("a,b", "\"a,b\""),
            ("=\"a\"", "\"'=\"\"a\"\"\""),
        ] {
            var bytes: [UInt8] = []
            CSVText.append(text: Array(text.utf8), to: &bytes)
            #expect(String(decoding: bytes, as: UTF8.self) == cell)
        }
    }

    @Test("Any texts are the same after they were written and read")
    func anyTexts() throws {
        var random = SeededRandom("cells")
        let pieces = ["=", "+", "-", "@", "'", "\"", ",", "\n", "\r", "\u{0}", "a", "é", " ", "\t"]
        for _ in 0..<5_000 {
            let texts = (0...random.below(5)).map { _ in
                Array((0..<random.below(6)).map { _ in random.one(of: pieces) }.joined().utf8)
            }
            var bytes: [UInt8] = []
            for (index, text) in texts.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                CSVText.append(text: text, to: &bytes)
            }
            bytes.append(UInt8(ascii: "\n"))
            #expect(CSVText.endOfRows(bytes + Array("x".utf8)) == bytes.count)
            var index = 0
            let row = try #require(try CSVText.row(bytes, at: &index))
            #expect(index == bytes.count)
            #expect(row.map { CSVText.text($0.bytes) } == texts)
            #expect(row.allSatisfy { !$0.isAbsent })
        }
    }

    @Test("Random bytes are read or refused, and reading always goes on")
    func randomBytes() {
        var random = SeededRandom("tables")
        for _ in 0..<20_000 {
            let bytes = (0..<random.below(40)).map { _ in random.one(of: Array("\",\r\n'=a".utf8)) }
            var index = 0
            while index < bytes.count {
                let before = index
                guard (try? CSVText.row(bytes, at: &index)) != nil else { break }
                #expect(index > before && index <= bytes.count)
            }
        }
    }

    @Test("A table brings back what it was made of, with types by the schema")
    func roundTrip() throws {
        let home = try TransferHome()
        let lines = #"""
            {"recordName":"a","recordType":"Bed","fields":{"s":{"value":"=1+1"},"n":{"value":-5},"d":{"value":2.0,"type":"DOUBLE"},"t":{"value":1700000000123,"type":"TIMESTAMP"},"l":{"value":["x","-y"],"type":"STRING_LIST"},"b":{"value":"AQID","type":"BYTES"},"g":{"value":{"latitude":1.5,"longitude":2.5},"type":"LOCATION"}}}
            {"recordName":"b","recordType":"Bed","fields":{"s":{"value":""},"r":{"value":{"recordName":"a","action":"NONE"},"type":"REFERENCE"}}}
            {"recordName":"c","recordType":"Bed","fields":{"s":{"value":"42"}}}
            """#
        try home.importing(MemoryFiles(Array(lines.utf8)))
        let schema = MemoryFiles()
        try home.exporting(to: schema)
        let table = MemoryFiles()
        try home.exporting(to: table) {
            $0.type = "Bed"
            $0.format = .csv
        }
        let text = String(decoding: table.main, as: UTF8.self)
        #expect(
            text.contains("'=1+1") && text.contains(",-5,")
                && text.contains("2023-11-14T22:13:20.123Z"))
        // The types of the fields are known from the schema.
        let head = MemoryFiles(Array(schema.lines.prefix(2).joined(separator: "\n").utf8))
        try home.importing(head, into: "iCloud.b") { $0.withSchema = true }
        let report = try home.importing(table, into: "iCloud.b") { $0.format = .csv }
        #expect(report.failures == [] && report.records == 3)
        #expect(try home.contents(of: "iCloud.b") == home.contents(of: "iCloud.a"))
        // Without it, a number is a number and all else a text.
        let guessed = MemoryFiles(Array("recordName,n,s\nx,5,hello\ny,0.5,\"\"\n".utf8))
        let other = try home.importing(guessed, into: "iCloud.c") {
            $0.format = .csv
            $0.type = "Bed"
        }
        #expect(other.records == 1 && other.failures.map(\.recordName) == ["y"])
        let wrong = MemoryFiles(Array("recordName,recordType,n\nz,Bed,many\nz,Bed,1,2\n".utf8))
        #expect(
            try home.importing(wrong, into: "iCloud.b") { $0.format = .csv }.failures.map(\.reason)
                == ["n: expected a whole number", "4 cells for 3 columns"])
    }
}
