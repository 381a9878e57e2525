import CloudModel
import Foundation
import Storage
import Testing

/// Which fields can be queried (rulings.md 22).
@Suite("Index options of fields in queries")
struct QueryIndexTests {
    private let server: WireServer
    private let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
        try ida.make("Shelf")
        try declare([
            "plain": [], "found": .queryable, "sorted": .sortable, "searched": .searchable,
        ])
        _ = try ida.modify(
            ["b", "a"].map { (name: String) in
                operation(
                    "create", name, type: "Card",
                    fields: """
                        {"plain":{"value":"\(name)"},"found":{"value":"\(name)"},\
                        "sorted":{"value":"\(name)"},"searched":{"value":"\(name)z"}}
                        """)
            })
    }

    /// Declares STRING fields of the record type Card, as an import of a schema does.
    private func declare(
        _ fields: [String: IndexOptions], as element: FieldType.Element = .string,
        in environment: CloudModel.Environment = .development
    ) throws {
        var type = Schema.RecordType()
        for (name, options) in fields {
            let field = try #require(FieldName(name))
            type.fields[field] = Schema.Field(type: FieldType(element), indexes: options)
        }
        let declared = type
        try changeCard(in: environment) { $0 = declared }
    }

    private func changeCard(
        in environment: CloudModel.Environment = .development,
        _ change: @escaping @Sendable (inout Schema.RecordType) -> Void
    ) throws {
        let name = try #require(RecordTypeName("Card"))
        try server.store(WireServer.tea, environment).writeAndWait {
            var schema = try $0.schema
            change(&schema.types[name, default: Schema.RecordType()])
            try $0.replaceSchema(by: schema, who: "a test", difference: [])
        }
    }

    private func filter(_ field: String, _ comparator: String, _ value: String) -> String {
        PlainFilter(field: field, comparator: comparator, value: .string(value)).json()
    }

    @Test(
        "A comparator needs the option that is its own, and the reason says how to add it",
        arguments: [
            ("EQUALS", "found", "queryable"), ("NOT_EQUALS", "found", "queryable"),
            ("LESS_THAN", "sorted", "sortable"), ("GREATER_THAN_OR_EQUALS", "sorted", "sortable"),
            ("BEGINS_WITH", "sorted", "sortable"), ("NOT_BEGINS_WITH", "sorted", "sortable"),
            ("CONTAINS_ALL_TOKENS", "searched", "searchable"),
            ("CONTAINS_ANY_TOKENS", "searched", "searchable"),
        ])
    func options(comparator: String, field: String, option: String) throws {
        for name in ["plain", "found", "sorted", "searched"] {
            let answer = try ida.query("Card", filters: [filter(name, comparator, "a")])
            guard name != field else {
                #expect(answer.status == 200, "\(answer.text)")
                continue
            }
            #expect(answer.status == 400 && answer.code == "BAD_REQUEST", "\(name) \(comparator)")
            let words = ["found": "QUERYABLE", "searched": "SEARCHABLE", "sorted": "SORTABLE"]
            let declared = [words[name], words[field]].compactMap { $0 }.sorted()
            #expect(
                answer.reason
                    == "Field '\(name)' is not marked \(option); to add the index, let record type "
                    + "Card of the schema have \(name) STRING \(declared.joined(separator: " ")), and "
                    + "import it with: lenticular schema import \(WireServer.tea) FILE")
        }
    }

    @Test("What a reason says to declare is in the schema language, reserved words in quotes")
    func reservedWords() throws {
        try declare(["grant": []])
        #expect(
            try ida.query("Card", filters: [filter("grant", "EQUALS", "a")]).reason.contains(
                "have \"grant\" STRING QUERYABLE, and import"))
    }

    @Test("In production a missing index comes by an import and a deployment")
    func production() throws {
        try declare(["found": .queryable], in: .production)
        let live = try server.user("ida", WireServer.tea, .production)
        #expect(
            try live.query("Card", filters: [filter("found", "LESS_THAN", "a")], zone: nil).reason
                == "Field 'found' is not marked sortable; to add the index, let record type Card of "
                + "the schema have found STRING QUERYABLE SORTABLE, import it with: lenticular "
                + "schema import \(WireServer.tea) FILE, and deploy it with: lenticular schema deploy "
                + "\(WireServer.tea)")
    }

    @Test("A value that a NUMBER cannot be is refused with a type that can be sent")
    func numbers() throws {
        try declare(["amount": .queryable], as: .number)
        let answer = try ida.query("Card", filters: [filter("amount", "EQUALS", "a")])
        #expect(
            answer.reason
                == "Invalid value, expected type NUMBER. The filter on 'amount' has STRING; "
                + "send {\"value\":…,\"type\":\"INT64\"}")
    }

    @Test("Sorting needs SORTABLE")
    func sorting() throws {
        #expect(try ida.names("Card", sorts: [#"{"fieldName":"sorted"}"#]) == ["a", "b"])
        for name in ["plain", "found", "searched"] {
            let answer = try ida.query("Card", sorts: ["{\"fieldName\":\"\(name)\"}"])
            #expect(answer.status == 400)
            #expect(answer.reason.hasPrefix("Field '\(name)' is not marked sortable;"))
        }
    }

    @Test("Names and times of records need no option")
    func systemFields() throws {
        #expect(try ida.names("Card").sorted() == ["a", "b"])
        #expect(try ida.names("Card", sorts: [#"{"systemFieldName":"recordName"}"#]) == ["a", "b"])
        #expect(
            try ida.names(
                "Card",
                filters: [
                    #"{"systemFieldName":"modifiedTimestamp","comparator":"GREATER_THAN","fieldValue":{"value":0}}"#
                ]
            ).sorted() == ["a", "b"])
    }

    @Test(
        "Creator, modifier and parent need QUERYABLE in the schema",
        arguments: ["createdUserRecordName", "modifiedUserRecordName", "parent"])
    func users(field: String) throws {
        try ida.save("child", type: "Card", more: #""parent":{"recordName":"a"}"#)
        let otto = try server.user("otto")
        let wanted = field == "parent" ? "a" : "_defaultOwner"
        let filter =
            "{\"systemFieldName\":\"\(field)\",\"comparator\":\"EQUALS\",\"fieldValue\":{\"value\":{\"recordName\":\"\(wanted)\"}}}"
        let inner = try #require(SystemField(spelling: field))
        let refused = try ida.query("Card", filters: [filter])
        #expect(refused.status == 400)
        #expect(
            refused.reason.hasPrefix(
                "Field '\(field)' is not marked queryable; to add the index, let record type Card of "
                    + "the schema have \"\(inner.rawValue)\" REFERENCE QUERYABLE, and"))
        try changeCard { $0.systemFields[inner] = .queryable }
        let names = field == "parent" ? ["child"] : ["a", "b", "child"]
        #expect(try ida.names("Card", filters: [filter]).sorted() == names)
        try otto.make("Shelf")
        #expect(try otto.names("Card", filters: [filter]) == [])
        let key = try server.key()
        try ida.save("public", type: "Card", zone: nil, in: "public")
        try otto.save("otto's", type: "Card", zone: nil, in: "public")
        try key.save("key's", type: "Card", zone: nil, in: "public")
        guard field != "parent" else { return }
        for (client, name) in [(ida, "public"), (otto, "otto's"), (key, "key's")] {
            #expect(try client.names("Card", filters: [filter], zone: nil, in: "public") == [name])
        }
        let byName = filter.replacing("_defaultOwner", with: otto.name)
        #expect(try ida.names("Card", filters: [byName], zone: nil, in: "public") == ["otto's"])
    }
}
