#if !PostgreSQL
    import Testing

    @Suite("A build without PostgreSQL")
    struct BuildWithoutPostgresTests {
        @Test("It refuses an engine that it does not have, and says which build has it")
        func refused() throws {
            let folder = try TemporaryFolder()
            for words in [["serve", "--listen", "127.0.0.1:0"], ["config", "check"]] {
                let outcome = try Program.run(
                    words + ["--data", folder.path("data")],
                    environment: [
                        "LENTICULAR_STORAGE_ENGINE": "postgres",
                        "LENTICULAR_STORAGE_POSTGRES_URL": "postgresql://u@localhost/app",
                    ])
                #expect(outcome.status == 1, "\(outcome)")
                #expect(
                    outcome.error.contains("storage.engine: this build has no postgres"),
                    "\(outcome)")
                #expect(outcome.error.contains("--traits ApplePush,PostgreSQL"), "\(outcome)")
            }
        }
    }
#endif
