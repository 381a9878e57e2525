import CloudModel
import Testing

/// How often requests ask their store, which an engine behind a network answers in a round trip each.
@Suite("Questions that requests ask of an engine")
struct QuestionTests {
    private static let questionsMax = 8

    private func bench() throws -> QuestionBench {
        let bench = try QuestionBench()
        let folders = (0..<20).map { operation("forceReplace", "folder\($0)", type: "Folder") }
        #expect(try bench.user.modify(folders).status == 200)
        return bench
    }

    @Test(
        "A batch of 200 records below stored parents asks no more than one of ten",
        arguments: [10, 200])
    func batch(of count: Int) throws {
        let bench = try bench()
        for round in ["made", "saved again"] {
            let asked = try bench.asked { try bench.save(0..<count) }
            #expect(asked.count <= Self.questionsMax, "\(round): \(asked)")
        }
    }

    @Test("What a batch of 200 below stored parents says that it will ask for is what it asks for")
    func needs() throws {
        let bench = try bench()
        for round in ["made", "saved again"] {
            _ = try bench.asked { try bench.save(0..<200) }
            let (asked, needed) = (bench.counted.questions.askedFor, bench.counted.questions.needed)
            let names = (0..<200).map { "note\($0)" } + (0..<20).map { "folder\($0)" }
            #expect(needed.records == Set(names.compactMap { RecordName($0) }), "\(round)")
            #expect(asked == needed, "\(round)")
        }
    }

    @Test(
        "A public batch of 200 by somebody who made none of the records asks no more than one of ten",
        arguments: [10, 200])
    func strangers(of count: Int) throws {
        let bench = try QuestionBench()
        let operations = (0..<count).map { operation("forceReplace", "note\($0)", type: "Note") }
        let made = try bench.user.modify(operations, zone: nil, in: "public")
        #expect(made.records.allSatisfy { $0.code == nil }, "\(made.text)")
        let stranger = try bench.server.user("eve")
        bench.counted.questions.forget()
        let answer = try stranger.modify(operations, zone: nil, in: "public")
        let asked = bench.counted.questions.all
        #expect(answer.records.count == count, "\(answer.text)")
        #expect(answer.records.allSatisfy { $0.code == "ACCESS_DENIED" }, "\(answer.text)")
        #expect(asked.count <= Self.questionsMax, "\(asked)")
    }

    @Test("A lookup of 200 asks no more than one of ten", arguments: [10, 200])
    func lookup(of count: Int) throws {
        let bench = try bench()
        _ = try bench.save(0..<count)
        let asked = try bench.asked { try bench.user.lookup((0..<count).map { "note\($0)" }) }
        #expect(asked.count <= Self.questionsMax, "\(asked)")
    }

    @Test("A page of 200 that a query finds asks no more than one of ten", arguments: [10, 200])
    func page(of count: Int) throws {
        let bench = try bench()
        _ = try bench.save(0..<200)
        func query() throws -> Answer {
            try bench.user.send(
                "private/records/query",
                """
                {"zoneID":{"zoneName":"Shelf"},"resultsLimit":\(count),"query":{"recordType":"Note",
                "filterBy":[{"fieldName":"n","comparator":"GREATER_THAN","fieldValue":{"value":-1}}],
                "sortBy":[{"fieldName":"n"}]}}
                """)
        }
        // The index is made when it is first needed.
        _ = try query()
        let asked = try bench.asked(query)
        #expect(asked.count <= Self.questionsMax, "\(asked)")
    }
}
