import CloudModel
import Cryptography
import Foundation
import Seeding
import Testing

@testable import Administration
@testable import Server

@Suite("Exports and imports")
struct TransferTests {
    private let home: TransferHome

    init() throws { home = try TransferHome() }

    /// Fields of every kind, in a zone of their own; what refers comes before what it refers to.
    private static let everyKind = #"""
        {"recordName":"full","recordType":"Bed","zoneID":{"zoneName":"Z"},"fields":{"s":{"value":"=\u0000 \u0085 \" , ' \r\n \ud83d\ude00"},"e":{"value":""},"i":{"value":-9223372036854775808},"d":{"value":1.5e300},"whole":{"value":3.0,"type":"DOUBLE"},"t":{"value":1700000000123,"type":"TIMESTAMP"},"b":{"value":"AQID","type":"BYTES"},"l":{"value":{"latitude":1.5,"longitude":-2.25,"altitude":3.0,"timestamp":5},"type":"LOCATION"},"r":{"value":{"recordName":"target","action":"DELETE_SELF"},"type":"REFERENCE"},"plain":{"value":{"recordName":"nobody","action":"NONE"},"type":"REFERENCE"},"a":{"value":{"fileChecksum":"CHECKSUM","size":5},"type":"ASSETID"},"sl":{"value":["a","","+b","'=c"],"type":"STRING_LIST"},"il":{"value":[1,-2],"type":"INT64_LIST"},"dl":{"value":[0.5],"type":"DOUBLE_LIST"},"tl":{"value":[5],"type":"TIMESTAMP_LIST"},"bl":{"value":["AQ=="],"type":"BYTES_LIST"},"ll":{"value":[{"latitude":1.0,"longitude":2.0}],"type":"LOCATION_LIST"},"rl":{"value":[{"recordName":"target","action":"NONE"}],"type":"REFERENCE_LIST"},"al":{"value":[{"fileChecksum":"CHECKSUM","size":5},{"fileChecksum":"CHECKSUM","size":5}],"type":"ASSETID_LIST"},"none":{"value":[],"type":"INT64_LIST"},"secret":{"value":"x","type":"STRING","isEncrypted":true},"secrets":{"value":[1],"type":"INT64_LIST","isEncrypted":true}}}
        {"recordName":"child","recordType":"Bed","zoneID":{"zoneName":"Z"},"parent":{"recordName":"target"},"fields":{"apos":{"value":"'=q"}}}
        {"kind":"share","rootRecordName":"target","record":{"recordName":"share","recordType":"cloudkit.share","zoneID":{"zoneName":"Z"},"fields":{"cloudkit.title":{"value":"T"}},"publicPermission":"NONE","participants":[{"type":"USER","permission":"READ_WRITE","acceptanceStatus":"ACCEPTED","userIdentity":{"lookupInfo":{"emailAddress":"bea@a.example"}}},{"type":"USER","permission":"READ_ONLY","acceptanceStatus":"INVITED","userIdentity":{"lookupInfo":{"emailAddress":"guest@a.example"}}}]}}
        {"recordName":"target","recordType":"Bed","zoneID":{"zoneName":"Z"},"fields":{"s":{"value":"later"}}}

