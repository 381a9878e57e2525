import CloudModel
import Seeding
import Storage
import Testing

@testable import SQLiteStorage

/// A record's text as the server makes it, taken apart and packed, and put together again.
@Suite("Rows of versions")
struct VersionRowTests {
    /// What texts are made of here.
    private struct Sample {
        var name = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
        var fields = #""n":{"value":7,"type":"INT64"}"#
        var created = (moment: Milliseconds(1_800_000_000_123), user: "_a", device: "iCloud")
        var modified = (moment: Milliseconds(1_800_000_000_123), user: "_a", device: "iCloud")
        var rest = ""
        var position: Position = 46_655

        static let type = Array("Note".utf8)
        static let zone = Array(#"{"zoneName":"z","ownerRecordName":"_a"}"#.utf8)

        var text: [UInt8] {
            func stamp(_ stamp: (moment: Milliseconds, user: String, device: String)) -> String {
                #"{"timestamp":\#(stamp.moment),"userRecordName":"\#(stamp.user)","#
                    + #""deviceID":"\#(stamp.device)"}"#
            }
            let text =
                #"{"recordName":"\#(name)","recordType":"Note","fields":{\#(fields)},"#
                + #""pluginFields":{},"recordChangeTag":"\#(ChangeTag.text(position))","#
                + #""created":\#(stamp(created)),"modified":\#(stamp(modified)),"#
                + #""deleted":false,"zoneID":\#(String(decoding: Self.zone, as: UTF8.self))\#(rest)}"#
            return Array(text.utf8)
        }

        var key: Int64 { 3 << 40 | position }

        /// - Returns: nil for a text that is not taken apart.
        func row() -> [UInt8]? {
            let modifier: Int64 = created.user == modified.user ? 1 : 2
            return text.withUnsafeBytes { text in
                RecordText(text, type: Self.type, position: position, zone: Self.zone).map {
                    VersionRow.row(
                        VersionRow.Head(
                            key: key, record: RecordNumber(81), type: 5, flags: .hasLinks), text,
                        $0,
                        VersionRow.Users(creator: 1, modifier: modifier))
                }
            }
        }
    }

