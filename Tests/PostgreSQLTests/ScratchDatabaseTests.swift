#if PostgreSQL
    import Dispatch
    import PostgreSQL
    import PostgreSQLServer
    import Synchronization
    import Testing

    @Suite("Databases that are there for a while")
    struct ScratchDatabaseTests {
        @Test(
            "Many that are made and removed at once are each there until their maker removes them")
        func manyAtOnce() throws {
            let server = try PostgreSQLServer.shared()
            let home = server.newDatabaseName()
            let admin = try Connection(ConnectionOptions(address: server.address(of: "postgres")))
            try admin.run(script: "CREATE DATABASE \(home) TEMPLATE template0")
            let options = ConnectionOptions(
                address: "postgresql:///\(home)?host=\(server.folder)&user=postgres")
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 24) { number in
                do {
                    let made = try ScratchDatabase(beside: options, suffix: "n\(number)")
                    defer { made.remove() }
                    var inside = options
                    inside.address = ScratchDatabase.url(options.address, of: made.name)
                    _ = try Connection(inside).run("SELECT 1")
                } catch { failures.withLock { $0.append("\(error)") } }
            }
            #expect(failures.withLock { $0 } == [])
            let left = try admin.run(
                "SELECT 1 FROM pg_database WHERE starts_with(datname::text, 'scratch_lenticular_')")
            #expect(left.count == 0)
        }
    }
#endif
