#if PostgreSQL
    import PostgreSQL
    import PostgreSQLStorage
    import Testing

    @Suite("Ledgers of erased people on PostgreSQL")
    struct PostgreSQLErasuresTests {
        @Test("Ledgers take over each other's lines, and hand in what the database lacks alone")
        func exchange() throws {
            let options = try NewDatabase.options()
            let (one, other) = (PostgreSQLErasures(options), PostgreSQLErasures(options))
            #expect(try one.exchange([]).isEmpty)
            #expect(try one.exchange(["1 a keep", "2 b delete"]) == ["1 a keep", "2 b delete"])
            #expect(
                Set(try other.exchange(["3 c keep"])) == ["1 a keep", "2 b delete", "3 c keep"])
            // The database refuses whatever is handed in from here on.
            try Connection(options).run(
                script: "ALTER TABLE logs.erasures ADD CHECK (octet_length(line) < 1) NOT VALID")
            let all = ["1 a keep", "2 b delete", "3 c keep"]
            #expect(try one.exchange(all) == all && other.exchange(["2 b delete"]) == all)
            #expect(throws: PostgreSQLError.self) { try one.exchange(all + ["4 d keep"]) }
        }
    }
#endif
