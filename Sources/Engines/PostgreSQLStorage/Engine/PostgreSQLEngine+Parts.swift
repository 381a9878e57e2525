#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    // Parts as bytes.
    extension PostgreSQLEngine {
        package func read<Value>(
            _ part: EnginePart, unless mark: [UInt8]?, _ body: (any PartImage) throws -> Value
        ) throws -> Value? {
            let store: Int64? =
                switch part {
                case .catalog: nil
                case .store(let key): try storeNumber(key)
                }
            let connection = try telling {
                let options =
                    store == nil
                    ? PostgreSQLCatalog.options(settings.connection)
                    : StoreSessions.options(settings.connection)
                return try Connection(options)
            }
            connection.deadline = .distantFuture
            guard let store else { return try image(of: nil, connection, unless: mark, body) }
            let identity = options.random(16)
            try telling {
                _ = try connection.run([FileRemovals.beginCopy(store, identity, by: process)])
            }
            defer {
                // NB: what cannot be undone is over with the session.
                try? connection.rollBack()
                // NB: a row that stays ends with this process, or after a day; files stay until then.
                _ = try? connection.run([FileRemovals.endCopy(store, identity)])
            }
            return try image(of: store, connection, unless: mark, body)
        }

        private func image<Value>(
            of store: Int64?, _ connection: Connection, unless mark: [UInt8]?,
            _ body: (any PartImage) throws -> Value
        ) throws -> Value? {
            let image = try telling {
                _ = try connection.run([
                    Query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
                    // The same rows in the same order for who reads twice.
                    Query("SET LOCAL synchronize_seqscans = off"), Query("SAVEPOINT image"),
                ])
                return try PostgreSQLPartImage(connection, of: store)
            }
            if let mark, mark == image.mark { return nil }
            return try body(image)
        }

        /// Has the server give up what it keeps of deleted rows; what it overwrites, and when, is the server's own.
        package func overwriteDeleted(
            in part: EnginePart, while goesOn: @Sendable () -> Bool
        ) throws {
            try telling {
                let connection = try Connection(
                    part == .catalog
                        ? PostgreSQLCatalog.options(settings.connection)
                        : StoreSessions.options(settings.connection))
                connection.deadline = .distantFuture
                for table in try TableLayout.tables(of: connection) {
                    guard goesOn() else { throw OverwritingEnded() }
                    try connection.run(script: "VACUUM \(table.name)")
                }
            }
        }
    }
#endif
