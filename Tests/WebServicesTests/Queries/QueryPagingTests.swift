import Foundation
import Seeding
import Testing

/// Markers: what a query goes on with while records change (rulings.md 23).
@Suite("Pages of a query")
struct QueryPagingTests {
    private let server: WireServer
    private let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user("ida", seconds: 31_000_000)
        try ida.make("Shelf")
    }

    private func fields(_ number: Int) -> String {
        """
        {"kind":{"value":"\(number % 3 == 0 ? "Odd" : "odd")"},"size":{"value":\(number % 7)},\
        "title":{"value":"tea number \(number * 37 % 101)"},\
        "tags":{"value":["t\(number % 5)","t\(number % 2)"],"type":"STRING_LIST"},\
        "spot":{"value":{"latitude":\(number % 90),"longitude":\(number * 7 % 180)}}}
        """
    }

    private func save(_ numbers: some Sequence<Int>) throws {
        let answer = try ida.modify(
            numbers.map { operation("forceReplace", "n\($0)", fields: fields($0)) })
        guard answer.records.allSatisfy({ $0.code == nil }) else { throw WireFailure(answer.text) }
    }

    @Test("No marker comes with a page that ends at the last record")
    func exactEnd() throws {
        try save(1...6)
        for limit in [1, 2, 3, 6] {
            var marker: String?
            for page in 1...(6 / limit) {
                let answer = try ida.query(limit: limit, marker: marker)
                #expect(answer.records.count == limit)
                marker = answer["continuationMarker"].string
                #expect((marker == nil) == (page == 6 / limit), "page \(page) of \(limit)")
            }
        }
        #expect(try ida.query(limit: 7)["continuationMarker"].exists == false)
        #expect(try ida.query(limit: 4)["continuationMarker"].exists)
    }

    @Test("A marker is padded standard base64, and is good again after the server's restart")
    func markerForm() throws {
        try save(1...5)
        let sort = #"{"fieldName":"title","ascending":false}"#
        let all = try ida.names(sorts: [sort])
        let marker = try #require(
            try ida.query(sorts: [sort], limit: 2)["continuationMarker"].string)
        #expect(Data(base64Encoded: marker)?.base64EncodedString() == marker)
        try server.restart { _ in }
        for _ in 0..<2 {
            #expect(
                try ida.query(sorts: [sort], marker: marker).records.map(\.name) == Array(all[2...])
            )
        }
    }

    /// Ways to ask, each read by other means.
    static let ways: [(filters: [String], sorts: [String])] = [
        ([], []), ([], [#"{"fieldName":"title"}"#]),
        ([], [#"{"fieldName":"size","ascending":false}"#, #"{"fieldName":"title"}"#]),
        ([], [#"{"systemFieldName":"recordName","ascending":false}"#]),
        (
            [#"{"fieldName":"kind","comparator":"EQUALS","fieldValue":{"value":"ODD"}}"#],
            [#"{"fieldName":"size"}"#]
        ),
        ([#"{"fieldName":"kind","comparator":"EQUALS","fieldValue":{"value":"ODD"}}"#], []),
        (
            [#"{"fieldName":"size","comparator":"GREATER_THAN","fieldValue":{"value":2}}"#],
            [#"{"fieldName":"size","ascending":false}"#]
        ),
        (
            [
                #"{"fieldName":"size","comparator":"IN","fieldValue":{"value":[1,3,5,1],"type":"INT64_LIST"}}"#
            ], []
        ),
        (
            [
                #"{"fieldName":"title","comparator":"CONTAINS_ALL_TOKENS","fieldValue":{"value":"Tea"}}"#
            ], []
        ),
        (
            [
                #"{"fieldName":"title","comparator":"BEGINS_WITH","fieldValue":{"value":"tea number"}}"#
            ],
            [#"{"fieldName":"kind"}"#]
        ),
        (
            [
                #"{"fieldName":"tags","comparator":"LIST_CONTAINS_ANY","fieldValue":{"value":["t0","t1","t2"]}}"#
            ], []
        ),
        (
            [],
            [#"{"fieldName":"spot","relativeLocation":{"latitude":10,"longitude":10}}"#]
        ),
        (
            [
                #"{"fieldName":"spot","comparator":"NEAR","distance":8e6,"fieldValue":{"value":{"latitude":10,"longitude":10}}}"#
            ],
            [
                #"{"fieldName":"spot","ascending":false,"relativeLocation":{"latitude":10,"longitude":10}}"#
            ]
        ),
        (
            [
                #"{"systemFieldName":"createdTimestamp","comparator":"GREATER_THAN","fieldValue":{"value":0}}"#
            ], []
        ),
    ]

    @Test(
        "Records that do not change are neither skipped nor repeated while others do",
        arguments: ways.indices)
    func changing(way: Int) throws {
        let (filters, sorts) = Self.ways[way]
        var random = SeededRandom("paging \(way)")
        let steady = Set((1...120).filter { $0 % 2 == 0 }.map { "n\($0)" })
        try save(1...120)
        let whole = try ida.names(filters: filters, sorts: sorts)
        let expected = whole.filter { steady.contains($0) }
        #expect(expected.count > 5, "way \(way) finds \(whole.count)")
        for _ in 0..<3 {
            var got: [String] = []
            var marker: String?
            repeat {
                let answer = try ida.query(
                    filters: filters, sorts: sorts, limit: Int.random(in: 1...9, using: &random),
                    marker: marker)
                guard answer.status == 200 else { throw WireFailure(answer.text) }
                got += answer.records.map { $0.name ?? "" }
                marker = answer["continuationMarker"].string
                try disturb(&random)
            } while marker != nil
            let seen = got.filter { steady.contains($0) }
            #expect(
                sorts.isEmpty ? seen.sorted() == expected.sorted() : seen == expected,
                "way \(way), LENTICULAR_SEED=\(random.seed)")
        }
    }

    /// Makes, moves, changes and deletes records of odd numbers.
    private func disturb(_ random: inout SeededRandom) throws {
        server.clock.advance(1)
        var chosen: Set<Int> = []
        for _ in 0..<6 { chosen.insert(Int.random(in: 0..<80, using: &random) * 2 + 1) }
        let operations = chosen.sorted().map { number in
            random.happens(30)
                ? operation("forceDelete", "n\(number)", type: nil)
                : operation(
                    "forceReplace", "n\(number)",
                    fields: fields(Int.random(in: 0..<500, using: &random)))
        }
        let answer = try ida.modify(operations)
        guard answer.records.allSatisfy({ $0.code == nil }) else { throw WireFailure(answer.text) }
    }

    @Test("The record at which a page ended may go, change and come back")
    func endOfPageGone() throws {
        try save(1...9)
        for sorts in [
            [], [#"{"fieldName":"title"}"#], [#"{"fieldName":"size","ascending":false}"#],
        ] {
            try save(1...9)
            let all = try ida.names(sorts: sorts)
            let first = try ida.query(sorts: sorts, limit: 4)
            let marker = try #require(first["continuationMarker"].string)
            let last = try #require(first.records.last?.name)
            try ida.delete(last)
            #expect(
                try ida.query(sorts: sorts, marker: marker).records.map(\.name) == Array(all[4...]))
        }
    }

    @Test("A query sees every write that was acknowledged before it")
    func readsOwnWrites() throws {
        let size = #"{"fieldName":"size","comparator":"EQUALS","fieldValue":{"value":42}}"#
        for number in 1...60 {
            try ida.save("w\(number)", #"{"size":{"value":42}}"#)
            #expect(try ida.names(filters: [size]).count == number)
        }
        for number in 1...60 {
            if number % 2 == 0 {
                try ida.delete("w\(number)")
            } else {
                try ida.save("w\(number)", #"{"size":{"value":41}}"#)
            }
            #expect(try ida.names(filters: [size]).count == 60 - number)
        }
    }
}
