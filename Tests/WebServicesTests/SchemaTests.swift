import CloudDatabase
import CloudModel
import Foundation
import Storage
import Synchronization
import Testing

/// What schemas do to requests, and requests to schemas (rulings.md 14 and 19; schema.md).
@Suite("Schemas at work")
struct SchemaTests {
    let server: WireServer
    let ida: WireClient

    init() throws {
        server = try WireServer()
        ida = try server.user()
        try ida.make("Shelf")
    }

    private func schema(_ items: String) throws -> Schema {
        try SchemaLanguage.parse(Array("DEFINE SCHEMA \(items)".utf8))
    }

    private func importing(_ text: String, prunes: Bool = false) throws -> ImportSchema {
        ImportSchema(
            try schema(text), into: try server.store(),
            production: try server.store(WireServer.tea, .production), limits: server.limits,
            prunes: prunes)
    }

    @discardableResult
    private func load(_ text: String, prunes: Bool = false) throws -> [String] {
        try importing(text, prunes: prunes).run(by: "import").lines
    }

    @discardableResult
    private func deploy(prunes: Bool = false) throws -> SchemaOutcome {
        try DeploySchema(
            from: try server.store(), to: try server.store(WireServer.tea, .production),
            limits: server.limits, prunes: prunes
        ).run(by: "deploy")
    }

