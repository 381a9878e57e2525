#if PostgreSQL
    import PostgreSQL
    import PostgreSQLServer

    /// An empty database of a test.
    enum NewDatabase {
        static func options() throws -> ConnectionOptions {
            let server = try PostgreSQLServer.shared()
            let name = server.newDatabaseName()
            try Connection(ConnectionOptions(address: server.address(of: "postgres"))).run(
                script: "CREATE DATABASE \(name) TEMPLATE template0")
            var options = ConnectionOptions(address: server.address(of: name))
            // On a busy machine everything takes long.
            options.answerMillisecondsMax = 600_000
            return options
        }
    }
#endif
