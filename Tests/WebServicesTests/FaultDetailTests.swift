import CloudModel
import Foundation
import Testing

/// `detail`, by which programs tell cases of one code apart (rulings.md 48).
@Suite("Details of faults")
struct FaultDetailTests {
    @Test("Whatever is over a limit says limitExceeded, of the request and of an item")
    func limits() throws {
        let server = try WireServer {
            $0.operationsPerRequestMax = 2
            $0.recordBytesMax = 300
            $0.zonesPerUserMax = 1
            $0.fieldsPerTypeMax = 1
            $0.recordTypesMax = 2
            $0.filtersPerQueryMax = 1
            $0.deleteSelfSourcesMax = 1
        }
        let ida = try server.user()
        try ida.make("Shelf")
        try ida.save("a", #"{"f":{"value":"x"}}"#)
        let many = try ida.modify((0..<3).map { operation("create", "r\($0)") })
        #expect(many.status == 400 && many["detail"].string == "limitExceeded", "\(many.text)")
        #expect(many.json.keys == ["uuid", "reason", "serverErrorCode", "detail"])
        let long = String(repeating: "x", count: 400)
        let fat = try ida.modify([
            operation("create", "b", fields: "{\"f\":{\"value\":\"\(long)\"}}")
        ])
        #expect(fat["detail"].string == "limitExceeded")
        let filter = #"{"fieldName":"f","comparator":"EQUALS","fieldValue":{"value":"x"}}"#
        #expect(try ida.query(filters: [filter, filter])["detail"].string == "limitExceeded")
        for item in [
            try ida.make("Attic").zones[0],
            try ida.save("c", #"{"f":{"value":"x"},"g":{"value":1}}"#),
            try ida.save("d", type: "Other").code == nil
                ? try ida.save("e", type: "Third") : try ida.record("d"),
        ] {
            #expect(
                item.code == "BAD_REQUEST" && item["detail"].string == "limitExceeded",
                "\(item.raw)")
        }
    }

    @Test("Sharing what is shared, above, below, as a whole or twice says alreadyShared")
    func alreadyShared() throws {
        let server = try WireServer { $0.participantsPerShareMax = 1 }
        let ida = try server.user()
        _ = try ida.shareNote()
        let tag = try ida.record("note").tag
        let again = try ida.modify([shareOperation("create", "s2", root: "note", rootTag: tag)])
            .records[0]
        #expect(
            again.code == "CONFLICT" && again["detail"].string == "alreadyShared", "\(again.raw)")
        #expect(again["serverRecord"]["recordName"].string == "note")
        let child = try ida.modify([
            operation("create", "leaf", more: #""parent":{"recordName":"note"}"#),
            shareOperation("create", "s3", root: "leaf"),
        ]).records[1]
        #expect(child["detail"].string == "alreadyShared" && child.code == "BAD_REQUEST")
        let whole = try ida.modify([shareOperation("create", "cloudkit.zoneshare")]).records[0]
        #expect(whole["detail"].string == "alreadyShared", "\(whole.raw)")
        let crowd = try ida.changeShare(participants: [
            invitation(email: "a@b.example"), invitation(email: "c@d.example"),
        ])
        #expect(crowd.code == "BAD_REQUEST" && crowd["detail"].string == "tooManyParticipants")
    }

    @Test("A query that looks at too much, or for too long, says queryTooCostly")
    func queries() throws {
        for (rows, milliseconds, status) in [(1, 600_000, 400), (1_000, 0, 503)] {
            let server = try WireServer {
                $0.queryRowsMax = rows
                $0.queryMillisecondsMax = milliseconds
            }
            let ida = try server.user()
            try ida.make("Shelf")
            for number in 0..<4 { try ida.save("r\(number)", #"{"f":{"value":1}}"#) }
            let filter = #"{"fieldName":"f","comparator":"NOT_EQUALS","fieldValue":{"value":1}}"#
            let answer = try ida.query(filters: [filter])
            #expect(
                answer.status == status && answer["detail"].string == "queryTooCostly",
                "\(answer.text)")
        }
    }

    @Test("Faults that need no telling apart have no detail")
    func others() throws {
        let ida = try WireServer().user()
        #expect(try ida.send("private/records/lookup", "[").json.keys.contains("detail") == false)
        try ida.make("Shelf")
        #expect(try ida.record("none").keys == ["recordName", "reason", "serverErrorCode"])
    }
}
