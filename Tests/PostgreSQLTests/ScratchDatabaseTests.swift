#if PostgreSQL
    import Dispatch
    import Foundation
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
            // Threads, so that there are more at once than processors.
            let group = DispatchGroup()
            for number in 0..<16 {
                group.enter()
                Thread.detachNewThread {
                    defer { group.leave() }
                    do {
                        for round in 0..<3 {
                            try Self.makeAndRemove("n\(number)x\(round)", beside: options)
                        }
                    } catch { failures.withLock { $0.append("\(error)") } }
                }
            }
            group.wait()
            #expect(failures.withLock { $0 } == [])
            let left = try admin.run(
                "SELECT 1 FROM pg_database WHERE starts_with(datname::text, 'scratch_lenticular_')")
            #expect(left.count == 0)
        }

        private static func makeAndRemove(
            _ suffix: String, beside options: ConnectionOptions
        ) throws {
            let made = try ScratchDatabase(beside: options, suffix: suffix)
            defer { made.remove() }
            var inside = options
            inside.address = ScratchDatabase.url(options.address, of: made.name)
            _ = try Connection(inside).run("SELECT 1")
        }
    }
#endif
