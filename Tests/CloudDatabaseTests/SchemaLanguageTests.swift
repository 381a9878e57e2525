import CloudDatabase
import CloudModel
import Foundation
import Seeding
import Testing

@Suite("The schema language")
struct SchemaLanguageTests {
    private func parse(_ text: String) throws -> Schema {
        try SchemaLanguage.parse(Array(text.utf8))
    }

    private func error(_ text: String) -> SchemaSyntaxError? {
        do {
            _ = try SchemaLanguage.parse(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    private func type(_ items: String) throws -> Schema.RecordType {
        let schema = try parse("DEFINE SCHEMA CREATE ROLE Staff; RECORD TYPE T (\(items));")
        let name = try #require(RecordTypeName("T"))
        return try #require(schema.types[name])
    }

    private func field(_ text: String) throws -> Schema.Field {
        let name = try #require(FieldName("f"))
        return try #require(try type("f \(text)").fields[name])
    }

    @Test("Every type of a field is read, in any case")
    func fieldTypes() throws {
        let plain: [(String, FieldType.Element)] = [
            ("ASSET", .asset), ("BYTES", .bytes), ("DOUBLE", .double), ("INT64", .int64),
            ("LOCATION", .location), ("REFERENCE", .reference), ("STRING", .string),
            ("TIMESTAMP", .timestamp), ("NUMBER", .number),
        ]
        for (word, element) in plain {
            #expect(try field(word).type == FieldType(element))
            #expect(try field(word.lowercased()).type == FieldType(element))
            #expect(try field("List < \(word) >").type == FieldType(element, isList: true))
            guard ![.asset, .reference, .number].contains(element) else {
                #expect(error("DEFINE SCHEMA RECORD TYPE T (f ENCRYPTED \(word));") != nil)
                #expect(error("DEFINE SCHEMA RECORD TYPE T (f LIST<ENCRYPTED \(word)>);") != nil)
                continue
            }
            #expect(try field("ENCRYPTED \(word)").type == FieldType(element, isEncrypted: true))
            for text in ["LIST<ENCRYPTED \(word)>", "ENCRYPTED LIST<\(word)>"] {
                #expect(
                    try field(text).type == FieldType(element, isList: true, isEncrypted: true))
            }
        }
        #expect(try field("NUMBER").preferred == nil)
        #expect(try field("number Preferred as int64").preferred == .int64)
        #expect(try field("LIST<NUMBER PREFERRED AS DOUBLE>").preferred == .double)
    }

    @Test("A field has the indexes that it names, but encrypted fields and assets have none")
    func indexes() throws {
        #expect(try field("STRING").indexes == [])
        #expect(
            try field("STRING SORTABLE queryable SEARCHABLE QUERYABLE").indexes
                == [.queryable, .sortable, .searchable])
        #expect(try field("LIST<INT64> QUERYABLE").indexes == .queryable)
        for (text, options) in [
            ("BYTES QUERYABLE SORTABLE", [.queryable, .sortable]),
            ("LOCATION QUERYABLE SORTABLE", [.queryable, .sortable]),
            (
                "LIST<STRING> QUERYABLE SEARCHABLE SORTABLE", [.queryable, .searchable, .sortable]
            ), ("INT64 SEARCHABLE", .searchable), ("REFERENCE SORTABLE", .sortable),
            ("LIST<BYTES> QUERYABLE", .queryable),
            ("NUMBER QUERYABLE SEARCHABLE", [.queryable, .searchable]),
        ] as [(String, IndexOptions)] {
            #expect(try field(text).indexes == options, "\(text)")
        }
        for bad in [
            "ASSET SORTABLE", "LIST<ASSET> QUERYABLE", "ENCRYPTED STRING QUERYABLE",
            "LIST<ENCRYPTED BYTES> SEARCHABLE",
        ] {
            #expect(error("DEFINE SCHEMA RECORD TYPE T (f \(bad));") != nil, "\(bad)")
        }
    }

    @Test("System fields are listed for their indexes, with their own type only")
    func systemFields() throws {
        let found = try type(
            """
            "___recordID" REFERENCE QUERYABLE, "___modTime" TIMESTAMP QUERYABLE SORTABLE,
            ___createTime timestamp, "___etag" STRING
            """)
        #expect(
            found.systemFields == [.recordID: .queryable, .modTime: [.queryable, .sortable]])
        #expect(found.fields.isEmpty)
        #expect(error("DEFINE SCHEMA RECORD TYPE T (___recordID STRING);") != nil)
        #expect(error("DEFINE SCHEMA RECORD TYPE T (___etag STRING, ___etag STRING);") != nil)
        #expect(error("DEFINE SCHEMA RECORD TYPE T (___other STRING);") != nil)
    }

