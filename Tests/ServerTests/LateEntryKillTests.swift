import Foundation
import Seeding
import SharingModel
import Testing

@Suite("A server killed while it writes what indexes were left for later")
struct LateEntryKillTests {
    private static let kills = 10
    /// Several steps' worth.
    private static let words = 4_000

    @Test("All words of the last texts are found, and none of those before, wherever it was killed")
    func words() async throws {
        let seed = TestSeed.value
        print("kill test of late entries: LENTICULAR_SEED=\(seed)")
        let folder = try TemporaryFolder()
        let data = folder.path("data")
        try await BlockingThread.run {
            let wire = try SharingProcessWire(data: data)
            _ = try wire.makeAccount(SharingPerson(index: 0))
            _ = try wire.send(
                0, "private/zones/modify",
                #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"Late"}}}]}"#
            )
            try Self.save("short", "first", wire)
            // Makes the index.
            #expect(try Self.names(finding: "first", wire) == ["short"])
            var random = SeededRandom(seed: seed)
            for round in 0..<Self.kills {
                try Self.save("page\(round % 2)", Self.text(round), wire)
                wire.killSoon(microseconds: random.below(150_000))
                // NB: it only has the store opened; the answer may fall to the kill.
                _ = try? Self.ask("first", wire)
                try wire.restartIfKilled()
            }
            for round in 0..<Self.kills {
                let expected = round < Self.kills - 2 ? [] : ["page\(round % 2)"]
                for word in [0, Self.words / 2, Self.words - 1] {
                    #expect(
                        try Self.names(finding: "t\(round)w\(word)", wire) == expected,
                        "round \(round), word \(word)")
                }
            }
            #expect(wire.kills == Self.kills)
            // Checks the store, too.
            try wire.end()
        }
    }

    private static func text(_ round: Int) -> String {
        (0..<words).map { "t\(round)w\($0)" }.joined(separator: " ")
    }

    private static func save(_ name: String, _ text: String, _ wire: SharingProcessWire) throws {
        let answer = try wire.send(
            0, "private/records/modify",
            """
            {"zoneID":{"zoneName":"Late"},"operations":[{"operationType":"forceReplace","record":{
            "recordName":"\(name)","recordType":"Page","fields":{"text":{"value":"\(text)"}}}}]}
            """)
        try #require(answer.status == 200)
        #expect(answer["records"].elements.allSatisfy { $0["serverErrorCode"].string == nil })
    }

    private static func ask(_ word: String, _ wire: SharingProcessWire) throws -> SharingAnswer {
        try wire.send(
            0, "private/records/query",
            """
            {"zoneID":{"zoneName":"Late"},"query":{"recordType":"Page","filterBy":[{"fieldName":"text",
            "comparator":"CONTAINS_ALL_TOKENS","fieldValue":{"value":"\(word)"}}]}}
            """)
    }

    /// The records with a word, as soon as the index can tell.
    private static func names(
        finding word: String, _ wire: SharingProcessWire
    ) throws -> [String] {
        let deadline = Date(timeIntervalSinceNow: 300)
        var answer = try ask(word, wire)
        while answer.status == 503, Date.now < deadline { answer = try ask(word, wire) }
        try #require(answer.status == 200)
        return answer["records"].elements.compactMap { $0["recordName"].string }
    }
}
