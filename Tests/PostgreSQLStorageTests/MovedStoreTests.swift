#if PostgreSQL
    import Awaiting
    import CloudModel
    import Dispatch
    import PostgreSQL
    import PostgreSQLStorage
    import Storage
    import Testing

    @Suite("Containers that leave a database which several processes serve")
    struct MovedStoreTests {
        private let location: PostgreSQLLocation
        private let key: StoreKey
        private let user: UserRecordName
        private let engines: [PostgreSQLEngine]
        private let connection: Connection

        init() throws {
            location = try PostgreSQLLocation()
            key = StoreKey(try #require(ContainerID("iCloud.Home")), .development)
            user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
            engines = [try location.engine(), try location.engine()]
            try engines[0].catalog.add(ContainerRecord(id: key.container, createdAt: 1))
            connection = try Connection(location.connection(of: "a"))
        }

        private func end() {
            for engine in engines {
                _ = engine.close(key, isUnused: true)
                engine.close()
            }
            location.remove()
        }

        private func makeZone(_ text: String, in store: any EngineStore) throws {
            let name = try #require(ZoneName(text))
            _ = try store.writeAndWait { [user] in
                try $0.makeZone(named: name, ofOwnerNamed: user)
            }
        }

        @Test(
            "What a close has left while the database was away does not hold up a container that leaves"
        )
        func leftOpenings() throws {
            defer { end() }
            for engine in engines { _ = try engine.open(key, notices: CommitNotices()) }
            _ = engines[1].close(key, isUnused: true)
            let process = engines[1].process
            _ = try connection.run(
                "INSERT INTO openings (store, process) SELECT store, $1 FROM stores",
                .bytes(process))
            try engines[0].catalog.set([ContainerRecord.movedKey: "moved"], of: key.container)
            try Wait.until {
                try connection.run("SELECT 1 FROM openings WHERE process = $1", .bytes(process))
                    .count == 0
            }
            // Nor does it take the note from what is open.
            let open = try connection.run("SELECT process FROM openings")
            #expect(open.count == 1 && Array(open.bytes(0, 0)) == engines[0].process)
        }

        @Test("A process that has not heard that a container has left acknowledges no write there")
        func unheard() throws {
            defer { end() }
            let stores = try engines.map { try $0.open(key, notices: CommitNotices()) }
            for (number, store) in stores.enumerated() { try makeZone("z\(number)", in: store) }
            // Written past the catalog's version, so that nobody is told.
            _ = try connection.run(
                """
                INSERT INTO catalog.container_settings (container, key, value)
                VALUES ($1, 'moved', 'moved')
                """, .text(key.container.folded))
            for store in stores {
                #expect(throws: StorageFailure.moved) { try makeZone("later", in: store) }
            }
            // Nor does one reset the store that the copy has.
            let beginning = StoreBeginning(schema: Schema(), moment: 1, who: "test", difference: [])
            #expect(throws: StorageFailure.moved) { try engines[1].reset(key, to: beginning) }
            _ = try connection.run("DELETE FROM catalog.container_settings")
            // Taken back, it goes on as it was.
            for (number, store) in stores.enumerated() { try makeZone("y\(number)", in: store) }
        }

        @Test("A copy has what a process acknowledges late that no longer counts as living")
        func late() throws {
            defer { end() }
            let stores = try engines.map { try $0.open(key, notices: CommitNotices()) }
            try makeZone("first", in: stores[0])
            let name = try #require(ZoneName("late"))
            let (begun, goesOn, saved) = (Awaited<Bool>(), Awaited<Bool>(), Awaited<Bool>())
            stores[1].write(WriteLoad()) { [user] transaction in
                begun.tell(true)
                _ = try goesOn.value()
                _ = try transaction.makeZone(named: name, ofOwnerNamed: user)
            } completion: { outcome in
                if case .success = outcome { saved.tell(true) } else { saved.tell(false) }
            }
            #expect(try begun.value())
            // As where its lease has ended while it stood still.
            _ = try connection.run(
                "DELETE FROM stores.openings WHERE process = $1", .bytes(engines[1].process))
            _ = engines[0].close(key, isUnused: true)
            let copied = Awaited<Int>()
            DispatchQueue(label: "copy").async { [engines, key] in
                // NB: a failure is told as no zones.
                let rows = (try? StoreCopy(key).rows(of: engines[0])) ?? []
                copied.tell(rows.count { $0.values.contains(.bytes(Array("late".utf8))) })
            }
            try Wait.until {
                try connection.run(
                    """
                    SELECT 1 FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'
                    """
                ).count == 1
            }
            goesOn.tell(true)
            #expect(try saved.value())
            #expect(try copied.value() == 1)
        }
    }
#endif
