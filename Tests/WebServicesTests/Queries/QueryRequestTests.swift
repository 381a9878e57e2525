import Foundation
import Testing

/// How a query is written, and what is wrong with one that is not answered (rulings.md 1, 13, 22 and 24).
@Suite("Requests to records/query")
struct QueryRequestTests {
    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer {
            $0.filtersPerQueryMax = 3
            $0.sortsPerQueryMax = 2
            $0.listValuesPerQueryMax = 4
            $0.recordsPerResponseMax = 5
        }
        ida = try server.user()
        try ida.make("Shelf", "Wall")
        _ = try ida.modify([
            operation(
                "create", "c1",
                fields: """
                    {"name":{"value":"Ida"},"size":{"value":3},"ratio":{"value":0.5},\
                    "at":{"value":1700000000123,"type":"TIMESTAMP"},"raw":{"value":"AAEC","type":"BYTES"},\
                    "spot":{"value":{"latitude":1,"longitude":2}},"tags":{"value":["a","b"]},\
                    "other":{"value":{"recordName":"c2","action":"NONE"}},\
                    "pin":{"value":"1234","type":"STRING","isEncrypted":true}}
                    """),
            operation("create", "c2", fields: #"{"name":{"value":"Otto"},"size":{"value":5}}"#),
        ])
    }

    private func names(_ filter: String) throws -> [String] { try ida.names(filters: [filter]) }

    private func expectRefused(
        _ answer: Answer, _ reason: String, code: String = "BAD_REQUEST", status: Int = 400
    ) {
        #expect(answer.status == status && answer.code == code, "\(answer.text)")
        #expect(answer.reason.contains(reason), "\(answer.reason) does not say \(reason)")
    }

    @Test("A query answers with whole records, as lookup does, and with no marker at the end")
    func whole() throws {
        let answer = try ida.query(sorts: [#"{"fieldName":"name"}"#])
        #expect(answer.json.keys == ["records"])
        #expect(
            answer.records.map(\.raw)
                == (try ida.lookup(["c1", "c2"]).records.map(\.raw)))
        #expect(
            try ida.query(filters: [
                #"{"fieldName":"name","comparator":"EQUALS","fieldValue":{"value":"Nobody"}}"#
            ]).text == #"{"records":[]}"#)
    }

    @Test("desiredKeys and numbersAsStrings shape the answer")
    func rendering() throws {
        let size = #"[{"fieldName":"size","comparator":"EQUALS","fieldValue":{"value":3}}]"#
        for key in ["numbersAsStrings", "numberAsStrings"] {
            let answer = try ida.send(
                "private/records/query",
                """
                {"query":{"recordType":"Cup","filterBy":\(size)},"zoneID":{"zoneName":"Shelf"},\
                "desiredKeys":["size","size","none"],"\(key)":true}
                """)
            #expect(
                answer.records[0]["fields"].raw == #"{"size":{"value":"3","type":"INT64"}}"#)
        }
        #expect(
            try ida.query(more: #""desiredKeys":[]"#).records.map { $0["fields"].raw } == [
                "{}", "{}",
            ])
    }

