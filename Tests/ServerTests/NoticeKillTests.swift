import Foundation
import Seeding
import SharingModel
import Testing

/// What was saved is told, however often the server is killed on the way (rulings.md 58).
@Suite("A server killed while it tells of changes")
struct NoticeKillTests {
    private static let kills = 20
    /// So many may wait unheard: of more than 1,000 the server makes one notice.
    private static let unheardMax = 500

    /// What one device has heard.
    private struct Heard {
        /// The identifier of the notice that told of a record, by the record's name.
        var identifiers: [String: String] = [:]
        var repeats = 0
    }

    @Test("Everything acknowledged is heard of, and what is told again has the same identifier")
    func everything() async throws {
        let seed = TestSeed.value
        print("kill test of notices: LENTICULAR_SEED=\(seed)")
        let folder = try TemporaryFolder()
        let data = folder.path("data")
        try await BlockingThread.run {
            let wire = try SharingProcessWire(data: data)
            _ = try wire.makeAccount(SharingPerson(index: 0))
            let courier = try Self.listen(wire)
            var random = SeededRandom(seed: seed)
            var (saved, heard, number) = (Set<String>(), Heard(), 0)
            for _ in 0..<Self.kills {
                wire.killSoon(microseconds: random.below(300_000))
                do {
                    while number < 100_000 {
                        let names = (0...random.below(4)).map { "r\(number + $0)" }
                        number += names.count
                        try Self.save(names, wire)
                        saved.formUnion(names)
                        for _ in 0..<random.below(names.count + 1) {
                            try Self.poll(courier, wire, &heard)
                        }
                        while saved.count - heard.identifiers.count > Self.unheardMax {
                            try Self.poll(courier, wire, &heard)
                        }
                    }
                } catch is SharingLoss {}
                try wire.restartIfKilled()
            }
            let deadline = Date(timeIntervalSinceNow: 300)
            while !saved.isSubset(of: heard.identifiers.keys), Date.now < deadline {
                try Self.poll(courier, wire, &heard)
            }
            #expect(saved.subtracting(heard.identifiers.keys).isEmpty)
            print("kill test of notices: \(saved.count) records, \(heard.repeats) told again")
            try wire.end()
        }
    }

    /// Subscribes to what is made in the public database.
    ///
    /// - Returns: where the user's device waits.
    private static func listen(_ wire: SharingProcessWire) throws -> String {
        let token = try wire.send(0, "tokens/create", #"{"apnsEnvironment":"development"}"#)
        let url = try #require(token["webcourierURL"].string)
        let made = try wire.send(
            0, "public/subscriptions/modify",
            #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"s","#
                + #""subscriptionType":"query","firesOn":["create"],"query":{"recordType":"Leaf"}}}]}"#
        )
        try #require(made.status == 200 && made.code == nil)
        return String(url[(try #require(url.range(of: "/courier/"))).lowerBound...])
    }

    private static func save(_ names: [String], _ wire: SharingProcessWire) throws {
        let operations = names.map {
            "{\"operationType\":\"create\",\"record\":{\"recordName\":\"\($0)\",\"recordType\":\"Leaf\"}}"
        }
        let answer = try wire.send(
            0, "public/records/modify", "{\"operations\":[\(operations.joined(separator: ","))]}")
        #expect(answer.status == 200)
    }

    private static func poll(
        _ courier: String, _ wire: SharingProcessWire, _ heard: inout Heard
    ) throws {
        let answer = try wire.get(courier)
        try #require(answer.status == 200, "\(answer.text)")
        let notice = answer["ck"]
        guard let name = notice["qry"]["rid"].string, let id = notice["nid"].string else { return }
        if let known = heard.identifiers[name] {
            #expect(known == id, "\(name) is told again as something new")
            heard.repeats += 1
        }
        heard.identifiers[name] = id
    }
}