    private func refusal(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "not refused"
        } catch { return "\(error)" }
    }

    private func history(
        _ environment: CloudModel.Environment = .development
    ) throws -> [StoredSchemaChange] {
        try server.store(WireServer.tea, environment).read {
            try $0.schemaHistory(limit: 100)
        }
    }

    // MARK: - Growth

    @Test(
        "A NUMBER becomes INT64 or DOUBLE with its first value, as the value or the preference says",
        arguments: [
            ("NUMBER", #"{"value":5}"#, "INT64", "5"),
            ("NUMBER", #"{"value":5.5}"#, "DOUBLE", "5.5"),
            ("NUMBER", #"{"value":5,"type":"DOUBLE"}"#, "DOUBLE", "5.0"),
            ("NUMBER PREFERRED AS INT64", #"{"value":5}"#, "INT64", "5"),
            ("NUMBER PREFERRED AS INT64", #"{"value":0.5}"#, "DOUBLE", "0.5"),
            ("NUMBER PREFERRED AS DOUBLE", #"{"value":5}"#, "DOUBLE", "5.0"),
            ("NUMBER PREFERRED AS DOUBLE", #"{"value":5,"type":"INT64"}"#, "INT64", "5"),
            (
                "NUMBER PREFERRED AS DOUBLE", #"{"value":9007199254740993}"#, "DOUBLE",
                "9007199254740992.0"
            ),
            ("LIST<NUMBER>", #"{"value":[1,2]}"#, "INT64_LIST", "[1,2]"),
            ("LIST<NUMBER>", #"{"value":[],"type":"DOUBLE_LIST"}"#, "DOUBLE_LIST", "[]"),
            (
                "LIST<NUMBER PREFERRED AS DOUBLE>", #"{"value":[1,-2]}"#, "DOUBLE_LIST",
                "[1.0,-2.0]"
            ),
        ])
    func numbers(_ declared: String, _ sent: String, type: String, value: String) throws {
        try load("RECORD TYPE Cup (f \(declared) QUERYABLE);")
        let saved = try ida.save("r", #"{"a":{"value":"x"},"f":\#(sent),"z":{"value":1}}"#)
        let stored = #""f":{"value":\#(value),"type":"\#(type)"},"z":{"value":1,"type":"INT64"}}"#
        #expect(saved.raw.contains(stored), "\(saved.raw)")
        #expect(try ida.record("r").raw.contains(stored))
        let field = try #require(FieldName("f"))
        let cup = try #require(RecordTypeName("Cup"))
        let known = try #require(try server.store().schema.types[cup]?.fields[field])
        #expect(known.type.name == type && known.indexes == .queryable && known.preferred == nil)
        #expect(try history().first?.difference.contains { $0.hasPrefix("~ field Cup.f") } == true)
        // The file still says NUMBER, and does not disagree.
        #expect(
            try load("RECORD TYPE Cup (a STRING, f \(declared) QUERYABLE, z INT64);") == [
                "- index Cup.a QUERYABLE SEARCHABLE SORTABLE",
                "- index Cup.z QUERYABLE SORTABLE",
            ])
        // From here on it is what it has become.
        #expect(try ida.save("s", #"{"f":{"value":"x"}}"#).code == "BAD_REQUEST")
    }

    @Test("Index options without a use are in the schema, and queries say that they have none")
    func optionsWithoutUse() throws {
        try load(
            """
            RECORD TYPE Cup (raw BYTES QUERYABLE SORTABLE, tags LIST<STRING> QUERYABLE SORTABLE,
                size INT64 SEARCHABLE, "___createdBy" REFERENCE QUERYABLE SORTABLE);
            """)
        try ida.save("r", #"{"raw":{"value":"AAEC","type":"BYTES"},"tags":{"value":["a"]}}"#)
        for sort in ["raw", "tags", "___createdBy"] {
            let answer = try ida.query(sorts: ["{\"fieldName\":\"\(sort)\"}"])
            #expect(answer.status == 400 && answer.reason.contains("never sortable"), "\(sort)")
        }
        let words =
            #"{"fieldName":"size","comparator":"CONTAINS_ANY_TOKENS","fieldValue":{"value":"a"}}"#
        #expect(try ida.query(filters: [words]).reason.contains("cannot be queried with filter"))
        let bytes =
            #"{"fieldName":"raw","comparator":"EQUALS","fieldValue":{"value":"AAEC","type":"BYTES"}}"#
        #expect(try ida.names(filters: [bytes]) == ["r"])
        // What lists no QUERYABLE is still not queried.
        try load("RECORD TYPE Cup (raw BYTES SORTABLE, tags LIST<STRING>);")
        #expect(try ida.query(filters: [bytes]).reason.contains("is not marked queryable"))
    }

    @Test("What is no number, and an empty list of no type, do not settle a NUMBER")
    func numbersRefused() throws {
        try load("RECORD TYPE Cup (f NUMBER, l LIST<NUMBER>);")
        for bad in [
            #"{"f":{"value":"5"}}"#, #"{"f":{"value":[5]}}"#, #"{"l":{"value":5}}"#,
            #"{"l":{"value":[]}}"#, #"{"f":{"value":5,"type":"INT64","isEncrypted":true}}"#,
            #"{"f":{"value":5,"type":"TIMESTAMP"}}"#,
        ] {
            let refused = try ida.save("r", bad)
            #expect(refused.code == "BAD_REQUEST", "\(bad)")
            #expect(!refused.reason.contains("\"type\":\"NUMBER"), "\(refused.reason)")
        }
        #expect(try history().count == 1)
    }

    @Test("Types and fields made on the fly have all indexes, the default grants, and a history")
    func onTheFly() throws {
        #expect(
            try ida.save("r", #"{"s":{"value":"x"},"b":{"value":"AA==","type":"BYTES"}}"#).code
                == nil)
        let text = SchemaLanguage.print(try server.store().schema)
        #expect(text.contains("        b               BYTES QUERYABLE,\n"))
        #expect(text.contains("        s               STRING QUERYABLE SEARCHABLE SORTABLE,\n"))
        #expect(
            text.contains(
                """
                        GRANT WRITE TO "_creator",
                        GRANT CREATE TO "_icloud",
                        GRANT READ TO "_world"
                    );

                    RECORD TYPE Users
                """))
        let change = try #require(try history().first)
        #expect(change.who == ida.name && change.madeAt == server.clock.now)
        #expect(change.difference.first == "+ type Cup")
        #expect(change.difference.contains("+ field Cup.b BYTES QUERYABLE"))
        let key = try server.key(scope: .container)
        _ = try key.modify(
            [operation("forceReplace", "p", fields: #"{"k":{"value":1}}"#)], zone: nil, in: "public"
        )
        let second = try #require(try history().first)
        #expect(
            second.who.contains("by server key")
                && second.difference == ["+ field Cup.k INT64 QUERYABLE SORTABLE"])
    }

    // MARK: - Deploying

    @Test(
        "Production names what it lacks and the command that brings it, and takes it once deployed")
    func deployment() throws {
        let live = try server.user("ida", WireServer.tea, .production)
        try live.make("Shelf")
        let record = #"{"size":{"value":3}}"#
        let type = try live.save("r", record)
        #expect(
            type.reason
                == "Cannot create new type 'Cup' in production schema; deploy it with: "
                + "lenticular schema deploy \(WireServer.tea)")
        #expect(try ida.save("r", record).code == nil)
        #expect(
            try deploy().made.lines == [
                "+ type Cup", "+ field Cup.size INT64 QUERYABLE SORTABLE",
                "+ grant WRITE on Cup to _creator", "+ grant CREATE on Cup to _icloud",
                "+ grant READ on Cup to _world",
            ])
        #expect(try live.save("r", record).code == nil)
        let field = try live.save("r", #"{"height":{"value":3}}"#)
        #expect(
            field.reason
                == "Cannot create or modify field 'height' in record 'Cup' in production schema; "
                + "deploy it with: lenticular schema deploy \(WireServer.tea)")
        #expect(try deploy().made.isEmpty)
        #expect(try history(.production).map(\.who) == ["deploy"])
    }

    @Test("A NUMBER settles in production too, and neither environment disturbs the other's")
    func numbersDeployed() throws {
        try load("RECORD TYPE Cup (f NUMBER);")
        try deploy()
        let live = try server.user("ida", WireServer.tea, .production)
        try live.make("Shelf")
        #expect(try live.save("r", #"{"f":{"value":1.5}}"#).code == nil)
        #expect(try deploy().made.isEmpty)
        #expect(try ida.save("r", #"{"f":{"value":1.5}}"#).code == nil)
        #expect(try deploy().made.isEmpty)
    }

    @Test("A deployment adds and takes nothing away; pruned, it takes what no record has")
    func pruning() throws {
        let whole = """
            CREATE ROLE Staff; CREATE ROLE Guest;
            RECORD TYPE Cup (a STRING QUERYABLE SORTABLE, b INT64, c INT64,
                GRANT READ, WRITE TO Staff);
            RECORD TYPE Pot (a STRING, GRANT READ TO Guest); RECORD TYPE Tin (a STRING);
            """
        try load(whole)
        try deploy()
        let live = try server.user("ida", WireServer.tea, .production)
        try live.make("Shelf", "Gone")
        for number in 0..<3 { try live.save("r\(number)", #"{"b":{"value":1}}"#) }
        try live.save("p", #"{"a":{"value":"x"}}"#, type: "Pot")
        // What is deleted does not count: a record, and all of a zone.
        try live.save("r0", #"{"c":{"value":1}}"#)
        try live.delete("r0")
        try live.save("r0", #"{"c":{"value":1}}"#, zone: "Gone")
        try live.remove("Gone")
        let less =
            "CREATE ROLE Staff; RECORD TYPE Cup (a STRING QUERYABLE, GRANT READ TO Staff, d STRING);"
        #expect(
            refusal { try load(less) }
                == "development would lose what production has (--prune lets it): "
                + "- field Cup.b INT64, - field Cup.c INT64, - type Pot, - type Tin")
        #expect(try server.store().schema.types.count == 5)
        try load(less, prunes: true)
        #expect(try deploy().made.lines == ["+ field Cup.d STRING"])
        let outcome = try deploy(prunes: true)
        #expect(
            outcome.made.lines == [
                "- index Cup.a SORTABLE", "- field Cup.c INT64", "- grant WRITE on Cup to Staff",
                "- type Tin",
            ])
        #expect(
            outcome.kept.map { "\($0.change) \($0.count)" } == [
                "- field Cup.b INT64 2", "- type Pot 1", "- role Guest 0",
            ])
        #expect(try live.save("r1", #"{"c":{"value":1}}"#).code == "BAD_REQUEST")
        #expect(try live.save("t", "{}", type: "Tin").code == "BAD_REQUEST")
        #expect(try live.save("r1", #"{"b":{"value":1}}"#).code == nil)
        #expect(try server.problems(WireServer.tea, .production) == [])
    }

    @Test("A field of another type is deployed only where no record has it, and only when pruning")
    func retyping() throws {
        try load("RECORD TYPE Cup (a STRING, b STRING);")
        try deploy()
        let live = try server.user("ida", WireServer.tea, .production)
        try live.make("Shelf")
        try live.save("r", #"{"b":{"value":"x"}}"#)
        try load("RECORD TYPE Cup (a INT64, b STRING);", prunes: true)
        #expect(refusal { try deploy() }.contains("- field Cup.a STRING"))
        #expect(
            try deploy(prunes: true).made.lines == ["- field Cup.a STRING", "+ field Cup.a INT64"])
        #expect(try live.save("s", #"{"a":{"value":1}}"#).code == nil)
        try load("RECORD TYPE Cup (a INT64, b INT64);", prunes: true)
        #expect(
            refusal { try deploy(prunes: true) }.contains("- field Cup.b STRING (in 1 records)"))
        #expect(try live.save("r", #"{"b":{"value":"y"}}"#).code == nil)
    }

    // MARK: - Importing

    @Test("An import that would take what records of development have is refused as a whole")
    func importOverRecords() throws {
        try load("RECORD TYPE Cup (a STRING, b INT64); RECORD TYPE Pot (a STRING);")
        for start in stride(from: 0, to: 6_000, by: 200) {
            let items = (start..<start + 200).map {
                operation("create", "r\($0)", fields: #"{"a":{"value":"x"}}"#)
            }
            #expect(try ida.modify(items).status == 200)
        }
        try ida.save("p", "{}", type: "Pot")
        try ida.save("r5", #"{"b":{"value":1}}"#)
        let before = try server.store().schema
        #expect(
            refusal { try load("RECORD TYPE Cup (z STRING);") }
                == "records of development have what would go; delete them, or reset development: "
                + "- field Cup.a STRING (in 5999 records), - field Cup.b INT64 (in 1 records), "
                + "- type Pot (in 1 records)")
        #expect(try server.store().schema == before)
        #expect(try ida.save("p", "{}", type: "Pot").code == nil)
        try ida.delete("p")
        try ida.save("r5", "{}")
        #expect(
            try importing("RECORD TYPE Cup (a STRING);").validate().lines == [
                "- field Cup.b INT64", "- type Pot",
            ])
        #expect(try server.store().schema == before)
        #expect(try load("RECORD TYPE Cup (a STRING);") == ["- field Cup.b INT64", "- type Pot"])
        #expect(try server.problems() == [])
        // A field and a type of the old names come back on the fly.
        #expect(try ida.save("r5", #"{"b":{"value":"text"}}"#).code == nil)
        #expect(try ida.save("p", "{}", type: "Pot").code == nil)
        #expect(try ida.changes(limit: 1).code == nil)
        #expect(try server.problems() == [])
    }

    @Test("Limits on types, fields and roles hold for imports, and are named")
    func limits() throws {
        let small = try WireServer {
            $0.recordTypesMax = 2
            $0.fieldsPerTypeMax = 2
            $0.rolesMax = 1
        }
        let (development, production) = (
            try small.store(), try small.store(WireServer.tea, .production)
        )
        func refused(_ text: String) throws -> String {
            let wanted = try schema(text)
            return refusal {
                _ = try ImportSchema(
                    wanted, into: development, production: production, limits: small.limits
                ).run(by: "x")
            }
        }
        #expect(try refused("RECORD TYPE A (); RECORD TYPE B (); CREATE ROLE R;") == "not refused")
        #expect(
            try refused("RECORD TYPE A (); RECORD TYPE B (); RECORD TYPE C ();").contains(
                "3 record types are more than 2"))
        #expect(
            try refused("RECORD TYPE A (a STRING, b STRING, c STRING);").contains(
                "3 fields of A are more than 2"))
        #expect(try refused("CREATE ROLE R; CREATE ROLE S;").contains("2 roles are more than 1"))
    }

    @Test("A preference of a NUMBER, once given, stays")
    func preferences() throws {
        try load("RECORD TYPE Cup (f NUMBER);")
        #expect(
            try load("RECORD TYPE Cup (f NUMBER PREFERRED AS INT64);") == [
                "~ field Cup.f NUMBER -> NUMBER PREFERRED AS INT64"
            ])
        #expect(try load("RECORD TYPE Cup (f NUMBER);").isEmpty)
        try deploy()
        #expect(
            refusal { try load("RECORD TYPE Cup (f NUMBER PREFERRED AS DOUBLE);") }
                .contains("development would lose"))
    }

    // MARK: - Meanwhile

    @Test("What may be about to go is brought by no save; all else is saved")
    func holding() throws {
        try load("RECORD TYPE Cup (a STRING, b STRING); RECORD TYPE Pot (a STRING);")
        try ida.save("r", #"{"b":{"value":"x"}}"#)
        let (cup, pot) = (try #require(RecordTypeName("Cup")), try #require(RecordTypeName("Pot")))
        let parts = Schema.Parts(types: [pot], fields: [cup: [try #require(FieldName("b"))]])
        try server.store().writeAndWait { try $0.hold(parts, until: .max) }
        #expect(try ida.save("p", "{}", type: "Pot").code == "TRY_AGAIN_LATER")
        #expect(try ida.save("r", #"{"b":{"value":"x"}}"#).code == "TRY_AGAIN_LATER")
        #expect(try ida.save("s", #"{"a":{"value":"x"}}"#).code == nil)
        #expect(
            try ida.modify([operation("forceUpdate", "r", fields: #"{"b":null}"#)]).status == 200)
        #expect(refusal { try load("RECORD TYPE Cup (a STRING);") }.contains("try again"))
        try server.store().writeAndWait { try $0.hold(Schema.Parts(), until: 0) }
        #expect(try ida.save("p", "{}", type: "Pot").code == nil)
        // A refusal leaves nothing held.
        _ = refusal { try load("RECORD TYPE Cup (a STRING, b STRING);") }
        #expect(try server.store().schema.leaving.isEmpty)
        #expect(try ida.save("p", "{}", type: "Pot").code == nil)
    }

    @Test("However saves and a pruning deployment meet, no record has what the schema has not")
    func races() throws {
        let live = try server.user("ida", WireServer.tea, .production)
        try live.make("Shelf")
        let kept = "RECORD TYPE Cup (a INT64, b INT64);"
        for round in 0..<15 {
            try load(kept)
            try deploy()
            try load("RECORD TYPE Cup (a INT64);", prunes: true)
            let saved = Mutex<[String]>([])
            let began = DispatchSemaphore(value: 0)
            let ended = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                var client = live
                client.loop = 0
                began.signal()
                for number in 0..<40 {
                    let name = "r\(round)-\(number)"
                    let field = number < round * 3 ? "a" : "b"
                    let item = try? client.save(name, "{\"\(field)\":{\"value\":1}}")
                    if item?.code == nil, field == "b" { saved.withLock { $0.append(name) } }
                }
                ended.signal()
            }
            try #require(began.wait(timeout: .now() + 60) == .success)
            let isPruned = try deploy(prunes: true).made.lines.contains("- field Cup.b INT64")
            try #require(ended.wait(timeout: .now() + 60) == .success)
            let names = saved.withLock { $0 }
            #expect(!isPruned || names.isEmpty)
            for name in names {
                #expect(try live.record(name).raw.contains(#""b":{"value":1"#))
                try live.delete(name)
            }
            #expect(try server.store(WireServer.tea, .production).schema.leaving.isEmpty)
        }
    }
}
