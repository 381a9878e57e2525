#if PostgreSQL
    import PostgreSQLStorage
    import StorageConformance
    import Testing

    @Suite("PostgreSQL keeps what every engine promises")
    struct PostgreSQLConformanceTests {
        @Test("A promise", arguments: StoragePromise.all)
        func keeps(_ promise: StoragePromise) throws { try promise.check(.postgreSQL) }
    }
#endif
