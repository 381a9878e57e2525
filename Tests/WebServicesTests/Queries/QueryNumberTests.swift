import Foundation
import Testing

/// Numbers that a double cannot hold, zeros of both signs, and records without a value.
@Suite("Numbers and missing values in queries")
struct QueryNumberTests {
    private let ida: WireClient

    init() throws {
        ida = try WireServer().user()
        try ida.make("Shelf")
    }

    private func save(_ values: [String], type: String) throws {
        let answer = try ida.modify(
            values.enumerated().map { index, value in
                operation(
                    "create", "v\(index)",
                    fields: "{\"value\":{\"value\":\(value),\"type\":\"\(type)\"}}")
            })
        guard answer.records.allSatisfy({ $0.code == nil }) else { throw WireFailure(answer.text) }
    }

    private func find(_ comparator: String, _ value: String, type: String) throws -> [String] {
        try ida.names(filters: [
            "{\"fieldName\":\"value\",\"comparator\":\"\(comparator)\",\"fieldValue\":{\"value\":\(value),\"type\":\"\(type)\"}}"
        ]).sorted()
    }

    @Test("INT64 is exact over all 64 bits")
    func wholeNumbers() throws {
        let values = [
            "-9223372036854775808", "-9223372036854775807", "-9007199254740993", "-1", "0", "1",
            "9007199254740991", "9007199254740992", "9007199254740993", "9223372036854775806",
            "9223372036854775807",
        ]
        try save(values, type: "INT64")
        for (index, value) in values.enumerated() {
            #expect(try find("EQUALS", value, type: "INT64") == ["v\(index)"])
            #expect(try find("EQUALS", "\"\(value)\"", type: "INT64") == ["v\(index)"])
            #expect(try find("LESS_THAN", value, type: "INT64").count == index)
            #expect(
                try find("GREATER_THAN", value, type: "INT64").count == values.count - 1 - index)
            #expect(try find("NOT_IN", "[\(value)]", type: "INT64_LIST").count == values.count - 1)
        }
        for limit in [nil, 1, 4] {
            #expect(
                try ida.names(sorts: [#"{"fieldName":"value"}"#], limit: limit)
                    == values.indices.map { "v\($0)" })
        }
        let answer = try ida.query(
            sorts: [#"{"fieldName":"value"}"#], more: #""numbersAsStrings":true"#)
        #expect(answer.records.map { $0["fields"]["value"]["value"].string } == values)
    }

    @Test("Zeros of both signs are equal; doubles are compared as they are")
    func doubles() throws {
        try save(
            [
                "-0.0", "0.0", "5e-324", "-5e-324", "0.1", "0.30000000000000004", "0.3", "1e308",
                "3",
            ],
            type: "DOUBLE")
        for zero in ["0", "0.0", "-0.0", "\"-0\""] {
            #expect(try find("EQUALS", zero, type: "DOUBLE") == ["v0", "v1"])
            #expect(try find("IN", "[\(zero)]", type: "DOUBLE_LIST") == ["v0", "v1"])
            #expect(try find("LESS_THAN", zero, type: "DOUBLE") == ["v3"])
            #expect(try find("LESS_THAN_OR_EQUALS", zero, type: "DOUBLE").count == 3)
        }
        #expect(try find("EQUALS", "0.3", type: "DOUBLE") == ["v6"])
        #expect(try find("EQUALS", "3", type: "INT64") == ["v8"])
        #expect(try find("GREATER_THAN", "9223372036854775807", type: "INT64") == ["v7"])
        #expect(
            try ida.names(sorts: [#"{"fieldName":"value","ascending":false}"#], limit: 2)
                == ["v7", "v8", "v5", "v6", "v4", "v2", "v1", "v0", "v3"])
    }

    @Test("Records without a field match no filter on it, and come first where its order ascends")
    func missing() throws {
        try save(["2", "1"], type: "INT64")
        try ida.save("none")
        try ida.save("cleared", #"{"value":{"value":5}}"#)
        try ida.save("cleared", #"{"value":{"value":null}}"#)
        for comparator in ["NOT_EQUALS", "GREATER_THAN_OR_EQUALS", "LESS_THAN_OR_EQUALS"] {
            let found =
                try find(comparator, "7", type: "INT64") + find(comparator, "-7", type: "INT64")
            #expect(!found.contains("none") && !found.contains("cleared") && !found.isEmpty)
        }
        #expect(try find("NOT_IN", "[]", type: "INT64_LIST") == ["v0", "v1"])
        #expect(try find("IN", "[]", type: "INT64_LIST") == [])
        for limit in [nil, 1] {
            #expect(
                try ida.names(sorts: [#"{"fieldName":"value"}"#], limit: limit)
                    == ["none", "cleared", "v1", "v0"])
            #expect(
                try ida.names(sorts: [#"{"fieldName":"value","ascending":false}"#], limit: limit)
                    == ["v0", "v1", "cleared", "none"])
        }
    }

    @Test("Empty lists contain nothing, and all of nothing")
    func emptyLists() throws {
        try save(["[]", "[1,2]", "[2,2]"], type: "INT64_LIST")
        try ida.save("none")
        for (comparator, value, expected) in [
            ("LIST_CONTAINS_ALL", "[]", ["v0", "v1", "v2"]), ("NOT_LIST_CONTAINS_ALL", "[]", []),
            ("LIST_CONTAINS_ANY", "[]", []), ("NOT_LIST_CONTAINS_ANY", "[]", ["v0", "v1", "v2"]),
            ("NOT_LIST_CONTAINS_ANY", "[1]", ["v0", "v2"]),
            ("NOT_LIST_CONTAINS_ALL", "[1,2]", ["v0", "v2"]),
            ("LIST_CONTAINS_ALL", "[2,1,1]", ["v1"]),
        ] {
            #expect(
                try find(comparator, value, type: "INT64_LIST") == expected,
                "\(comparator) \(value)")
        }
        #expect(try find("NOT_LIST_CONTAINS", "1", type: "INT64") == ["v0", "v2"])
    }
}