    @Test(
        "Filters and sorts are taken in every spelling that clients use",
        arguments: [
            #"{"fieldName":"size","comparator":"EQUALS","fieldValue":{"value":3,"type":"INT64"}}"#,
            #"{"fieldName":"size","comparator":"EQUALS","fieldValue":{"value":"3","type":"INT64"}}"#,
            #"{"fieldName":"size","comparator":"EQUALS","fieldValue":{"value":3},"distance":null}"#,
            #"{"fieldName":"size","systemFieldName":null,"comparator":"EQUALS","fieldValue":{"value":3,"type":null},"new":1}"#,
            #"{"fieldName":"ratio","comparator":"EQUALS","fieldValue":{"value":0.5}}"#,
            #"{"fieldName":"ratio","comparator":"LESS_THAN","fieldValue":{"value":1}}"#,
            #"{"fieldName":"ratio","comparator":"LESS_THAN","fieldValue":{"value":1,"type":"INT64"}}"#,
            #"{"fieldName":"ratio","comparator":"LESS_THAN","fieldValue":{"value":"1e0","type":"DOUBLE"}}"#,
            #"{"fieldName":"at","comparator":"EQUALS","fieldValue":{"value":1700000000123}}"#,
            #"{"fieldName":"at","comparator":"EQUALS","fieldValue":{"value":"1700000000123","type":"TIMESTAMP"}}"#,
            #"{"fieldName":"other","comparator":"EQUALS","fieldValue":{"value":{"recordName":"c2"}}}"#,
            #"{"fieldName":"other","comparator":"EQUALS","fieldValue":{"value":{"recordName":"c2","action":"VALIDATE","zoneID":{"zoneName":"Shelf"}},"type":"REFERENCE"}}"#,
            #"{"fieldName":"other","comparator":"EQUALS","fieldValue":{"value":"c2"}}"#,
            #"{"fieldName":"name","comparator":"IN","fieldValue":{"value":["ida","x"],"type":"STRING_LIST"}}"#,
            #"{"fieldName":"tags","comparator":"LIST_CONTAINS_ANY","fieldValue":{"value":["b","x"]}}"#,
            #"{"fieldName":"spot","comparator":"NEAR","distance":"5e3","fieldValue":{"value":{"latitude":1,"longitude":2,"altitude":-1}}}"#,
            #"{"fieldName":"___recordID","comparator":"EQUALS","fieldValue":{"value":{"recordName":"c1"},"type":"REFERENCE"}}"#,
            #"{"fieldName":"___recordId","comparator":"EQUALS","fieldValue":{"value":"c1"}}"#,
            #"{"fieldName":"recordName","comparator":"EQUALS","fieldValue":{"value":"c1","type":"STRING"}}"#,
            #"{"systemFieldName":"recordName","comparator":"IN","fieldValue":{"value":[{"recordName":"c1"}],"type":"REFERENCE_LIST"}}"#,
            #"{"systemFieldName":"___recordID","comparator":"IN","fieldValue":{"value":["c1"],"type":"STRING_LIST"}}"#,
            #"{"fieldName":"recordName","systemFieldName":"recordName","comparator":"BEGINS_WITH","fieldValue":{"value":"c1"}}"#,
            #"{"systemFieldName":"recordName","comparator":"LESS_THAN","fieldValue":{"value":{"recordName":"c2"}}}"#,
        ])
    func spellings(filter: String) throws {
        #expect(try names(filter) == ["c1"])
        // One object instead of an array.
        let bare = try ida.send(
            "private/records/query",
            "{\"query\":{\"recordType\":\"Cup\",\"filterBy\":\(filter)},\"zoneID\":{\"zoneName\":\"Shelf\"}}"
        )
        #expect(bare.records.map(\.name) == ["c1"])
    }

