#if PostgreSQL
    import CloudModel
    import Storage
    import StorageConformance
    import Synchronization
    import Testing

    @Suite("Stores go from engine to engine as rows")
    struct StoreCopyTests {
        @Test(
            "Whatever a store holds is all there, once, in the other engine and back again",
            arguments: StoragePromise.ofStores)
        func everything(_ promise: StoragePromise) throws {
            for first in CopiedLocation.Side.allCases {
                // It would take 250,000 changes there.
                if first == .postgreSQL, promise.description.contains("too far behind") { continue }
                let made = Mutex<CopiedLocation?>(nil)
                defer { made.withLock { $0?.end() } }
                try promise.check(
                    Engine(name: "\(first)") { clock in
                        let location = try CopiedLocation(clock, first: first)
                        made.withLock { $0 = location }
                        return location
                    })
                let location = try #require(made.withLock { $0 })
                #expect(try location.problemsOfCopies() == [])
            }
        }

        /// A zone with records of many pages, each with a number.
        private func makeRecords(_ location: CopiedLocation) throws {
            let store = try location.openStore()
            defer { location.close(store) }
            let user = try #require(UserRecordName("_" + String(repeating: "a", count: 32)))
            let zoneName = try #require(ZoneName("shelf"))
            let typeName = try #require(RecordTypeName("Note"))
            try store.writeAndWait { transaction in
                var schema = try transaction.schema
                schema.types[typeName] = Schema.RecordType()
                try transaction.replaceSchema(by: schema, who: "trial", difference: ["+"])
                let type = try #require(try transaction.schema.types[typeName]?.number)
                let zone = try transaction.makeZone(named: zoneName, ofOwnerNamed: user)
                for number in 0..<2_500 {
                    let name = try #require(RecordName("r\(number)"))
                    let body = """
                        {"recordName":"r\(number)","fields":{"n":{"value":\(number * 7 % 2_500),\
                        "type":"INT64"}}}
                        """
                    _ = try transaction.save(
                        NewVersion(
                            zone: zone, name: name, position: transaction.takePosition(),
                            previous: nil, previousBytes: 0, previousIsAlive: false, type: type,
                            flags: [], body: Array(body.utf8)))
                }
            }
        }

        /// The records with the greatest numbers, which an index finds that is made now.
        private func greatest(_ engine: any StorageEngine, _ key: StoreKey) throws -> [String] {
            let store = try engine.open(key, notices: CommitNotices())
            defer { _ = engine.close(key, isUnused: true) }
            let typeName = try #require(RecordTypeName("Note"))
            let field = RecordQuery.Subject.field(try #require(FieldName("n")))
            var query = RecordQuery(type: typeName)
            query.filters = [
                RecordQuery.Filter(
                    subject: field, comparator: .greaterThan, type: FieldType(.int64),
                    value: .int64(2_480))
            ]
            query.sorts = [RecordQuery.Sort(subject: field, ascending: false)]
            return try store.readWithIndexes { snapshot in
                let zone = try #require(try snapshot.zone(ZoneNumber(1)))
                let type = try #require(try snapshot.schema.types[typeName]?.number)
                var found: [RecordNumber] = []
                _ = try snapshot.page(
                    of: StoreQuery(
                        query, type: type, zones: [zone], sight: .all, words: [:], start: nil,
                        limit: 100, bytesMax: .max,
                        bounds: QueryBounds(
                            recordsMax: 1_000_000, millisecondsMax: 600_000,
                            sharedRecordsMax: 100))
                ) { found.append($0.record) }
                return try found.map { try #require(try snapshot.location(of: $0)).name.text }
            }
        }

        @Test("A copy answers queries as the store it came from, by indexes of its own")
        func queries() throws {
            let location = try CopiedLocation(first: .sqlite)
            defer { location.end() }
            try makeRecords(location)
            let wanted = try greatest(location.engine, location.key)
            #expect(wanted.count == 19)
            var from: any StorageEngine = location.engine
            for side in [CopiedLocation.Side.postgreSQL, .sqlite] {
                let target = try location.openEngine(side, "target")
                try StoreCopy(location.key).copy(from: from, to: target)
                #expect(try greatest(target, location.key) == wanted)
                from = target
            }
        }

        @Test("What a copy has left is given up once a new container of that name has a store")
        func leftovers() throws {
            let location = try CopiedLocation(first: .sqlite)
            defer { location.end() }
            try makeRecords(location)
            let key = location.key
            let target = try location.openEngine(.postgreSQL, "target")
            let rows = try StoreCopy(key).rows(of: location.engine)
            try target.takeRows(of: .store(key)) { taken in
                #expect(try taken.last() == nil)
                try taken.append(Array(rows.prefix(1_500)))
                #expect(try taken.last() == rows[1_499])
            }
            #expect(try target.problems(of: .catalog, lossesSince: 0).count == 1)
            // Begun anew, as after a change of the source.
            try target.takeRows(of: .store(key)) { taken in
                #expect(try taken.last() == rows[1_499])
                try taken.clear()
                #expect(try taken.last() == nil)
                try taken.append(Array(rows.prefix(1_400)))
            }
            try target.catalog.add(ContainerRecord(id: key.container, createdAt: 1))
            #expect(throws: CatalogRefusal.containerExists) {
                try target.takeRows(of: .store(key)) { _ in }
            }
            let store = try target.open(key, notices: CommitNotices())
            #expect(try store.read { try $0.lastPosition() } == 0)
            _ = target.close(key, isUnused: true)
            try target.recover { _, _ in }
            #expect(try target.problems(of: .catalog, lossesSince: 0) == [])
            #expect(try target.problems(of: .store(key), lossesSince: 0) == [])
            target.close()
        }

        @Test("A store that goes on where it was copied from expires what the copy has given out")
        func anotherLife() throws {
            for side in CopiedLocation.Side.allCases {
                let location = try CopiedLocation(first: side)
                defer { location.end() }
                let (key, engine) = (location.key, location.engine)
                try makeRecords(location)
                let target = try location.openEngine(side.other, "target")
                try StoreCopy(key).copy(from: engine, to: target)
                let copied = try target.open(key, notices: CommitNotices())
                let position = try copied.writeAndWait { transaction in
                    try transaction.enqueue(.collect)
                    return try transaction.takePosition()
                }
                let life = try copied.identity.incarnation(reaching: position)
                _ = target.close(key, isUnused: true)
                let before = try StoreCopy(key).rows(of: engine)[0]
                try engine.beginLife(of: key)
                let store = try engine.open(key, notices: CommitNotices())
                let identity = try store.identity
                #expect(!identity.knows(life, through: position))
                guard case .integer(let first) = before.values[0],
                    case .integer(let last) = before.values[1]
                else { throw CopyRefusal("no row of the store itself") }
                #expect(identity.knows(first, through: last))
                _ = engine.close(key, isUnused: true)
                target.close()
            }
        }

        private func account(_ id: AccountID, at address: String) -> AccountRecord {
            let address = Address(kind: .email, text: address, folded: address)
            return AccountRecord(
                id: id, givenName: "Ann", familyName: "",
                addresses: [AccountAddress(address: address, isPrimary: true, verifiedAt: 1)],
                password: nil, createdAt: 1)
        }

        @Test("An account keeps its id and has what was noted of it once, however often it comes")
        func accounts() throws {
            for side in CopiedLocation.Side.allCases {
                let location = try CopiedLocation(first: side)
                defer { location.end() }
                let target = try location.openEngine(side.other, "target")
                defer { target.close() }
                let ann = AccountID("ann")
                for (engine, action) in [(location.engine, "one"), (target, "two")] {
                    try engine.catalog.add(account(ann, at: "ann@x.example"))
                    try engine.catalog.note(
                        OperatorLook(
                            account: ann, time: 1, by: .account, action: action,
                            container: location.key.container))
                    try engine.catalog.note(
                        OperatorLook(
                            account: ann, time: 2, by: .token, action: action, container: nil))
                }
                let copy = StoreCopy(location.key)
                for _ in 0..<2 {
                    try copy.copyCatalog(from: location.engine, to: target, all: true)
                    let looks = try target.catalog.looks(at: ann, limit: 10).map(\.action)
                    #expect(looks.sorted() == ["one", "one", "two", "two"])
                }
                // Somebody else with an address that is another's there, and nothing of them comes.
                let address = "bob@x.example"
                try target.catalog.add(account(AccountID("bob"), at: address))
                try location.engine.catalog.add(account(AccountID("rob"), at: address))
                #expect {
                    try copy.copyCatalog(from: location.engine, to: target, all: true)
                } throws: {
                    let words = ($0 as? CopyRefusal)?.description ?? ""
                    return [address, "bob", "rob"].allSatisfy(words.contains)
                }
                #expect(try target.catalog.account(AccountID("rob")) == nil)
            }
        }
    }
#endif
