import Foundation
import SQLite
import Seeding
import SharingModel
import Testing

@Suite("A server killed while it does queued work")
struct WorkKillTests {
    private static let kills = 12
    private static let sources = 400

    @Test("Others' sources of a deleted record go, each once, wherever it was killed")
    func deletion() async throws {
        let seed = TestSeed.value
        print("kill test of queued work: LENTICULAR_SEED=\(seed)")
        let folder = try TemporaryFolder()
        let data = folder.path("data")
        try await BlockingThread.run {
            let wire = try SharingProcessWire(data: data)
            _ = try wire.makeAccount(SharingPerson(index: 0))
            let names = (0..<Self.sources).flatMap { ["s\($0)", "below\($0)"] }
            for number in stride(from: 0, to: Self.sources, by: 100) {
                try Self.save(number..<(number + 100), wire)
            }
            try wire.restart { try Self.queue($0) }
            var random = SeededRandom(seed: seed)
            for _ in 0..<Self.kills {
                wire.killSoon(microseconds: random.below(60_000))
                // NB: it only has the store opened; the answer may fall to the kill.
                _ = try? Self.alive(["s0"], wire)
                try wire.restartIfKilled()
            }
            let deadline = Date(timeIntervalSinceNow: 300)
            while try Self.alive(names, wire) > 0, Date.now < deadline {}
            #expect(try Self.alive(names, wire) == 0)
            // Checks the store, too.
            try wire.end()
        }
    }

    /// Saves records that refer to `t`, and one for each that refers to it.
    private static func save(_ numbers: Range<Int>, _ wire: SharingProcessWire) throws {
        func operation(_ name: String, _ target: String) -> String {
            """
            {"operationType":"forceReplace","record":{"recordName":"\(name)","recordType":"Leaf",
            "fields":{"ref":{"value":{"recordName":"\(target)","action":"DELETE_SELF"}}}}}
            """
        }
        let operations = numbers.flatMap {
            [operation("s\($0)", "t"), operation("below\($0)", "s\($0)")]
        }
        let answer = try wire.send(
            0, "public/records/modify", "{\"operations\":[\(operations.joined(separator: ","))]}")
        #expect(answer.status == 200)
    }

    /// Leaves in a store what the deletion of `t` leaves there.
    private static func queue(_ store: String) throws {
        let connection = try Connection(path: store, mode: .readWrite)
        try connection.execute(
            """
            INSERT INTO work (kind, subject, item, name)
            SELECT 2, (SELECT last_position FROM progress), id, 't'
            FROM zones WHERE owner = 0 AND name = '_defaultZone'
            """)
    }

    private static func alive(_ names: [String], _ wire: SharingProcessWire) throws -> Int {
        var count = 0
        for start in stride(from: 0, to: names.count, by: 200) {
            let asked = names[start..<min(names.count, start + 200)]
                .map { "{\"recordName\":\"\($0)\"}" }.joined(separator: ",")
            let answer = try wire.send(0, "public/records/lookup", "{\"records\":[\(asked)]}")
            count += answer["records"].elements.count { $0["serverErrorCode"].string == nil }
        }
        return count
    }
}
