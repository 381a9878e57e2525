#if PostgreSQL
    import CloudModel
    import Storage

    // What a read cannot be asked yet.
    extension PostgreSQLSnapshot {
        func page(
            of query: StoreQuery, _ visit: (StoredVersion) throws -> Void
        ) throws -> QueryCursor? { throw NotBuilt() }

        func words(in text: String) throws -> [[UInt8]] { throw NotBuilt() }
    }
#endif
