#if PostgreSQL
    import CloudModel
    import Dispatch
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Synchronization
    import Testing

    /// A store with one zone, and saves as the server does them.
    struct GroupFixture {
        let location: PostgreSQLLocation
        let store: PostgreSQLStore
        let zone: StoredZone

        static let user = UserRecordName("_00000000000000000000000000000001")
        static let shelf = ZoneName("Shelf")

        init(
            _ location: PostgreSQLLocation? = nil,
            _ change: (inout PostgreSQLStore.Options) -> Void = { _ in }
        ) throws {
            let location = try location ?? PostgreSQLLocation()
            let user = try #require(Self.user)
            let shelf = try #require(Self.shelf)
            self.location = location
            store = try location.openPostgreSQLStore(change)
            zone = try store.writeAndWait { transaction in
                try transaction.makeZone(named: shelf, ofOwnerNamed: user)
            }
        }

        /// What a save of these records says that it needs.
        func needs(_ names: [String]) -> StoreNeeds {
            var needs = StoreNeeds()
            needs.owner = Self.user
            needs.zone = Self.shelf
            needs.records = names.compactMap { RecordName($0) }
            return needs
        }

        /// Saves records in one write, and waits.
        func save(_ names: [String], foreseen: Bool = true) throws {
            let done = DispatchSemaphore(value: 0)
            let outcome = Mutex<Result<Void, any Error>?>(nil)
            write(names, foreseen: foreseen) { result in
                outcome.withLock { $0 = result }
                done.signal()
            }
            guard done.wait(timeout: .now() + .seconds(600)) == .success,
                let outcome = outcome.withLock({ $0 })
            else { throw StorageFailure.indeterminate }
            try outcome.get()
        }

        func write(
            _ names: [String], foreseen: Bool = true, caller: UInt64 = 0,
            completion: @escaping @Sendable (Result<Void, any Error>) -> Void
        ) {
            let needs = foreseen ? needs(names) : StoreNeeds()
            let load = WriteLoad(cost: names.count, caller: StoreCaller(caller)) { needs }
            store.write(load, { try Self.save(names, $0) }, completion: completion)
        }

        private static func save(_ names: [String], _ transaction: any StoreTransaction) throws {
            guard let user, let shelf,
                let zone = try transaction.zone(named: shelf, ofOwnerNamed: user)
            else { throw StorageFailure.missing }
            let names = names.compactMap { RecordName($0) }
            let heads = try transaction.heads(of: names, in: zone.number)
            // As every save does.
            _ = try transaction.keepsTrees(zone.number)
            let first = try transaction.takePositions(names.count)
            let versions = zip(names, heads).enumerated().map { index, pair in
                NewVersion(
                    zone: zone, name: pair.0, position: first + Position(index), previous: pair.1,
                    previousBytes: pair.1 == nil ? 0 : 2, previousIsAlive: pair.1 != nil, type: 1,
                    flags: [], body: [123, 125])
            }
            _ = try transaction.save(versions)
        }

        /// How many records the zone's feed shows.
        func names(isOfFeed: Bool = false) throws -> Int {
            try store.read(ReadLoad(isOfFeed: isOfFeed)) { snapshot in
                var count = 0
                try snapshot.versions(
                    in: zone.number, after: 0, through: .max, newestFirst: false
                ) { _ in
                    count += 1
                    return true
                }
                return count
            }
        }
    }
#endif