    @Test("System fields are known by all their names, in filters and in sorts")
    func systemFields() throws {
        server.clock.advance(1_000)
        let late = try ida.save("c3")["modified"]["timestamp"].int ?? 0
        for spelling in [
            #""fieldName":"___createTime""#, #""systemFieldName":"createdTimestamp""#,
            #""systemFieldName":"___createTime""#, #""fieldName":"createdTimestamp""#,
            #""fieldName":"___modTime""#, #""systemFieldName":"modifiedTimestamp""#,
        ] {
            #expect(
                try names(
                    "{\(spelling),\"comparator\":\"GREATER_THAN_OR_EQUALS\",\"fieldValue\":{\"value\":\(late)}}"
                ) == ["c3"])
            #expect(
                try ida.names(sorts: ["{\(spelling),\"ascending\":false}"]) == ["c3", "c2", "c1"])
        }
        #expect(
            try ida.names(sorts: [#"{"systemFieldName":"recordName","ascending":false}"#])
                == ["c3", "c2", "c1"])
    }

    @Test("A field that has a system field's wire name is the field")
    func fieldNamedLikeSystem() throws {
        try ida.save("m1", #"{"recordName":{"value":"mine"}}"#, type: "Mine")
        let filter =
            #"{"fieldName":"recordName","comparator":"EQUALS","fieldValue":{"value":"mine"}}"#
        #expect(try ida.names("Mine", filters: [filter]) == ["m1"])
    }

    @Test("A relativeLocation is taken wrapped and bare")
    func relativeLocation() throws {
        for location in [
            #"{"latitude":1,"longitude":2}"#, #"{"value":{"latitude":1,"longitude":2}}"#,
            #"{"value":{"latitude":1,"longitude":2},"type":"LOCATION"}"#,
        ] {
            #expect(
                try ida.names(sorts: ["{\"fieldName\":\"spot\",\"relativeLocation\":\(location)}"])
                    == ["c1", "c2"])
        }
    }

    @Test("resultsLimit may be text, is capped silently, and is refused below 1")
    func resultsLimit() throws {
        for number in 3...9 { try ida.save("c\(number)") }
        #expect(try ida.query(more: #""resultsLimit":"2""#).records.count == 2)
        #expect(try ida.query(limit: 1_000_000).records.count == 5)
        #expect(try ida.query(limit: 1_000_000)["continuationMarker"].exists)
        #expect(try ida.query().records.count == 5)
        for limit in ["0", "-1", "\"x\"", "1.5", "true"] {
            expectRefused(try ida.query(more: "\"resultsLimit\":\(limit)"), "resultsLimit")
        }
    }

    @Test(
        "What a query cannot be is refused with the key and what was expected",
        arguments: [
            (#"{}"#, "missing required field 'query'"),
            (#"{"query":null}"#, "missing required field 'query'"),
            (#"{"query":[]}"#, "query: expected an object"),
            (#"{"query":{}}"#, "missing required field 'recordType'"),
            (#"{"query":{"recordType":5}}"#, "recordType: expected a string"),
            (
                #"{"query":{"recordType":"Cup","filterBy":"x"}}"#,
                "filterBy: expected an array of objects"
            ),
            (#"{"query":{"recordType":"Cup","filterBy":[1]}}"#, "filterBy: expected an object"),
            (#"{"query":{"recordType":"Cup","sortBy":[null]}}"#, "sortBy: expected an object"),
            (#"{"query":{"recordType":"Cup"},"zoneWide":1}"#, "zoneWide: expected true or false"),
            (
                #"{"query":{"recordType":"Cup"},"continuationMarker":7}"#,
                "continuationMarker: expected a string"
            ),
            (
                #"{"query":{"recordType":"Cup"},"continuationMarker":"AAAA"}"#,
                "continuationMarker: expected"
            ),
            (
                #"{"query":{"recordType":"Cup"},"desiredKeys":"a"}"#,
                "desiredKeys: expected an array"
            ),
            (
                #"{"query":{"recordType":"Cup","sortBy":[{}]}}"#,
                "missing required field 'fieldName'"
            ),
            (
                #"{"query":{"recordType":"Cup","sortBy":[{"fieldName":"size","ascending":"yes"}]}}"#,
                "ascending: expected true or false"
            ),
            (
                #"{"query":{"recordType":"Cup","sortBy":[{"systemFieldName":"size"}]}}"#,
                "systemFieldName: expected one of recordName"
            ),
            (
                #"{"query":{"recordType":"Cup","sortBy":[{"fieldName":"___secret"}]}}"#,
                "Unknown field '___secret'"
            ),
            (
                #"{"query":{"recordType":"Cup","sortBy":[{"fieldName":"a b"}]}}"#,
                "Unknown field 'a b'"
            ),
            (
                #"{"query":{"recordType":"Cup","sortBy":[{"fieldName":"size","systemFieldName":"recordName"}]}}"#,
                "expected one of them, not both"
            ),
            (
                #"{"query":{"recordType":"Cup","sortBy":[{"fieldName":"spot"}]}}"#,
                "relativeLocation"
            ),
            (
                #"{"query":{"recordType":"Cup","sortBy":[{"fieldName":"spot","relativeLocation":{"latitude":91,"longitude":0}}]}}"#,
                "relativeLocation: expected an object with latitude"
            ),
            (
                #"{"query":{"recordType":"Cup","sortBy":[{"fieldName":"size","relativeLocation":{"latitude":1,"longitude":0}}]}}"#,
                "relativeLocation is for a LOCATION"
            ),
        ])
    func malformed(body: String, reason: String) throws {
        var body = body
        if body.hasPrefix("{\"query\":{\"recordType\":\"Cup\"") {
            body.removeLast()
            body += ",\"zoneID\":{\"zoneName\":\"Shelf\"}}"
        }
        expectRefused(try ida.send("private/records/query", body), reason)
    }

    @Test(
        "What a filter cannot be is refused with the key and what was expected",
        arguments: [
            (
                #"{"fieldName":"size","fieldValue":{"value":1}}"#,
                "missing required field 'comparator'"
            ),
            (
                #"{"comparator":"EQUALS","fieldValue":{"value":1}}"#,
                "missing required field 'fieldName'"
            ),
            (#"{"fieldName":"size","comparator":"EQUALS"}"#, "missing required field 'fieldValue'"),
            (
                #"{"fieldName":"size","comparator":"EQUALS","fieldValue":null}"#,
                "missing required field 'fieldValue'"
            ),
            (
                #"{"fieldName":"size","comparator":"EQUALS","fieldValue":{}}"#,
                "missing required field 'value'"
            ),
            (
                #"{"fieldName":"size","comparator":"EQUALS","fieldValue":{"value":null}}"#,
                "missing required field 'value'"
            ),
            (
                #"{"fieldName":"size","comparator":"EQUALS","fieldValue":3}"#,
                "fieldValue: expected an object"
            ),
            (
                #"{"fieldName":"size","comparator":"equals","fieldValue":{"value":1}}"#,
                "comparator: expected one of EQUALS, NOT_EQUALS"
            ),
            (
                #"{"fieldName":"size","comparator":"CONTAINS","fieldValue":{"value":1}}"#,
                "comparator: expected one of"
            ),
            (
                #"{"fieldName":"size","comparator":"EQUALS","fieldValue":{"value":true}}"#,
                "fieldValue: expected a string, a number"
            ),
            (
                #"{"fieldName":"size","comparator":"EQUALS","fieldValue":{"value":"x","type":"INT64"}}"#,
                "a whole number of 64 bits for INT64"
            ),
            (
                #"{"fieldName":"size","comparator":"EQUALS","fieldValue":{"value":1,"type":"int"}}"#,
                "type: expected one of STRING"
            ),
            (
                #"{"fieldName":"size","comparator":"EQUALS","fieldValue":{"value":1.5}}"#,
                "Invalid value, expected type INT64."
            ),
            (
                #"{"fieldName":"size","comparator":"EQUALS","fieldValue":{"value":"3"}}"#,
                "Invalid value, expected type INT64."
            ),
            (
                #"{"fieldName":"at","comparator":"EQUALS","fieldValue":{"value":3,"type":"INT64"}}"#,
                "Invalid value, expected type TIMESTAMP."
            ),
            (
                #"{"fieldName":"at","comparator":"EQUALS","fieldValue":{"value":1.5}}"#,
                "Invalid value, expected type TIMESTAMP."
            ),
            (
                #"{"fieldName":"name","comparator":"EQUALS","fieldValue":{"value":3}}"#,
                "Invalid value, expected type STRING."
            ),
            (
                #"{"fieldName":"name","comparator":"EQUALS","fieldValue":{"value":["Ida"]}}"#,
                "Invalid value, expected type STRING."
            ),
            (
                #"{"fieldName":"name","comparator":"EQUALS","fieldValue":{"value":{"recordName":"c1"}}}"#,
                "Invalid value, expected type STRING."
            ),
            (
                #"{"fieldName":"name","comparator":"IN","fieldValue":{"value":["Ida"]}}"#,
                "Unexpected input"
            ),
            (
                #"{"fieldName":"name","comparator":"NOT_IN","fieldValue":{"value":"Ida","type":"STRING"}}"#,
                "Unexpected input"
            ),
            (
                #"{"fieldName":"name","comparator":"IN","fieldValue":{"value":"Ida","type":"STRING_LIST"}}"#,
                "an array for STRING_LIST"
            ),
            (
                #"{"fieldName":"name","comparator":"IN","fieldValue":{"value":[1],"type":"INT64_LIST"}}"#,
                "Invalid value, expected type STRING_LIST."
            ),
            (
                #"{"fieldName":"tags","comparator":"LIST_CONTAINS","fieldValue":{"value":["a"]}}"#,
                "Invalid value, expected type STRING."
            ),
            (
                #"{"fieldName":"tags","comparator":"LIST_CONTAINS_ALL","fieldValue":{"value":"a"}}"#,
                "Invalid value, expected type STRING_LIST."
            ),
            (
                #"{"fieldName":"tags","comparator":"LIST_CONTAINS_ALL","fieldValue":{"value":["a",1]}}"#,
                "a list of values of one type"
            ),
            (
                #"{"fieldName":"tags","comparator":"EQUALS","fieldValue":{"value":["a"]}}"#,
                "STRING_LIST, which cannot be queried with filter EQUALS"
            ),
            (
                #"{"fieldName":"size","comparator":"BEGINS_WITH","fieldValue":{"value":"1"}}"#,
                "INT64, which cannot be queried with filter BEGINS_WITH"
            ),
            (
                #"{"fieldName":"name","comparator":"LIST_CONTAINS","fieldValue":{"value":"a"}}"#,
                "cannot be queried with filter LIST_CONTAINS"
            ),
            (
                #"{"fieldName":"name","comparator":"NEAR","distance":1,"fieldValue":{"value":"a"}}"#,
                "cannot be queried with filter NEAR"
            ),
            (
                #"{"fieldName":"raw","comparator":"LESS_THAN","fieldValue":{"value":"AAEC","type":"BYTES"}}"#,
                "BYTES, which cannot be queried with filter LESS_THAN"
            ),
            (
                #"{"fieldName":"raw","comparator":"EQUALS","fieldValue":{"value":"AAEC"}}"#,
                "send {\"value\":…,\"type\":\"BYTES\"}"
            ),
            (
                #"{"fieldName":"spot","comparator":"NEAR","fieldValue":{"value":{"latitude":1,"longitude":2}}}"#,
                "missing required field 'distance'"
            ),
            (
                #"{"fieldName":"spot","comparator":"NEAR","distance":-1,"fieldValue":{"value":{"latitude":1,"longitude":2}}}"#,
                "distance: expected a number of metres"
            ),
            (
                #"{"fieldName":"spot","comparator":"NEAR","distance":1,"fieldValue":{"value":{"latitude":1,"longitude":181}}}"#,
                "latitude (-90 to 90)"
            ),
            (
                #"{"fieldName":"other","comparator":"EQUALS","fieldValue":{"value":{"recordName":""}}}"#,
                "an object with recordName for REFERENCE"
            ),
            (
                #"{"fieldName":"other","comparator":"EQUALS","fieldValue":{"value":{"recordName":"x","zoneID":7}}}"#,
                "zoneID: expected an object"
            ),
            (
                #"{"fieldName":"nothing","comparator":"EQUALS","fieldValue":{"value":1}}"#,
                "Unknown field 'nothing' in record type 'Cup'"
            ),
            (
                #"{"fieldName":"pin","comparator":"EQUALS","fieldValue":{"value":"1234","type":"STRING","isEncrypted":true}}"#,
                "ENCRYPTED_STRING value cannot be queried with filter EQUALS"
            ),
            (
                #"{"systemFieldName":"createdTimestamp","comparator":"EQUALS","fieldValue":{"value":"x"}}"#,
                "Invalid value, expected type TIMESTAMP."
            ),
            (
                #"{"systemFieldName":"recordName","comparator":"EQUALS","fieldValue":{"value":"ü"}}"#,
                "Invalid value, expected type REFERENCE."
            ),
        ])
    func badFilter(filter: String, reason: String) throws {
        expectRefused(try ida.query(filters: [filter]), reason)
    }

    @Test(
        "Over a limit of filters, sorts or list values, the reason names limit, value and setting")
    func limits() throws {
        let filter = #"{"fieldName":"size","comparator":"EQUALS","fieldValue":{"value":3}}"#
        #expect(try ida.names(filters: Array(repeating: filter, count: 3)) == ["c1"])
        expectRefused(
            try ida.query(filters: Array(repeating: filter, count: 4)),
            "filterBy: 4 given; the limit is 3")
        let sort = #"{"fieldName":"size"}"#
        #expect(try ida.names(sorts: [sort, sort]) == ["c1", "c2"])
        expectRefused(
            try ida.query(sorts: [sort, sort, sort]),
            "sortBy: 3 given; the limit is 2")
        let two =
            #"{"fieldName":"size","comparator":"IN","fieldValue":{"value":[3,4],"type":"INT64_LIST"}}"#
        #expect(try ida.names(filters: [two, two]) == ["c1"])
        expectRefused(
            try ida.query(filters: [two, two, two]),
            "more than 4 values in the lists of one query")
    }

    @Test("Unknown record types are a 404; Users cannot be queried")
    func types() throws {
        for type in ["Nothing", "a b", "_x", "", "cup"] {
            expectRefused(
                try ida.query(type), "Did not find record type: \(type)", code: "NOT_FOUND",
                status: 404)
        }
        expectRefused(try ida.query("Users"), "Queried type is not marked indexable")
    }

    @Test("Of a name longer than any can be, a reason repeats only the beginning")
    func longNames() throws {
        let long = String(repeating: "x", count: 100_000)
        let filter = #"{"fieldName":"\#(long)","comparator":"EQUALS","fieldValue":{"value":1}}"#
        let system = #"{"fieldName":"___\#(long)","comparator":"EQUALS","fieldValue":{"value":1}}"#
        for answer in [
            try ida.query(long), try ida.query(filters: [filter]),
            try ida.query(filters: [system]),
        ] {
            #expect(answer.reason.contains("xxx…") && answer.reason.count < 500)
        }
        let items = try ida.modify([
            operation("create", "a", type: long),
            operation("create", "b", fields: "{\"\(long)\":{\"value\":1}}"),
            operation("create", "c", fields: "{\"n\":{\"value\":1,\"type\":\"\(long)\"}}"),
            operation("create", "d", more: "\"parent\":{\"recordName\":\"\(long)\"}"),
        ])
        for item in items.records {
            #expect(item.reason.contains("xxx…") && item.reason.count < 500)
        }
    }

    @Test("An encrypted field may be sorted by, which orders nothing")
    func encryptedSort() throws {
        for ascending in [true, false] {
            #expect(
                try ida.names(sorts: ["{\"fieldName\":\"pin\",\"ascending\":\(ascending)}"])
                    == ["c1", "c2"])
        }
    }

    @Test(
        "What cannot be sorted says so",
        arguments: [
            (
                #"{"fieldName":"tags"}"#,
                "Field 'tags' is STRING_LIST, which is never sortable"
            ),
            (
                #"{"fieldName":"raw"}"#,
                "Field 'raw' is BYTES, which is never sortable"
            ),
            (
                #"{"fieldName":"other"}"#,
                "Field 'other' is REFERENCE, which is never sortable"
            ),
            (#"{"fieldName":"nothing"}"#, "Unknown field 'nothing'"),
            (
                #"{"systemFieldName":"createdUserRecordName"}"#,
                "Field 'createdUserRecordName' is REFERENCE, which is never sortable"
            ),
        ])
    func unsortable(sort: String, reason: String) throws {
        expectRefused(try ida.query(sorts: [sort]), reason)
    }

    // MARK: - Zones

    @Test("zoneWide asks every zone of the database, unless zoneID names one")
    func zoneWide() throws {
        try ida.save("w1", zone: "Wall")
        try ida.save("d1", zone: nil)
        #expect(try ida.names(zone: nil) == ["d1"])
        #expect(try ida.names(zone: "Wall") == ["w1"])
        #expect(try ida.names(zone: nil, more: #""zoneWide":false"#) == ["d1"])
        for limit in [nil, 1, 3] {
            #expect(
                try ida.names(
                    sorts: [#"{"systemFieldName":"recordName"}"#], zone: nil, limit: limit,
                    more: #""zoneWide":true"#) == ["c1", "c2", "d1", "w1"])
        }
        #expect(try ida.names(zone: "Wall", more: #""zoneWide":true"#) == ["w1"])
        #expect(try ida.names(zone: nil, more: #""zoneWide":true,"zoneID":null"#).count == 4)
        let otto = try server.user("otto")
        #expect(try otto.names(zone: nil, more: #""zoneWide":true"#) == [])
    }

    @Test("In the public database zoneWide means its default zone; in the shared one it is refused")
    func zoneWideElsewhere() throws {
        try ida.save("p1", zone: nil, in: "public")
        let visitor = server.visitor()
        #expect(try visitor.names(zone: nil, in: "public", more: #""zoneWide":true"#) == ["p1"])
        #expect(try visitor.names(zone: nil, in: "public") == ["p1"])
        expectRefused(
            try ida.query(zone: nil, in: "shared", more: #""zoneWide":true"#), "zone by zone")
    }

    @Test("A zone that does not exist is ZONE_NOT_FOUND, a default zone never written to is empty")
    func missingZone() throws {
        let answer = try ida.query(zone: "Nowhere")
        expectRefused(answer, "Zone does not exist", code: "ZONE_NOT_FOUND", status: 404)
        #expect(try ida.query(zone: nil).text == #"{"records":[]}"#)
        #expect(try server.user("otto").query(zone: nil).text == #"{"records":[]}"#)
        #expect(try ida.query(zone: "Shelf", in: "shared").code == "ZONE_NOT_FOUND")
    }

    @Test("A marker is for its own query, zone and caller, and for nothing else")
    func foreignMarker() throws {
        let marker = try #require(try ida.query(limit: 1)["continuationMarker"].string)
        #expect(try ida.query(limit: 1, marker: marker).records.map(\.name) == ["c2"])
        let filter = #"{"fieldName":"size","comparator":"GREATER_THAN","fieldValue":{"value":1}}"#
        let otto = try server.user("otto")
        try otto.make("Shelf")
        var broken = Array(marker)
        broken[20] = broken[20] == "A" ? "B" : "A"
        for answer in [
            try ida.query(filters: [filter], marker: marker),
            try ida.query(sorts: [#"{"fieldName":"size"}"#], marker: marker),
            try ida.query(zone: "Wall", marker: marker), try otto.query(marker: marker),
            try ida.query(zone: nil, marker: marker, more: #""zoneWide":true"#),
            try ida.query(marker: String(broken)),
            try ida.query(marker: String(marker.dropLast(4))),
        ] {
            expectRefused(answer, "continuationMarker")
        }
        #expect(try ida.query(limit: 1, marker: "").records.map(\.name) == ["c1"])
    }
}
