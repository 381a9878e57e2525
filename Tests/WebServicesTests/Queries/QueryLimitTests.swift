import Dispatch
import Synchronization
import Testing

/// What a query may look at, and for how long.
@Suite("Limits of queries, beside other requests")
struct QueryLimitTests {
    private final class Over: Sendable {
        let flag = Atomic<Bool>(false)
    }

    private func server(
        rows: Int = 100_000, milliseconds: Int = 600_000
    ) throws -> (WireServer, WireClient) {
        let server = try WireServer {
            $0.queryRowsMax = rows
            $0.queryMillisecondsMax = milliseconds
        }
        let ida = try server.user("ida", seconds: 31_000_000)
        try ida.make("Shelf")
        for first in stride(from: 0, to: 400, by: 100) {
            _ = try ida.modify(
                (first..<first + 100).map {
                    operation(
                        "create", "n\($0)",
                        fields:
                            "{\"size\":{\"value\":\($0)},\"kind\":{\"value\":\"k\($0 % 2)\"}}")
                })
        }
        return (server, ida)
    }

    private func filter(_ comparator: String, _ value: Int) -> String {
        PlainFilter(field: "size", comparator: comparator, value: .int(Int64(value))).json()
    }

    @Test("A page that must look at too many records is a 400 that names the limit and a way out")
    func rows() throws {
        let (_, ida) = try server(rows: 100)
        // Nothing but the last record is found, and no index finds it.
        let others = (0..<3).map { filter("NOT_EQUALS", $0) }
        let costly = others + [filter("NOT_EQUALS", 5)]
        let sort = #"{"fieldName":"kind"}"#
        #expect(try ida.query(filters: costly, sorts: [sort], limit: 30).status == 200)
        let answer = try ida.query(filters: costly, sorts: [sort], limit: 150)
        #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(answer.text)")
        #expect(
            answer.reason
                == "the query looked at 100 records without filling a page (limits.queryRowsMax); "
                + "add a filter on an indexed field that fewer records match")
        // An index that finds few records makes it cheap again.
        #expect(
            try ida.names(filters: costly + [filter("GREATER_THAN", 397)], sorts: [sort]).sorted()
                == ["n398", "n399"])
    }

    @Test("The two ends of a range on one field are read as one: nothing beyond them is looked at")
    func ranges() throws {
        let (_, ida) = try server(rows: 100)
        let ends = [filter("GREATER_THAN_OR_EQUALS", 120), filter("LESS_THAN", 200)]
        let expected = (120..<200).map { "n\($0)" }
        for filters in [ends, ends.reversed()] {
            #expect(try ida.names(filters: filters).sorted() == expected)
            #expect(try ida.names(filters: filters, sorts: [#"{"fieldName":"size"}"#]) == expected)
            #expect(
                try ida.names(
                    filters: filters, sorts: [#"{"fieldName":"size","ascending":false}"#])
                    == expected.reversed())
        }
        #expect(try ida.names(filters: ends + [filter("EQUALS", 150)]) == ["n150"])
        #expect(try ida.names(filters: ends + [filter("EQUALS", 200)]) == [])
        #expect(try ida.names(filters: ends + [filter("GREATER_THAN", 300)]) == [])
    }

    @Test("A page that takes too long is a 503 to be tried again; other requests are answered")
    func time() throws {
        let (_, ida) = try server(milliseconds: 0)
        let answer = try ida.query(sorts: [#"{"fieldName":"size"}"#])
        #expect(answer.status == 503 && answer.code == "TRY_AGAIN_LATER", "\(answer.text)")
        #expect(answer.reason.contains("took longer than 0 ms (limits.queryMillisecondsMax)"))
        #expect(try ida.record("n7").name == "n7")
        try ida.save("after")
        #expect(try ida.record("after").name == "after")
    }

    @Test("A query waits for an index that is being built as long as the limit says, and no longer")
    func indexWait() throws {
        let first = try WireServer()
        let storage = HeldStorage(try first.store())
        let body = #"{"query":{"recordType":"Cup","filterBy":[\#(filter("EQUALS", 7))]}}"#
        func user(waiting milliseconds: Int) throws -> WireClient {
            let server = try WireServer(
                storage: storage, limits: { $0.indexWaitMilliseconds = milliseconds })
            let ida = try server.user()
            _ = try ida.modify(
                [operation("create", "n7", fields: #"{"size":{"value":7}}"#)], zone: nil)
            return ida
        }
        let hasty = try user(waiting: 0).send("private/records/query", body)
        #expect(hasty.status == 503 && hasty.code == "TRY_AGAIN_LATER", "\(hasty.text)")
        #expect(hasty.reason.contains("the index on size is being built"), "\(hasty.reason)")
        let waiting = try user(waiting: 3_600_000).start("private/records/query", body)
        storage.release()
        #expect(try waiting.answer().records.map(\.name) == ["n7"])
    }

    @Test("While queries run into their limits, saves and lookups go on and are right")
    func beside() throws {
        let (_, ida) = try server(rows: 100)
        let costly = [filter("NOT_EQUALS", 1)]
        let refused = Waiting<Result<Int, any Error>>()
        let isOver = Over()
        DispatchQueue(label: "queries").async {
            refused.arrive(
                Result {
                    var count = 0
                    while count == 0 || !isOver.flag.load(ordering: .acquiring) {
                        let answer = try ida.query(
                            filters: costly, sorts: [#"{"fieldName":"kind"}"#], limit: 200)
                        guard answer.status == 400 else { throw WireFailure(answer.text) }
                        count += 1
                    }
                    return count
                })
        }
        for number in 0..<50 {
            try ida.save("beside\(number)")
            #expect(try ida.record("beside\(number)").name == "beside\(number)")
        }
        isOver.flag.store(true, ordering: .releasing)
        #expect(try refused.wait().get() > 0)
    }
}
