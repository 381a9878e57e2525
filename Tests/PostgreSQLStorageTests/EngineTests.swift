#if PostgreSQL
    import CloudModel
    import Dispatch
    import PostgreSQL
    import PostgreSQLServer
    import PostgreSQLStorage
    import Storage
    import Synchronization
    import Testing

    @Suite("All of a server's data on PostgreSQL")
    struct PostgreSQLEngineTests {
        private let location: PostgreSQLLocation
        private let key: StoreKey

        init() throws {
            location = try PostgreSQLLocation()
            key = StoreKey(try #require(ContainerID("iCloud.Home")), .development)
        }

        private func engine(_ folder: String = "a") throws -> PostgreSQLEngine {
            try location.engine(folder)
        }

        /// An engine with a store of one zone, and the image of the store.
        private func image() throws -> [UInt8] {
            let engine = try engine()
            try engine.catalog.add(ContainerRecord(id: key.container, createdAt: 1))
            let store = try engine.open(key, notices: CommitNotices())
            let user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
            let name = try #require(ZoneName("shelf"))
            _ = try store.writeAndWait { try $0.makeZone(named: name, ofOwnerNamed: user) }
            _ = engine.close(key, isUnused: true)
            return try engine.read(.store(key)) { image in
                let bytes = try image.read(at: 0, count: 1 << 20)
                // From its beginning once more.
                #expect(try image.read(at: 0, count: 1 << 20) == bytes)
                #expect(try image.read(at: 7, count: 9) == Array(bytes[7..<16]))
                return bytes
            }
        }

        private func restore(_ bytes: [UInt8], for folder: String) throws {
            try location.factory(folder).restore(
                .store(key), from: { try $0(bytes) }, assets: { _ in })
        }

        @Test("A byte that is changed anywhere in an image is found, and no store is left")
        func changedBytes() throws {
            defer { location.remove() }
            let bytes = try image()
            for index in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 40)) {
                var changed = bytes
                changed[index] ^= 4
                for damaged in [changed, Array(bytes.prefix(index))] {
                    #expect("\(index)") {
                        try restore(damaged, for: "b")
                    } throws: {
                        $0 is any EngineFault
                    }
                }
            }
            let count = try Connection(location.connection(of: "b")).run(
                "SELECT count(*) FROM stores")
            #expect(count.number(0, 0) == 0)
            // A database in use keeps what it has, also of a store of that name.
            #expect {
                try restore(bytes, for: "a")
            } throws: {
                $0 is any EngineFault
            }
            let zones = try Connection(location.connection(of: "a")).run(
                "SELECT count(*) FROM zones")
            #expect(zones.number(0, 0) == 1)
            // One that did not come to its end before is no obstacle, whatever it left.
            try restore(bytes, for: "b")
            try restore(bytes, for: "b")
            let stores = try Connection(location.connection(of: "b")).run(
                "SELECT count(*), count(DISTINCT store), (SELECT count(*) FROM zones) FROM stores")
            #expect((0..<3).map { stores.number(0, $0) } == [1, 1, 1])
        }

        @Test("Of two processes that make a store at once both have the same")
        func together() throws {
            defer { location.remove() }
            let engines = try [engine(), engine()]
            try engines[0].catalog.add(ContainerRecord(id: key.container, createdAt: 1))
            let identities = Mutex<[Int64]>([])
            DispatchQueue.concurrentPerform(iterations: 2) { number in
                let identity = try? engines[number].open(key, notices: CommitNotices()).identity
                identities.withLock { $0.append(identity?.incarnation ?? 0) }
            }
            let found = identities.withLock { $0 }
            #expect(found.count == 2 && Set(found).count == 1 && found.first != 0)
            #expect(try engines[0].problems(of: .catalog, lossesSince: 0) == [])
        }

        @Test("The next start is told of a store that a process ended with, until it is closed")
        func leftOpen() throws {
            defer { location.remove() }
            func isLeftOpen(_ engine: any StorageEngine) throws -> Bool? {
                try engine.stores(ListRequest()).items.first?.isLeftOpen
            }
            let first = try engine()
            try first.catalog.add(ContainerRecord(id: key.container, createdAt: 1))
            _ = try first.open(key, notices: CommitNotices())
            #expect(try isLeftOpen(first) == false)
            let second = try engine()
            // The first lives, and does what is due there.
            #expect(try isLeftOpen(second) == false)
            first.close()
            #expect(try isLeftOpen(second) == true)
            _ = try second.open(key, notices: CommitNotices())
            _ = second.close(key, isUnused: true)
            #expect(try isLeftOpen(engine()) == false)
        }

        @Test("What is read behind a store that is gone is as new as ever")
        func behindMissing() throws {
            defer { location.remove() }
            let (one, other) = (try engine(), try engine())
            try one.catalog.add(ContainerRecord(id: key.container, createdAt: 1))
            let production = StoreKey(key.container, .production)
            let connection = try Connection(location.connection(of: "a"))
            let gone = try one.open(key, notices: CommitNotices())
            let number = try connection.run("SELECT store FROM stores").number(0, 0)
            let read = try one.open(production, notices: CommitNotices())
            let written = try other.open(production, notices: CommitNotices())
            _ = try connection.run("DELETE FROM progress WHERE store = $1", .number(number))
            let owner = try #require(UserRecordName("_00000000000000000000000000000001"))
            for name in ["a", "b", "c"] {
                #expect(throws: StorageFailure.missing) { try gone.identity }
                let zone = try #require(ZoneName(name))
                try written.writeAndWait { _ = try $0.makeZone(named: zone, ofOwnerNamed: owner) }
                #expect(try read.read { try $0.zone(named: zone, ofOwnerNamed: owner) } != nil)
            }
        }

        @Test("A store whose rows are gone is missing, and is not made anew")
        func missing() throws {
            defer { location.remove() }
            let engine = try engine()
            try engine.catalog.add(ContainerRecord(id: key.container, createdAt: 1))
            let store = try engine.open(key, notices: CommitNotices())
            _ = try store.identity
            _ = engine.close(key, isUnused: true)
            _ = try Connection(location.connection(of: "a")).run("DELETE FROM progress")
            #expect(try engine.isMissing(key))
            #expect(throws: StorageFailure.missing) {
                try engine.open(key, notices: CommitNotices())
            }
            #expect(throws: StorageFailure.missing) { try store.identity }
        }

        @Test("The owner of the database is enough; nobody need be a superuser")
        func ordinaryRole() throws {
            let server = try PostgreSQLServer.shared()
            let name = server.newDatabaseName()
            let admin = try Connection(ConnectionOptions(address: server.address(of: "postgres")))
            try admin.run(script: "CREATE ROLE plain_\(name) LOGIN")
            try admin.run(script: "CREATE DATABASE \(name) OWNER plain_\(name)")
            var settings = PostgreSQLEngine.Settings(
                ConnectionOptions(
                    address: server.address(of: name).replacing(
                        "user=postgres", with: "user=plain_\(name)")))
            settings.connection.answerMillisecondsMax = 600_000
            let factory = PostgreSQLEngineFactory(settings, place: "here") {
                (0..<$0).map { _ in .random(in: 0...255) }
            }
            #expect(try !factory.hasData())
            let engine = try factory.open(
                EngineOptions(
                    clock: Clock { 1 }, random: { (0..<$0).map { _ in .random(in: 0...255) } },
                    report: { _, _ in }, onIndeterminate: { _ in }))
            try engine.catalog.add(ContainerRecord(id: key.container, createdAt: 1))
            let store = try engine.open(key, notices: CommitNotices())
            try store.writeAndWait { try $0.enqueue(.collect) }
            #expect(engine.close(key, isUnused: true) != nil)
            #expect(try engine.problems(of: .store(key), lossesSince: 0) == [])
            try engine.overwriteDeleted(in: .store(key)) { true }
            try engine.remove(key.container) { _ in }
            #expect(try engine.stores(ListRequest()).items.isEmpty)
        }
    }
#endif
