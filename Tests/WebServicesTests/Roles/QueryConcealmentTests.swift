import CloudModel
import Testing

/// Queries of a caller who may read their own records alone tell them of no others: not by their order,
/// their markers, their limits or their refusals (rulings.md 6).
@Suite("Queries beside records that are kept from the caller")
struct QueryConcealmentTests {
    let server: WireServer
    let ida: WireClient
    let mo: WireClient

    init() throws {
        server = try WireServer { $0.queryRowsMax = 60 }
        ida = try server.user("ida")
        mo = try server.user("mo")
        // The later, the lower: an index of the numbers has another order than the records.
        try save(mo, "own", 10) { $0 < 3 ? 90 - $0 : 1 }
    }

    private func save(
        _ client: WireClient, _ prefix: String, _ count: Int, n: (Int) -> Int
    ) throws {
        let answer = try client.modify(
            (0..<count).map {
                operation(
                    "create", "\(prefix)\($0)", type: "Note",
                    fields: #"{"n":{"value":\#(n($0))},"word":{"value":"tea \#(n($0))"}}"#)
            }, zone: nil, in: "public")
        for record in answer.records { try #require(record.code == nil, "\(record.raw)") }
    }

    private func query(_ more: String) throws -> Answer {
        try mo.send("public/records/query", "{\"query\":{\"recordType\":\"Note\"\(more)}")
    }

    private static let high =
        #"{"fieldName":"n","comparator":"GREATER_THAN","fieldValue":{"value":50}}"#
    private static let tea =
        #"{"fieldName":"word","comparator":"CONTAINS_ANY_TOKENS","fieldValue":{"value":"tea"}}"#
    private static let byNumber = #","sortBy":[{"fieldName":"n"}]"#

    @Test("Neither the answer nor the marker depends on how many others there are")
    func hiddenRecords() throws {
        try server.grant(["Note": ["_creator": .read, "_icloud": .create]])
        let queries = [
            #","filterBy":[\#(Self.high)]},"resultsLimit":1"#,
            #","filterBy":[\#(Self.high),\#(Self.tea)]},"resultsLimit":2"#,
            #","filterBy":[\#(Self.tea)]\#(Self.byNumber)},"resultsLimit":3"#,
            #","filterBy":[\#(Self.high)]\#(Self.byNumber)},"resultsLimit":2"#,
            #"\#(Self.byNumber)},"resultsLimit":4"#, #"},"resultsLimit":9"#,
        ]
        let before = try queries.map { try query($0).text }
        #expect(before.allSatisfy { $0.contains("continuationMarker") })
        // More than a query may look at.
        try save(ida, "hidden", 100) { 60 + $0 }
        #expect(try queries.map { try query($0).text } == before)
        var counts: [Int] = []
        for more in queries {
            var names: [String] = []
            var marker: String? = ""
            while let known = marker {
                let page = try query(more + ",\"continuationMarker\":\(quoted(known))")
                try #require(page.status == 200, "\(page.text)")
                names += page.records.compactMap(\.name)
                marker = page["continuationMarker"].string
            }
            #expect(names.allSatisfy { $0.hasPrefix("own") })
            #expect(Set(names).count == names.count)
            counts.append(names.count)
        }
        #expect(counts == [3, 3, 10, 3, 10, 10])
    }

    @Test("Who may read no record of a type is not told what fields it has")
    func refusedType() throws {
        try server.grant(["Note": ["_icloud": .create]])
        for field in ["n", "word", "nothing", "___modTime", "___createdBy"] {
            let filter = """
                {"fieldName":"\(field)","comparator":"EQUALS","fieldValue":{"value":1}}
                """
            for more in [
                ",\"filterBy\":[\(filter)]}", ",\"sortBy\":[{\"fieldName\":\"\(field)\"}]}",
            ] {
                let answer = try query(more)
                #expect(answer.status == 403, "\(more): \(answer.text)")
                #expect(answer.reason == "READ operation not permitted")
            }
        }
    }

    @Test("Records that the caller may not change take nothing from what their request may read")
    func hiddenBytes() throws {
        let server = try WireServer { $0.batchBytesMax = 2_000 }
        let (ida, mo) = (try server.user("ida"), try server.user("mo"))
        let text = String(repeating: "x", count: 1_500)
        for number in 0..<4 {
            try ida.save(
                "big\(number)", "{\"t\":{\"value\":\"\(text)\"}}", type: "Note", zone: nil,
                in: "public")
        }
        let answer = try mo.modify(
            (0..<4).map { operation("forceUpdate", "big\($0)", type: "Note") }, zone: nil,
            in: "public")
        #expect(
            answer.records.map(\.reason)
                == Array(repeating: "WRITE operation not permitted", count: 4))
        // His own count as ever.
        let own = try ida.modify(
            (0..<4).map { operation("forceUpdate", "big\($0)", type: "Note") }, zone: nil,
            in: "public")
        #expect(own.records.contains { $0.reason.contains("bytes together") })
    }
}
