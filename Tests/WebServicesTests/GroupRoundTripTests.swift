#if PostgreSQL
    import CloudDatabase
    import CloudModel
    import Cryptography
    import EngineUnderTest
    import Testing
    import WebServices

    @Suite("Round trips to PostgreSQL that the groups of requests take")
    struct GroupRoundTripTests {
        private let server: WireServer
        private let ida: WireClient

        init() throws {
            let clock = SettableClock()
            let engine = try OtherEngine.processes(
                1, clock: Clock { clock.now }, random: { RandomSource.system.bytes($0) })[0]
            server = try WireServer(engine: engine)
            ida = try server.user("ida")
            try ida.make("Shelf")
        }

        /// How often the one group of a request has waited for the server.
        private func roundTrips(_ request: () throws -> Answer) throws -> Int {
            // What others do after a request before is done.
            _ = try server.store().writeAndWait { _ in }
            let before = try #require(OtherEngine.groups(of: server.store()))
            let answer = try request()
            let after = try #require(OtherEngine.groups(of: server.store()))
            #expect(
                answer.status == 200 && !answer.text.contains("serverErrorCode"), "\(answer.text)")
            #expect(after.count - before.count == 1)
            return after.roundTrips - before.roundTrips
        }

        private func save(_ name: String, _ fields: String = #"{"a":{"value":1}}"#) -> String {
            operation("forceReplace", name, fields: fields)
        }

        @Test("A batch takes two, whatever it saves and changes, and with an index, too")
        func batches() throws {
            _ = try ida.modify([save("first")])
            let many = (0..<200).map { save("r\($0)") }
            let child = operation("create", "child", more: #""parent":{"recordName":"first"}"#)
            for batch in [
                [save("a")], [save("a")], many, many, [save("n", #"{"new":{"value":"x"}}"#)],
                [child],
            ] {
                #expect(try roundTrips { try ida.modify(batch) } == 2)
            }
            let tag = try ida.record("a").tag
            let update = operation("update", "a", fields: #"{"a":{"value":2}}"#, tag: tag)
            #expect(try roundTrips { try ida.modify([update]) } == 2)
            #expect(try ida.modify([update]).json["records"][0].code == "CONFLICT")
            let query =
                #"{"zoneID":{"zoneName":"Shelf"},"query":{"recordType":"Cup","filterBy":[{"fieldName":"a","#
                + #""comparator":"EQUALS","fieldValue":{"value":1}}]}}"#
            #expect(try ida.send("private/records/query", query).records.count == 200)
            #expect(try roundTrips { try ida.modify([save("indexed")]) } == 2)
        }

        @Test("Links, deletions and files take a few more, as many for 200 records as for one")
        func others() throws {
            _ = try ida.modify([save("first")])
            let reference = #"{"to":{"value":{"recordName":"first","action":"DELETE_SELF"}}}"#
            #expect(
                try roundTrips {
                    try ida.modify([operation("create", "a", type: "Tie", fields: reference)])
                } == 3)
            let file = "{\"file\":{\"value\":\(try ida.asset([1, 2, 3]).raw)}}"
            #expect(
                try roundTrips {
                    try ida.modify([operation("create", "b", type: "Photo", fields: file)])
                } == 4)
            let names = (0..<200).map { "r\($0)" }
            _ = try ida.modify(names.map { save($0) })
            #expect(
                try roundTrips { try ida.modify([operation("forceDelete", names[0], type: nil)]) }
                    == 4)
            let others = names.dropFirst().map { operation("forceDelete", $0, type: nil) }
            #expect(try roundTrips { try ida.modify(others) } == 4)
        }

        @Test(
            "In a zone with a shared tree its owner and who takes part in it take two, and one more for each record on the way up to the root"
        )
        func shared() throws {
            let share = try ida.shareNote(zone: "Shared", publicPermission: "READ_WRITE")
            let bo = try server.user("bo")
            try bo.accept(share.shortGUID)
            func note(_ name: String, below parent: String? = nil) -> String {
                operation(
                    "forceReplace", name, type: "Note", fields: #"{"text":{"value":"x"}}"#,
                    more: parent.map { "\"parent\":{\"recordName\":\"\($0)\"}" } ?? "")
            }
            func modify(_ operations: [String]) throws -> Answer {
                try bo.send(
                    "shared/records/modify",
                    #"{"operations":[\#(operations.joined(separator: ","))],"zoneID":{"zoneName":"Shared","ownerRecordName":"\#(ida.name)"}}"#
                )
            }
            let update = operation(
                "forceUpdate", "note", type: "Note", fields: #"{"text":{"value":"x"}}"#)
            // The process does not know yet that something is shared there.
            #expect(try roundTrips { try ida.modify([update], zone: "Shared") } == 3)
            #expect(try roundTrips { try ida.modify([update], zone: "Shared") } == 2)
            for _ in 0..<2 {
                #expect(
                    try roundTrips {
                        try ida.modify([note("child", below: "note")], zone: "Shared")
                    } == 2)
                #expect(try roundTrips { try modify([update]) } == 2)
                #expect(try roundTrips { try modify([note("child", below: "note")]) } == 2)
                #expect(try roundTrips { try modify([note("other", below: "note")]) } == 2)
                let many = (0..<100).map { note("r\($0)", below: "note") }
                #expect(try roundTrips { try modify(many) } == 2)
                #expect(try roundTrips { try modify([note("leaf", below: "child")]) } == 3)
                #expect(try roundTrips { try modify([note("leaflet", below: "leaf")]) } == 4)
            }
            func delete(_ name: String) -> String { operation("forceDelete", name, type: nil) }
            #expect(try roundTrips { try ida.modify([delete("other")], zone: "Shared") } == 4)
            #expect(try roundTrips { try modify([delete("leaflet")]) } == 4)
        }
    }
#endif
