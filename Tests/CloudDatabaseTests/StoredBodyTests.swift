import CloudModel
import JSON
import Testing

@Suite("Stored bodies")
struct StoredBodyTests {
    private static let text = Array(
        #"""
        {"recordName":"fields","recordType":"T","fields":{"a":{"value":"x \"},{\\","type":"STRING"},\#
        "fields":{"value":7,"type":"INT64"},"list":{"value":["p","Q\n"],"type":"STRING_LIST"},\#
        "ref":{"value":{"recordName":"t","zoneID":{"zoneName":"other"},"action":"NONE"},\#
        "type":"REFERENCE"},"created":{"value":1.5,"type":"DOUBLE"},\#
        "hidden":{"value":"s","type":"STRING","isEncrypted":true}},"pluginFields":{},\#
        "recordChangeTag":"9z","created":{"timestamp":11,"userRecordName":"_ann","deviceID":"iCloud"},\#
        "modified":{"timestamp":12,"userRecordName":"_bob","deviceID":"\"fields\":{}"},\#
        "deleted":false,"zoneID":{"zoneName":"z","ownerRecordName":"_ann"},\#
        "parent":{"recordName":"up"},"share":{"recordName":"s"},"shortGUID":"0abc"}
        """#.utf8)

    /// Where the object of the fields is.
    private static let fields: Range<Int>? = text.firstRange(of: Array("{\"a\":".utf8)).flatMap {
        start in
        text.firstRange(of: Array(",\"pluginFields\"".utf8)).map {
            start.lowerBound..<$0.lowerBound
        }
    }

    private func bytes(_ value: JSONValue?) -> [UInt8]? { value?.withRawBytes { [UInt8]($0) } }

    @Test(
        "Its parts are what parsing finds, whether it is known where the fields are or not",
        arguments: [true, false])
    func parts(placeIsKnown: Bool) throws {
        let body = try StoredBody(Self.text, fields: placeIsKnown ? Self.fields : nil)
        let root = try JSONDocument(parsing: Self.text).root
        #expect(body.fields == Self.fields)
        #expect(
            body.members.map { body.name(of: $0) } == root["fields"]?.members.map(\.key.string))
        for (key, value) in try #require(root["fields"]).members {
            let name = try #require(key.string)
            #expect(bytes(body.field(name)) == bytes(value), "\(name)")
        }
        #expect(body.field("b") == nil && body.field("") == nil)
        let keys: [StaticString] = [
            "recordName", "recordType", "pluginFields", "recordChangeTag", "created", "modified",
            "deleted", "zoneID", "parent", "share", "shortGUID", "missing",
        ]
        for key in keys {
            #expect(bytes(body.member(key)) == bytes(root[key]), "\(key)")
        }
        #expect(
            body.members.map { Array(body.text(of: $0)) }.joined(separator: [0x2C]).elementsEqual(
                Self.text[try #require(body.fields)].dropFirst().dropLast()))
    }

    @Test("Queries see the fields and the system's fields of it")
    func asQueriesSeeIt() throws {
        for fields in [Self.fields, nil] {
            let stored = StoredFields(try StoredBody(Self.text, fields: fields))
            #expect(one(stored.content(of: "a")) == IndexValue("x \"},{\\"))
            #expect(one(stored.content(of: "fields")) == .integer(7))
            #expect(one(stored.content(of: "ref")) == .reference("t", otherZone: "other"))
            #expect(stored.texts(in: "list") == ["p", "Q\n"])
            #expect(one(stored.content(of: "hidden")) == nil)
            let system: [(SystemField, IndexValue)] = [
                (.recordID, IndexValue("fields")), (.createTime, .integer(11)),
                (.modTime, .integer(12)), (.createdBy, IndexValue("_ann")),
                (.modifiedBy, IndexValue("_bob")), (.etag, IndexValue("9z")),
                (.parent, IndexValue("up")), (.share, IndexValue("s")),
            ]
            for (field, value) in system {
                #expect(one(stored.content(of: field.rawValue)) == value, "\(field)")
            }
            #expect(stored.creator == "_ann")
        }
    }

    private func one(_ content: StoredFields.Content) -> IndexValue? {
        if case .one(let value) = content { value } else { nil }
    }

    @Test("A deletion has no fields, and what is no object is no body")
    func others() throws {
        let deletion = try StoredBody(
            Array(#"{"recordName":"a","deleted":true,"deletedRecordType":"T"}"#.utf8))
        #expect(deletion.fields == nil && deletion.members.isEmpty)
        #expect(deletion.member("recordName")?.string == "a")
        for text in ["", "[]", "{\"fields\":1}", "{\"fields\":{\"a\"}}", "{\"a\":"] {
            #expect(throws: JSONError.self, "\(text)") { try StoredBody(Array(text.utf8)) }
        }
        #expect(!StoredBody.isJSON(UnsafeRawBufferPointer(start: nil, count: 0)))
    }
}
