#if PostgreSQL
    import CloudModel
    import Dispatch
    import PostgreSQL
    import PostgreSQLServer
    import PostgreSQLStorage
    import Storage
    import Synchronization
    import Testing

    @Suite("The catalog on PostgreSQL")
    struct PostgreSQLCatalogTests {
        private static func container(
            _ name: String, _ settings: [String: String] = [:]
        ) throws
            -> ContainerRecord
        {
            ContainerRecord(
                id: try #require(ContainerID("iCloud.\(name)")), createdAt: 7, settings: settings)
        }

        @Test("Texts are kept whatever characters they have, and however long they are")
        func texts() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            let settings = [
                "nothing": "", "zero": "a\u{0}b",
                "long": String(repeating: "ö\u{0}?", count: 300_000),
            ]
            let record = try Self.container("texts", settings)
            try location.openCatalog().add(record)
            #expect(try location.openCatalog().container(record.id) == record)
        }

        @Test("What one process writes, another reads at once and does not write again")
        func processes() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            let catalogs = try (0..<4).map { _ in try location.openCatalog() }
            let made = Mutex(0)
            try together(16) { number in
                let record = try Self.container("one")
                do {
                    try catalogs[number % 4].add(record)
                    made.withLock { $0 += 1 }
                } catch CatalogRefusal.containerExists {}
                #expect(try catalogs[(number + 1) % 4].container(record.id) == record)
            }
            #expect(made.withLock { $0 } == 1)
        }

        @Test("A commit whose answer is lost is looked up", arguments: [true, false])
        func lostAnswer(_ arrives: Bool) throws {
            let server = try PostgreSQLServer.shared()
            let proxy = try CuttingProxy(before: server)
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            var options = location.connection
            options.address = options.address.replacing(server.folder, with: proxy.folder)
            let catalog = try PostgreSQLCatalog(options)
            let record = try Self.container("lost")
            // The commit's text passes when it is prepared: with the first write of a session.
            proxy.cut(arrives ? .after : .before, at: "COMMIT")
            let outcome = Result { try catalog.add(record) }
            #expect(proxy.cuts == 1)
            if arrives {
                try outcome.get()
            } else {
                #expect(throws: StorageFailure.self) { try outcome.get() }
            }
            #expect(try location.openCatalog().container(record.id) == (arrives ? record : nil))
            proxy.cut(.before, at: "nothing has this word")
            let other = try Self.container("other")
            try catalog.add(other)
            #expect(try catalog.container(other.id) == other)
        }

        @Test("A write that is silent within its turn loses it to the next, and says so")
        func silence() throws {
            let location = try PostgreSQLLocation()
            defer { location.remove() }
            let stopped = try PostgreSQLCatalog(location.connection, silenceSecondsMax: 5)
            let catalog = try location.openCatalog()
            let (first, second) = try (Self.container("first"), Self.container("second"))
            #expect(throws: StorageFailure.self) {
                try stopped.write(endsWhatWasTrue: true) { _ in try catalog.add(first) }
            }
            try stopped.add(second)
            #expect(try catalog.container(first.id) == first)
            #expect(try catalog.container(second.id) == second)
        }

        @Test("A server that is started again is met by new sessions")
        func restart() throws {
            let server = try PostgreSQLServer()
            let location = try PostgreSQLLocation(on: server)
            let catalog = try location.openCatalog()
            let (first, second) = try (Self.container("first"), Self.container("second"))
            try catalog.add(first)
            try server.crash()
            #expect(try catalog.container(first.id) == first)
            try catalog.add(second)
            try server.stop()
            #expect(throws: StorageFailure.self) { try catalog.container(first.id) }
            try server.start()
            #expect(try catalog.container(second.id) == second)
        }

        /// Runs a body on so many threads at the same time.
        private func together(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws
        {
            let failures = Mutex<[any Error]>([])
            DispatchQueue.concurrentPerform(iterations: count) { number in
                do { try body(number) } catch { failures.withLock { $0.append(error) } }
            }
            if let first = failures.withLock({ $0.first }) { throw first }
        }
    }
#endif