    /// A text that is like those of records, but for parts that are as odd as may be.
    private static func sample(_ random: inout SeededRandom) -> Sample {
        func odd(_ random: inout SeededRandom) -> String {
            let pieces = [
                "a", "é", "\\\"", "\\\\", "\\u00e9", "}", "{", ",\"pluginFields\":{}", " ", "0",
            ]
            return (0..<random.below(12)).map { _ in pieces[random.below(pieces.count)] }.joined()
                .replacing("\"", with: "'").replacing("\\'", with: "\\\"")
        }
        func uuid(_ random: inout SeededRandom, _ digits: String) -> String {
            let digits = Array(digits)
            let text = (0..<32).map { _ in digits[random.below(digits.count)] }
            return [text[..<8], text[8..<12], text[12..<16], text[16..<20], text[20...]]
                .map { String($0) }.joined(separator: "-")
        }
        func name(_ random: inout SeededRandom) -> String {
            switch random.below(5) {
            case 0: uuid(&random, "0123456789abcdef")
            case 1: uuid(&random, "0123456789ABCDEF")
            case 2: uuid(&random, "0123456789abcdefABCDEF")
            case 3: uuid(&random, "0123456789")
            default: odd(&random)
            }
        }
        var sample = Sample()
        sample.name = name(&random)
        sample.fields = random.below(4) == 0 ? "" : "\"t\":{\"value\":\"\(odd(&random))\"}"
        sample.position = Position(1 + random.below(1 << 39))
        sample.created.moment = Milliseconds(random.below(1 << 46))
        sample.created.device = random.below(2) == 0 ? "iCloud" : "d" + odd(&random)
        sample.modified =
            random.below(2) == 0
            ? sample.created
            : (
                Milliseconds(random.below(1 << 46)), random.below(2) == 0 ? "_a" : "_b",
                random.below(2) == 0 ? "iCloud" : sample.created.device
            )
        if random.below(2) == 0 {
            sample.rest = #","parent":{"recordName":"\#(name(&random))"}"#
        }
        if random.below(4) == 0 { sample.rest += #","shortGUID":"0x""# }
        return sample
    }

    @Test("Whatever a text's parts are, the row holds them, and less than the text")
    func roundTrips() throws {
        var random = SeededRandom("rows of versions")
        for _ in 0..<2_000 {
            let sample = Self.sample(&random)
            let row = try #require(sample.row(), "\(String(decoding: sample.text, as: UTF8.self))")
            try row.withUnsafeBytes { bytes in
                let read = try VersionRow(bytes, key: sample.key)
                #expect(read.record == RecordNumber(81))
                #expect(read.type == 5)
                #expect(read.flags.rawValue == VersionFlags.hasLinks.rawValue)
                #expect(read.textCount == sample.text.count)
                #expect(read.created.moment == sample.created.moment)
                #expect(read.modified.moment == sample.modified.moment)
                #expect(String(decoding: read.fields, as: UTF8.self) == sample.fields)
                var name = [UInt8](repeating: 0, count: read.name.textCount)
                name.withUnsafeMutableBytes { location in
                    guard let base = location.baseAddress else { return }
                    _ = read.name.write(to: base)
                }
                #expect(String(decoding: name, as: UTF8.self) == sample.name)
            }
            #expect(row.count < sample.text.count - 100)
        }
    }

    /// How many bytes of a text its parts are.
    private static func partsCount(_ parts: RecordText) -> Int {
        let ranges = [
            parts.name, parts.fields, parts.created.user, parts.created.device,
            parts.modified.user, parts.modified.device, parts.parent ?? 0..<0, parts.rest,
        ]
        let moments = [parts.created.moment, parts.modified.moment].map { String($0).count }
        return ranges.map(\.count).reduce(0, +) + moments.reduce(0, +)
    }

    @Test("A text that is not exactly as the server makes texts is not taken apart")
    func others() throws {
        var random = SeededRandom("texts of records")
        let good = Sample()
        let frame = try good.text.withUnsafeBytes {
            let parts = RecordText(
                $0, type: Sample.type, position: good.position, zone: Sample.zone)
            return try $0.count - Self.partsCount(#require(parts))
        }
        for _ in 0..<2_000 {
            var text = good.text
            let location = random.below(text.count)
            switch random.below(3) {
            case 0: text[location] ^= 1 << UInt8(random.below(8))
            case 1: text.remove(at: location)
            default: text.insert(UInt8(random.below(256)), at: location)
            }
            text.withUnsafeBytes { bytes in
                let parts = RecordText(
                    bytes, type: Sample.type, position: good.position, zone: Sample.zone)
                guard let parts else { return }
                // What differs is in a part then: all between the parts is as it was.
                #expect(bytes.count - Self.partsCount(parts) == frame)
            }
        }
    }

    @Test("A text is taken apart where its fields are said to end, or not at all")
    func rangesOfFields() throws {
        var random = SeededRandom("places of fields")
        for _ in 0..<500 {
            let sample = Self.sample(&random)
            func parts(_ fieldsEnd: Int?) -> RecordText? {
                sample.text.withUnsafeBytes {
                    RecordText(
                        $0, type: Sample.type, position: sample.position, zone: Sample.zone,
                        fieldsEnd: fieldsEnd)
                }
            }
            let found = try #require(parts(nil))
            let end = found.fields.upperBound
            #expect(try Self.partsCount(#require(parts(end))) == Self.partsCount(found))
            let count = sample.text.count
            let locations = [
                .min, -1, 0, count, count + 1, .max, end - 1, end + 1, random.below(count),
            ]
            for location in locations where location != end { #expect(parts(location) == nil) }
        }
    }

    private static func isDamaged(_ row: [UInt8], _ key: Int64) -> Bool {
        row.withUnsafeBytes { (try? VersionRow($0, key: key)) == nil }
    }

    @Test("No bit of a row, and none of its key, changes unnoticed")
    func flippedBits() throws {
        let sample = Sample()
        let row = try #require(sample.row())
        for location in row.indices {
            for bit in 0..<8 {
                var damaged = row
                damaged[location] ^= 1 << UInt8(bit)
                #expect(Self.isDamaged(damaged, sample.key))
            }
        }
        for bit in 0..<63 {
            #expect(Self.isDamaged(row, sample.key ^ 1 << Int64(bit)))
        }
    }

    @Test("Bytes of any kind are read without harm")
    func fuzzed() throws {
        var random = SeededRandom("damaged rows")
        let row = try #require(Sample().row())
        for _ in 0..<20_000 {
            var bytes = row
            if random.below(2) == 0 {
                for _ in 0...random.below(6) {
                    bytes[random.below(bytes.count)] = UInt8(random.below(256))
                }
            }
            bytes = Array(bytes.prefix(random.below(bytes.count + 1)))
            bytes.withUnsafeBytes { bytes in
                guard let read = try? VersionRow(reading: bytes) else { return }
                let parts = [
                    read.fields, read.rest, read.name.bytes, read.created.device,
                    read.modified.device, read.parent?.bytes ?? bytes,
                ]
                guard let start = bytes.baseAddress else { return }
                for part in parts where !part.isEmpty {
                    guard let location = part.baseAddress else { continue }
                    #expect(location >= start && location + part.count <= start + bytes.count)
                }
            }
        }
    }
}
