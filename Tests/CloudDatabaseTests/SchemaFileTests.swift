import CloudDatabase
import CloudModel
import Testing

/// Files as other people's tools and consoles write them, made up for this test (rulings.md 46).
@Suite("Schema files of other people")
struct SchemaFileTests {
    private func schema(_ text: String) throws -> Schema {
        try SchemaLanguage.parse(Array(text.utf8))
    }

    /// As a console exports a container that an app with managed objects has filled.
    static let mirrored = """
        DEFINE SCHEMA

            RECORD TYPE CD_Herb (
                CD_bed                STRING QUERYABLE SEARCHABLE SORTABLE,
                CD_entityName         STRING QUERYABLE SEARCHABLE SORTABLE,
                CD_height             DOUBLE QUERYABLE SORTABLE,
                CD_leaf               BYTES QUERYABLE SORTABLE,
                CD_leaf_ckAsset       ASSET,
                CD_moveReceipt        BYTES QUERYABLE SORTABLE,
                CD_moveReceipt_ckAsset ASSET,
                CD_spot               LOCATION QUERYABLE SORTABLE,
                "___createTime"       TIMESTAMP QUERYABLE SORTABLE,
                "___createdBy"        REFERENCE QUERYABLE SORTABLE,
                "___etag"             STRING QUERYABLE SORTABLE,
                "___modTime"          TIMESTAMP QUERYABLE SORTABLE,
                "___modifiedBy"       REFERENCE,
                "___recordID"         REFERENCE QUERYABLE SORTABLE,
                GRANT WRITE TO "_creator",
                GRANT CREATE TO "_icloud",
                GRANT READ TO "_world"
            );

            RECORD TYPE Users (
                "___createTime" TIMESTAMP,
                "___createdBy"  REFERENCE,
                "___etag"       STRING,
                "___modTime"    TIMESTAMP,
                "___modifiedBy" REFERENCE,
                "___recordID"   REFERENCE QUERYABLE,
                roles           LIST<INT64>,
                GRANT WRITE TO "_creator",
                GRANT READ TO "_world"
            );

        """

    @Test("What a console exported is read, and exported again byte for byte but for blanks")
    func consoleExport() throws {
        let written = SchemaLanguage.print(try schema(Self.mirrored))
        func words(_ text: String) -> [Substring] { text.split { $0 == " " || $0 == "\n" } }
        #expect(words(written) == words(Self.mirrored))
    }

    @Test("A file of everything that people index is kept as it is, through a second export")
    func everyOption() throws {
        let text = """
            // the garden's public data
            DEFINE SCHEMA
            CREATE ROLE Gardener;
            RECORD TYPE "Harvest" (
                "___recordID" REFERENCE QUERYABLE SORTABLE, "___share" REFERENCE QUERYABLE,
                Zone        STRING SEARCHABLE,
                tags        LIST<STRING> QUERYABLE SEARCHABLE SORTABLE,
                weights     LIST<DOUBLE> QUERYABLE SORTABLE,
                days        LIST<TIMESTAMP> QUERYABLE SORTABLE,
                places      LIST<LOCATION> QUERYABLE SORTABLE,
                beds        LIST<REFERENCE> QUERYABLE SORTABLE,
                hashes      LIST<BYTES> QUERYABLE SORTABLE,
                digest      BYTES QUERYABLE SORTABLE SEARCHABLE,
                "grant"     NUMBER PREFERRED AS DOUBLE QUERYABLE SEARCHABLE,
                bed         REFERENCE QUERYABLE SORTABLE SEARCHABLE,
                photos      LIST<ASSET>, diary ENCRYPTED STRING, secrets LIST<ENCRYPTED BYTES>,
                GRANT READ, CREATE, WRITE TO Gardener
            );
            """
        let read = try schema(text)
        let written = SchemaLanguage.print(read)
        #expect(try schema(written) == read)
        for line in [
            "tags            LIST<STRING> QUERYABLE SEARCHABLE SORTABLE,",
            "hashes          LIST<BYTES> QUERYABLE SORTABLE,",
            "digest          BYTES QUERYABLE SEARCHABLE SORTABLE,",
            "places          LIST<LOCATION> QUERYABLE SORTABLE,",
            #""___recordID"   REFERENCE QUERYABLE SORTABLE,"#,
            #""grant"         NUMBER PREFERRED AS DOUBLE QUERYABLE SEARCHABLE,"#,
        ] {
            #expect(written.contains("        \(line)\n"), "\(line)\n\(written)")
        }
    }

    @Test("Fields are exported in byte order: capitals, system fields, small letters")
    func order() throws {
        let names = SchemaLanguage.print(
            try schema("DEFINE SCHEMA RECORD TYPE T (b INT64, Z INT64, a INT64, B INT64);")
        ).split(separator: "\n").drop { !$0.contains("RECORD TYPE T") }.dropFirst().prefix(10)
            .map { String($0.split(separator: " ")[0]) }
        #expect(
            names == [
                "B", "Z", #""___createTime""#, #""___createdBy""#, #""___etag""#, #""___modTime""#,
                #""___modifiedBy""#, #""___recordID""#, "a", "b",
            ])
    }
}