        """#

    private static let asset = Array("hello".utf8)
    private static let checksum = Base64.encode([1] + SHA256.digest(asset).prefix(20))

    private func filesOfEveryKind() -> MemoryFiles {
        let text = Self.everyKind.replacing("CHECKSUM", with: Self.checksum)
        let name = Self.checksum.replacing("/", with: "_").replacing("+", with: "-")
        return MemoryFiles(Array(text.utf8), beside: [name: Self.asset])
    }

    @Test("What was exported and imported is the same, for fields of every kind, assets and shares")
    func everyFieldKind() throws {
        let first = try home.importing(filesOfEveryKind(), of: TransferHome.ann)
        #expect(first.failures == [] && first.records == 3 && first.shares == 1)
        let files = MemoryFiles()
        #expect(try home.exporting(to: files).records == 4)
        #expect(Array(files.assets.values) == [Self.asset])
        let original = try TransferHome.contents(files)
        #expect(original.count == 4)
        // In another container people have other names: the address leads to them.
        let copy = try home.importing(files, into: "iCloud.b")
        #expect(copy.failures == [] && copy.records == 3 && copy.shares == 1)
        #expect(copy.assets == 3)
        #expect(try home.contents(of: "iCloud.b") == original)
        // Once more over what is there.
        let again = try home.importing(files, into: "iCloud.b") { $0.mode = .update }
        #expect(again.failures == [] && again.records == 3 && again.shares == 1)
        #expect(try home.contents(of: "iCloud.b") == original)
        let refused = try home.importing(files, into: "iCloud.b")
        #expect(refused.failed == 4 && refused.records == 0)
        #expect(Set(refused.failures.map(\.recordName)) == ["full", "child", "target", "share"])
    }

    @Test("A record's file is read by its field, and only by one that names a file")
    func readsAsset() throws {
        try home.importing(filesOfEveryKind(), of: TransferHome.ann)
        let zone = OperatedDatabase(
            home.environment("iCloud.a"), .private, of: TransferHome.ann, zone: "Z")
        func read(_ field: String, at index: Int = 0) throws -> [UInt8] {
            var bytes: [UInt8] = []
            try home.administrator.perform(
                ReadAsset(field, at: index, of: "full", in: zone) { bytes += $0 })
            return bytes
        }
        #expect(try read("a") == Self.asset)
        #expect(try read("al", at: 1) == Self.asset)
        for (field, index) in [("al", 2), ("s", 0), ("gone", 0)] {
            #expect(throws: RecordsRefusal.self) { try read(field, at: index) }
        }
        // Nobody else's zone has it.
        let other = OperatedDatabase(
            home.environment("iCloud.a"), .private, of: TransferHome.bea, zone: "Z")
        #expect(throws: RecordsRefusal.self) {
            try home.administrator.perform(ReadAsset("a", of: "full", in: other) { _ in })
        }
    }

    @Test("An export of all, or of one person's data, says which part of it is done")
    func share() throws {
        let text = String(repeating: "x", count: 1_000)
        let lines = (0..<4_000).map {
            #"{"recordName":"n\#($0)","recordType":"Bed","fields":{"s":{"value":"\#(text)"}}}"#
        }
        let file = MemoryFiles(Array(lines.joined(separator: "\n").utf8))
        #expect(try home.importing(file, of: TransferHome.ann).failures == [])
        for email in [nil, TransferHome.ann] {
            let files = MemoryFiles()
            try home.exporting(to: files, of: email)
            let shares = files.told.compactMap { Int($0.prefix { $0 != " " }) }
            #expect(files.told.allSatisfy { $0.contains(" % ") && $0.contains(" records, ") })
            #expect(shares.count > 2 && shares == shares.sorted() && shares.last == 99)
            #expect((10...50).contains(shares[0]), "\(files.told)")
        }
        let files = MemoryFiles()
        try home.exporting(to: files, of: TransferHome.ann) { $0.type = "Bed" }
        #expect(files.told.allSatisfy { !$0.contains("%") })
    }

    @Test("Assets are left out when that is wanted, and a file that is missing or another is named")
    func withoutAssets() throws {
        let files = filesOfEveryKind()
        let without = MemoryFiles(files.main)
        let named = try home.importing(without, of: TransferHome.ann)
        #expect(named.failed == 1 && named.failures[0].recordName == "full")
        #expect(named.failures[0].reason.contains("missing"))
        let name = try #require(files.assets.keys.first)
        let other = MemoryFiles(files.main, beside: [name: Array("other".utf8)])
        #expect(
            try home.importing(other, into: "iCloud.b", of: TransferHome.ann).failures[0].reason
                .contains("another or damaged"))
        let left = try home.importing(without, into: "iCloud.c", of: TransferHome.ann) {
            $0.withAssets = false
        }
        #expect(left.failed == 0 && left.records == 3)
    }

    @Test("Each record that fails is named, and the rest goes on or not")
    func failures() throws {
        let text = """
            {"recordName":"one","recordType":"Bed","fields":{"n":{"value":1}}}
            {"recordName":"two","recordType":"Bed","fields":{"n":{"value":"a text"}}}
            no JSON
            {"kind":"unheard"}
            {"recordName":"three","recordType":"Bed","zoneID":{"zoneName":"Z","ownerRecordName":"_00000000000000000000000000000000"},"fields":{}}
            {"recordName":"four","recordType":"Bed","fields":{"r":{"value":{"recordName":"gone","action":"VALIDATE"}}}}
            {"recordType":"Bed","fields":{}}
            """
        let whole = try home.importing(MemoryFiles(Array(text.utf8)))
        #expect(whole.records == 2 && whole.failed == 5)
        #expect(Set(whole.failures.map(\.recordName)) == ["two", "", "three", "four"])
        for failure in whole.failures { #expect(!failure.reason.isEmpty) }
        #expect(throws: ImportStopped.self) {
            try home.importing(MemoryFiles(Array(text.utf8)), into: "iCloud.b") { $0.stops = true }
        }
        #expect(try home.contents(of: "iCloud.b").count < 2)
    }

    /// Many records, of which some refer to others anywhere in the file.
    private func many(_ count: Int, _ random: inout SeededRandom) -> [UInt8] {
        let owner = #""zoneID":{"zoneName":"Z"}"#
        return Array(
            (0..<count).map { index in
                let target = random.below(count)
                let text = String((0..<random.below(200)).map { _ in random.one(of: Self.letters) })
                let value = String(
                    decoding: (try? JSONEncoder().encode(text)) ?? Data(), as: UTF8.self)
                let parent =
                    random.once(in: 10) && target != index
                    ? #","r":{"value":{"recordName":"\#(target)","action":"NONE"}}"# : ""
                let checked =
                    random.once(in: 20) && target < index
                    ? #","v":{"value":{"recordName":"\#(target)","action":"VALIDATE"}}"# : ""
                return #"{"recordName":"\#(index)","recordType":"Bed",\#(owner),"#
                    + #""fields":{"s":{"value":\#(value)}\#(parent)\#(checked)}}"#
            }.shuffled(using: &random).joined(separator: "\n").utf8)
    }

    private static let letters: [Character] = [
        "a", "é", "\u{0}", "\u{1}", "\"", "\\", "\n", "=", ",", "'", "\u{2028}", "\u{FFFF}", "😀",
        "\u{202E}", "\u{85}", "Ω",
    ]

    @Test(
        "An import that is cut short anywhere loses and doubles nothing when it is taken up again")
    func cutImports() throws {
        var random = SeededRandom("imports cut short")
        let text = many(1_200, &random)
        try home.importing(MemoryFiles(text), of: TransferHome.ann)
        let whole = try home.contents(of: "iCloud.a")
        #expect(whole.count == 1_200)
        let files = MemoryFiles(text)
        var attempts = 0
        while true {
            attempts += 1
            files.end(after: attempts > 12 ? .max : 5 + random.below(260))
            do {
                let report = try home.importing(files, into: "iCloud.b", of: TransferHome.ann)
                #expect(report.failures == [])
                #expect(report.records == 1_200)
                break
            } catch is MemoryFiles.Gone {
                continue
            }
        }
        #expect(try home.contents(of: "iCloud.b") == whole)
    }

    @Test("An import that is taken up again anywhere knows the owners of whom it read before")
    func ownersOfCutImports() throws {
        let zone =
            #""zoneID":{"zoneName":"Z","ownerRecordName":"_77777777777777777777777777777777"}"#
        let text = """
            {"kind":"zone",\(zone),"emailAddress":"\(TransferHome.ann)"}
            {"recordName":"r","recordType":"Bed",\(zone),"fields":{}}
            {"kind":"share","rootRecordName":"r","record":{"recordName":"s","recordType":"cloudkit.share",\(zone),\
            "fields":{},"publicPermission":"NONE","participants":[]}}
            """
        for calls in 1...20 {
            let files = MemoryFiles(Array(text.utf8))
            files.end(after: calls)
            do { try home.importing(files) { $0.mode = .update } } catch is MemoryFiles.Gone {}
            files.end(after: .max)
            let report = try home.importing(files) { $0.mode = .update }
            #expect(report.failures == [], "after \(calls) calls")
            #expect(report.shares == 1, "after \(calls) calls")
        }
    }

    @Test("An export that is cut short anywhere goes on at its last mark, with nothing twice")
    func cutExports() throws {
        var random = SeededRandom("exports cut short")
        try home.importing(MemoryFiles(many(6_000, &random)), of: TransferHome.ann)
        let whole = try home.contents(of: "iCloud.a")
        let files = MemoryFiles()
        var attempts = 0
        while true {
            attempts += 1
            files.end(after: attempts > 8 ? .max : 3 + random.below(6))
            do {
                try home.exporting(to: files)
                break
            } catch is MemoryFiles.Gone {
                continue
            } catch let refusal as RecordsRefusal {
                // The attempt before was cut when all was written.
                #expect(refusal.description.hasPrefix("the file holds a whole export"))
                break
            }
        }
        files.end(after: .max)
        #expect(try TransferHome.contents(files) == whole)
        // A whole export, and one of something else, are not overwritten.
        #expect(throws: RecordsRefusal.self) { try home.exporting(to: files) }
        let other = MemoryFiles(Array(files.main.prefix(files.main.count / 2)))
        #expect(throws: RecordsRefusal.self) { try home.exporting(to: other, from: "iCloud.b") }
    }

    @Test("A changed file is read or refused line by line, and every line is accounted for")
    func mutations() throws {
        var random = SeededRandom("imported lines")
        let pieces = ["{", "}", "\"", "\n", "\\u", "null", "[", ",", "\u{0}", "1e999", "_"].map {
            Array($0.utf8)
        }
        for _ in 0..<150 {
            var text = many(8, &random)
            for _ in 0...random.below(6) {
                let index = random.below(text.count + 1)
                switch random.below(3) {
                case 0 where index < text.count: text.remove(at: index)
                case 1 where index < text.count: text[index] = UInt8(random.below(256))
                default: text.insert(contentsOf: random.one(of: pieces), at: index)
                }
            }
            let report = try home.importing(MemoryFiles(text), of: TransferHome.ann) {
                $0.mode = .update
            }
            let lines = text.split(separator: UInt8(ascii: "\n")).filter { line in
                line.contains { $0 > 0x20 }
            }
            #expect(report.records + report.failed == lines.count)
        }
    }

    @Test("An export of a type holds what its filters let through, without an index")
    func filtered() throws {
        let text = (0..<50).map {
            #"{"recordName":"\#($0)","recordType":"Bed","fields":{"n":{"value":\#($0)}}}"#
        }.joined(separator: "\n")
        try home.importing(MemoryFiles(Array(text.utf8)))
        let files = MemoryFiles()
        let report = try home.exporting(to: files) {
            $0.type = "Bed"
            $0.filters = ["n >= 10", "n < 12"]
        }
        #expect(report.records == 2)
        #expect(try TransferHome.contents(files).count == 2)
        #expect(try home.exporting(to: MemoryFiles()) { $0.type = "Users" }.records == 0)
        #expect(throws: RecordsRefusal.self) {
            try home.exporting(to: MemoryFiles()) { $0.filters = ["n = 1"] }
        }
    }
}