    @Test("Grants add up, and name roles that there are, wherever they are made")
    func grants() throws {
        let staff = try #require(RoleName("Staff"))
        let found = try type(
            """
            GRANT read TO "_world", grant CREATE, WRITE TO Staff, GRANT READ TO Staff,
            GRANT WRITE TO _creator
            """)
        #expect(
            found.grants == [
                .world: .read, .creator: .write, staff: [.read, .create, .write],
            ])
        let later = "DEFINE SCHEMA RECORD TYPE T (GRANT READ TO Staff); CREATE ROLE Staff;"
        #expect(try parse(later).roles == [staff: 0])
        let unknown = error("DEFINE SCHEMA RECORD TYPE T (GRANT READ TO Nobody);")
        #expect(unknown?.found == "'Nobody'" && unknown?.column == 44)
    }

    @Test("Comments of all kinds stand anywhere between words")
    func comments() throws {
        let text = """
            // one -- two
            DEFINE -- a comment
            /* many
               lines */ SCHEMA/**/RECORD/* TYPE */TYPE T//
            ( f STRING -- ) ;
            , g/***/INT64 );
            """
        #expect(try parse(text).types[try #require(RecordTypeName("T"))]?.fields.count == 2)
    }

    @Test("Reserved words and system names are names when quoted")
    func quoting() throws {
        let found = try type(
            "\"grant\" STRING, \"sortable\" INT64 SORTABLE, queryable STRING QUERYABLE, list LIST<STRING>"
        )
        #expect(
            Set(found.fields.keys.map(\.text)) == ["grant", "sortable", "queryable", "list"])
        #expect(
            error("DEFINE SCHEMA RECORD TYPE T (grant STRING);")?.expected.contains("\"grant\"")
                == true)
    }

    @Test("Users is in every schema, and the type of shares too, written when it says something")
    func builtInTypes() throws {
        let empty = try parse("DEFINE SCHEMA")
        #expect(empty.types == Schema.builtInTypes)
        let text = SchemaLanguage.print(empty)
        #expect(text.contains("RECORD TYPE Users ("))
        #expect(text.contains("roles           LIST<INT64>,"))
        #expect(!text.contains("cloudkit.share"))
        let roles = try parse("DEFINE SCHEMA RECORD TYPE Users (motto STRING);")
        #expect(SchemaLanguage.print(roles).contains("roles           LIST<INT64>\n"))
        let share = try parse("DEFINE SCHEMA RECORD TYPE \"cloudkit.share\" (title STRING);")
        #expect(SchemaLanguage.print(share).contains("RECORD TYPE \"cloudkit.share\" ("))
        #expect(error("DEFINE SCHEMA RECORD TYPE \"cloud.other\" (title STRING);") != nil)
    }

    @Test("A schema is written in one form: sorted, aligned, system fields among them, grants last")
    func canonicalForm() throws {
        let text = """
            define schema create role Staff;
            record type Plant (grant read, write to Staff, spot LOCATION QUERYABLE,
              "___modTime" TIMESTAMP SORTABLE QUERYABLE, "grant" NUMBER PREFERRED AS DOUBLE,
              Zinnia INT64, diary ENCRYPTED LIST<STRING>, GRANT WRITE TO _creator, GRANT READ TO _world);
            """
        #expect(
            SchemaLanguage.print(try parse(text)) == """
                DEFINE SCHEMA

                    CREATE ROLE Staff;

                    RECORD TYPE Plant (
                        Zinnia          INT64,
                        "___createTime" TIMESTAMP,
                        "___createdBy"  REFERENCE,
                        "___etag"       STRING,
                        "___modTime"    TIMESTAMP QUERYABLE SORTABLE,
                        "___modifiedBy" REFERENCE,
                        "___recordID"   REFERENCE,
                        diary           LIST<ENCRYPTED STRING>,
                        "grant"         NUMBER PREFERRED AS DOUBLE,
                        spot            LOCATION QUERYABLE,
                        GRANT WRITE TO "_creator",
                        GRANT READ TO "_world",
                        GRANT READ, WRITE TO Staff
                    );

                    RECORD TYPE Users (
                        "___createTime" TIMESTAMP,
                        "___createdBy"  REFERENCE,
                        "___etag"       STRING,
                        "___modTime"    TIMESTAMP,
                        "___modifiedBy" REFERENCE,
                        "___recordID"   REFERENCE,
                        roles           LIST<INT64>,
                        GRANT WRITE TO "_creator",
                        GRANT READ TO "_world"
                    );

                """)
    }

    @Test(
        "Errors name line, column and what was expected",
        arguments: [
            ("", 1, 1, "DEFINE"), ("DEFINE TABLE", 1, 8, "SCHEMA"),
            ("DEFINE SCHEMA\n  DROP", 2, 3, "CREATE ROLE, RECORD TYPE"),
            ("DEFINE SCHEMA CREATE ROLE A", 1, 28, "';'"),
            ("DEFINE SCHEMA CREATE ROLE \"_world\";", 1, 27, "the name of a role"),
            ("DEFINE SCHEMA CREATE ROLE A; CREATE ROLE A;", 1, 42, "was not made before"),
            ("DEFINE SCHEMA RECORD TYPE 9 ();", 1, 27, "the name of a type"),
            ("DEFINE SCHEMA RECORD TYPE T (); RECORD TYPE T ();", 1, 45, "was not defined before"),
            ("DEFINE SCHEMA RECORD TYPE T (f);", 1, 31, "a type, one of ASSET"),
            ("DEFINE SCHEMA RECORD TYPE T (\n\n\té9 STRING);", 3, 2, "a keyword, a name"),
            ("DEFINE SCHEMA RECORD TYPE T (/*ü€😀*/f STRINGS);", 1, 39, "a type, one of"),
            ("DEFINE SCHEMA RECORD TYPE T (f STRING QUERY);", 1, 39, "QUERYABLE, SORTABLE"),
            ("DEFINE SCHEMA RECORD TYPE T (f STRING,);", 1, 39, "the name of a field, or GRANT"),
            ("DEFINE SCHEMA RECORD TYPE T (f STRING, f STRING);", 1, 40, "does not have yet"),
            ("DEFINE SCHEMA RECORD TYPE T (f LIST<LIST<STRING>>);", 1, 37, "a type, one of"),
            ("DEFINE SCHEMA RECORD TYPE T (f LIST<STRING);", 1, 43, "'>'"),
            ("DEFINE SCHEMA RECORD TYPE T (f NUMBER PREFERRED STRING);", 1, 49, "AS"),
            (
                "DEFINE SCHEMA RECORD TYPE T (f NUMBER PREFERRED AS STRING);", 1, 52,
                "INT64 or DOUBLE"
            ),
            ("DEFINE SCHEMA RECORD TYPE T (GRANT DELETE TO A);", 1, 36, "READ, CREATE or WRITE"),
            ("DEFINE SCHEMA RECORD TYPE T (GRANT READ A);", 1, 41, "',' or TO"),
            ("DEFINE SCHEMA RECORD TYPE \"T (f STRING);\n", 1, 27, "a second \""),
            ("DEFINE SCHEMA /* never", 1, 15, "*/"),
            ("DEFINE SCHEMA RECORD TYPE T (f STRING)", 1, 39, "';'"),
            ("DEFINE SCHEMA RECORD TYPE Users (roles INT64);", 1, 40, "LIST<INT64>"),
        ])
    func errors(_ text: String, line: Int, column: Int, expected: String) throws {
        let found = try #require(error(text))
        #expect(found.line == line && found.column == column, "\(found)")
        #expect(found.expected.contains(expected), "\(found)")
        #expect("\(found)".hasPrefix("line \(line), column \(column): expected "))
    }

    @Test("A text over the limit is not looked at")
    func limit() throws {
        let text = Array("DEFINE SCHEMA".utf8)
        _ = try SchemaLanguage.parse(text, bytesMax: text.count)
        #expect(throws: SchemaSyntaxError.self) {
            try SchemaLanguage.parse(text, bytesMax: text.count - 1)
        }
    }

    @Test("What is written is read again as the same schema, and written the same")
    func roundTrips() throws {
        var random = SeededRandom("schemas")
        for _ in 0..<2_000 {
            let schema = random.schema()
            let text = SchemaLanguage.print(schema)
            let read = try parse(text)
            #expect(read == schema)
            #expect(SchemaLanguage.print(read) == text)
        }
    }

    @Test("What differs between two schemas, done to one, makes it the other")
    func differences() throws {
        var random = SeededRandom("schemas")
        for _ in 0..<2_000 {
            let (old, new) = (random.schema(), random.schema())
            var changed = old
            let difference = SchemaDifference(from: old, to: new)
            for change in difference.changes { changed.apply(change) }
            #expect(changed == new)
            #expect(SchemaDifference(from: new, to: new).isEmpty)
            #expect(difference.isEmpty == (old == new))
            #expect(Set(difference.lines).count == difference.changes.count)
        }
    }

    @Test("Mutated and random texts are refused or read, and what is read can be written")
    func mutations() throws {
        var random = SeededRandom("schemas")
        let pieces = [
            "LIST<", ">", "\"", "/*", "*/", "--", "//", "(", ")", ",", ";", "GRANT", "ENCRYPTED",
            "\n",
            "é", "\u{0}", "PREFERRED AS", "___recordID",
        ].map { Array($0.utf8) }
        for _ in 0..<6_000 {
            var text = Array(SchemaLanguage.print(random.schema()).utf8)
            for _ in 0...random.below(4) {
                let index = random.below(text.count + 1)
                switch random.below(4) {
                case 0 where index < text.count: text.remove(at: index)
                case 1 where index < text.count: text[index] = UInt8(random.below(256))
                case 2: text.insert(contentsOf: pieces[random.below(pieces.count)], at: index)
                default: text.removeLast(text.count - index)
                }
            }
            guard let schema = try? SchemaLanguage.parse(text) else { continue }
            let written = SchemaLanguage.print(schema)
            #expect(try parse(written) == schema)
        }
    }

    @Test("The longest texts, however nasty, end soon: the time grows as the text does")
    func longTexts() {
        let size = 1_048_576
        let heads = ["", "DEFINE SCHEMA ", "DEFINE SCHEMA RECORD TYPE T (f "]
        let pieces = [
            "LIST<", "(", "/*", "/**/", "//", "-", "\"", "a", "\n", ",", "CREATE ROLE ", "é", " ",
            ">",
        ]
        for head in heads {
            for piece in pieces {
                let count = (size - head.utf8.count) / piece.utf8.count
                let text = Array((head + String(repeating: piece, count: count)).utf8)
                let seconds = Self.processorSeconds { _ = try? SchemaLanguage.parse(text) }
                #expect(seconds < 10, "\(head)\(piece)…")
            }
        }
        var text = "DEFINE SCHEMA RECORD TYPE T (f0 STRING"
        for number in 1..<60_000 { text += ",f\(number) STRING" }
        let whole = Array((text + ");").utf8)
        #expect(Self.processorSeconds { _ = try? SchemaLanguage.parse(whole) } < 10)
    }

    /// What a body takes of this thread's time: what others do meanwhile counts for nothing.
    private static func processorSeconds(_ body: () -> Void) -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        body()
        return now() - start
    }
}
