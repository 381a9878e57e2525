#if PostgreSQL
    import MigrationHistory
    import PostgreSQLMigrations

    extension MigrationHistory {
        /// The files that the program has in it.
        init(embedded files: lenticular_postgres_migrations) {
            self.init(
                (0..<files.count).map { index in
                    let file = files.first[index]
                    let sql = UnsafeRawBufferPointer(start: file.sql, count: file.byteCount)
                    return Migration(
                        name: String(cString: file.name), sql: String(decoding: sql, as: UTF8.self))
                })
        }
    }
#endif
