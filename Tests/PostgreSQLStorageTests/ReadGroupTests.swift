#if PostgreSQL
    import Awaiting
    import CloudModel
    import Dispatch
    import PostgreSQL
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Synchronization
    import Testing

    @Suite("Short reads that see one moment together")
    struct ReadGroupTests {
        private let fixture: GroupFixture

        init() throws { fixture = try GroupFixture() }

        /// The bytes of some records, as a read tells them; nil for a record that is not there.
        private static func sizes(
            _ names: [String], _ snapshot: any StoreSnapshot
        ) throws -> [Int?] {
            guard let user = GroupFixture.user, let shelf = GroupFixture.shelf,
                let zone = try snapshot.zone(named: shelf, ofOwnerNamed: user)
            else { throw StorageFailure.missing }
            let names = names.compactMap { RecordName($0) }
            var sizes = [Int?](repeating: nil, count: names.count)
            try snapshot.current(of: names, in: zone.number, inOrder: true) { index, version in
                sizes[index] = version.body.count
                return true
            }
            return sizes
        }

        @Test("Reads that come while others are read are one transaction and one round trip")
        func together() throws {
            defer { fixture.location.remove() }
            try fixture.save(["a"])
            let entered = DispatchSemaphore(value: 0)
            let gate = DispatchSemaphore(value: 0)
            let done = DispatchGroup()
            let sizes = Mutex<[[Int?]]>([])
            func read(_ names: [String], _ before: @escaping @Sendable () -> Void = {}) {
                done.enter()
                fixture.store.readTogether(fixture.needs(names), by: StoreCaller(7)) { snapshot in
                    before()
                    return try Self.sizes(names, snapshot)
                } completion: { result in
                    if case .success(let found) = result { sizes.withLock { $0.append(found) } }
                    done.leave()
                }
            }
            read(["a"]) {
                entered.signal()
                gate.wait()
            }
            entered.wait()
            for number in 0..<40 { read(["a", "b\(number)"]) }
            gate.signal()
            #expect(done.wait(timeout: .now() + .seconds(600)) == .success)
            #expect(sizes.withLock { $0 } == [[2]] + Array(repeating: [2, nil], count: 40))
            #expect(fixture.store.readMeasurements.commits == 2)
            #expect(fixture.store.readMeasurements.jobs == 41)
        }

        @Test("Records that are more than is fetched ahead are read all the same")
        func large() throws {
            defer { fixture.location.remove() }
            let names = (0..<12).map { "r\($0)" }
            let bodies = (0..<12).map { [UInt8](repeating: 123, count: 900_000 + $0) }
            try fixture.store.writeAndWait { [zone = fixture.zone] transaction in
                let first = try transaction.takePositions(names.count)
                _ = try transaction.save(
                    names.enumerated().compactMap { index, name in
                        RecordName(name).map {
                            NewVersion(
                                zone: zone, name: $0, position: first + Position(index),
                                previous: nil, previousBytes: 0, previousIsAlive: false, type: 1,
                                flags: [], body: bodies[index])
                        }
                    })
            }
            #expect(try readTogether(names) == bodies.map(\.count))
        }

        @Test(
            "A session that has ended since it was used is replaced; one that ends within is told of"
        )
        func endedSession() throws {
            defer { fixture.location.remove() }
            try fixture.save(["a"])
            #expect(try readTogether(["a"]) == [2])
            let kill = Query(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE pid <> pg_backend_pid() AND datname = current_database()
                """)
            @Sendable func endSessions() throws {
                _ = try Connection(fixture.location.connection).run([kill])
            }
            try endSessions()
            #expect(try readTogether(["a"]) == [2])
            #expect(throws: StorageFailure.self) {
                try readTogether(["a"]) { snapshot in
                    try endSessions()
                    // Nobody foresaw this one.
                    _ = try snapshot.schemaHistory(limit: 1)
                }
            }
            #expect(try readTogether(["a"]) == [2])
        }

        @Test(
            "A read that begins after an acknowledgement sees it, among many that come all the time"
        )
        func visibility() throws {
            defer { fixture.location.remove() }
            let ends = Atomic(false)
            let done = DispatchGroup()
            for _ in 0..<4 {
                DispatchQueue.global().async(group: done) {
                    while !ends.load(ordering: .relaxed) { _ = try? readTogether(["r0", "none"]) }
                }
            }
            for number in 0..<200 {
                try fixture.save(["r\(number)"])
                #expect(try readTogether(["r\(number)"]) == [2])
            }
            ends.store(true, ordering: .relaxed)
            #expect(done.wait(timeout: .now() + .seconds(600)) == .success)
        }

        @discardableResult
        private func readTogether(
            _ names: [String],
            _ then: @escaping @Sendable (any StoreSnapshot) throws -> Void = { _ in }
        ) throws -> [Int?] {
            let done = DispatchSemaphore(value: 0)
            let outcome = Mutex<Result<[Int?], any Error>?>(nil)
            fixture.store.readTogether(fixture.needs(names), by: .server) { snapshot in
                let sizes = try Self.sizes(names, snapshot)
                try then(snapshot)
                return sizes
            } completion: { result in
                outcome.withLock { $0 = result }
                done.signal()
            }
            try #require(done.wait(timeout: .now() + .seconds(600)) == .success)
            return try #require(outcome.withLock { $0 }).get()
        }
    }
#endif
