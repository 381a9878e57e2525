#if PostgreSQL
    import CloudModel
    import Dispatch
    import PostgreSQLStorage
    import Seeding
    import Storage
    import StorageConformance
    import Synchronization
    import Testing

    @Suite("What a group of writes knows of shares")
    struct KnownSharesTests {
        private struct Refusal: Error {}

        private static let names = (0..<8).compactMap { RecordName("r\($0)") }
        private static let viewers = (2..<5).compactMap {
            UserRecordName("_0000000000000000000000000000000\($0)")
        }
        private static let batches = 25
        private static let writesPerBatch = 5

        /// What each write of a batch saw first, and what some of them saw last, by its number; of one that ran twice the
        /// later.
        private struct Seen {
            var first: [Int: [String]] = [:]
            var last: [Int: [String]] = [:]
            var refused: Set<Int> = []
        }

        @Test(
            "Writes that change shares see their own changes and those of the writes before them, refused ones none"
        )
        func ownWrites() throws {
            let fixture = try GroupFixture()
            defer { fixture.location.remove() }
            var random = SeededRandom("what a group knows of shares")
            let zone = fixture.zone
            // Nil behind a write that has not looked itself.
            var known: [String]? = try fixture.store.read { try Self.look(zone, $0) }
            for _ in 0..<Self.batches {
                let seen = Mutex(Seen())
                let done = DispatchGroup()
                for number in 0..<Self.writesPerBatch {
                    done.enter()
                    let needs = Self.needs(fixture, &random)
                    let seed = random.next()
                    // A look has the server told of what is to be written.
                    let looksBehind = random.happens(50)
                    fixture.store.write(WriteLoad(needs: { needs })) { transaction in
                        let first = try Self.look(zone, transaction)
                        seen.withLock { $0.first[number] = first }
                        var steps = ShareSteps(transaction, zone, Self.names, Self.viewers, seed)
                        let isRefused = try steps.run { _ = try Self.look(zone, transaction) }
                        let last = looksBehind ? try Self.look(zone, transaction) : nil
                        seen.withLock { $0.last[number] = last }
                        guard isRefused else { return }
                        seen.withLock { _ = $0.refused.insert(number) }
                        throw Refusal()
                    } completion: { result in
                        if case .failure(let error) = result, !(error is Refusal) {
                            Issue.record(error)
                        }
                        done.leave()
                    }
                }
                #expect(done.wait(timeout: .now() + .seconds(600)) == .success)
                let all = seen.withLock { $0 }
                for number in 0..<Self.writesPerBatch {
                    if let known { #expect(all.first[number] == known) }
                    known =
                        all.refused.contains(number) ? known ?? all.first[number] : all.last[number]
                }
                let read = try fixture.store.read { try Self.look(zone, $0) }
                if let known { try #require(read == known) }
                known = read
            }
        }

        private static func needs(
            _ fixture: GroupFixture, _ random: inout SeededRandom
        ) -> StoreNeeds {
            var needs = fixture.needs(
                Self.names.filter { _ in random.happens(60) }.map(\.text))
            if random.happens(70) { needs.viewer = random.one(of: viewers) }
            return needs
        }

        /// All that shares say of the names and the viewers.
        private static func look(
            _ zone: StoredZone, _ snapshot: any StoreSnapshot
        ) throws -> [String] {
            var seen: [String] = []
            let records = try snapshot.heads(of: names, in: zone.number).compactMap { $0?.record }
            seen += try snapshot.currentMemberships(of: records).map { "\($0 as Any)" }
            let own = try snapshot.shares(.rootsOrRecords(records))
            seen += own.map { "\($0 as Any)" }
            seen += try snapshot.shares(.roots(records)).map { "\($0 as Any)" }
            // Which of several shares is the first, nobody says.
            let first = try snapshot.shares(in: [zone.number], limit: .max, ofEach: 1)
            seen.append("\(first.count) \(first.first?.root == nil)")
            seen.append("\(try snapshot.shares(in: zone.number, limit: 1).count)")
            seen.append("\(try snapshot.isWhole(zone.number))")
            let shares = (own + first).compactMap { $0?.number }.sorted { $0.value < $1.value }
            for viewer in viewers {
                seen.append("\(try snapshot.view(of: viewer, in: zone.number) as Any)")
                let grants = try snapshot.grants(of: viewer, .shares(shares))
                seen += Set(grants.map { "\($0)" }).sorted()
            }
            seen += try snapshot.parents(of: records).map { "\($0?.text ?? "none")" }
            seen += try snapshot.sources(
                of: names, in: zone.number, kinds: .parent ... .parent, after: RecordNumber(0),
                limit: 100
            ).map { "\($0.map(\.record.value))" }
            return seen
        }
    }

    /// Steps by chance that change what shares say.
    private struct ShareSteps {
        private let transaction: any StoreTransaction
        private let zone: StoredZone
        private let names: [RecordName]
        private let viewers: [UserRecordName]
        private var random: SeededRandom

        init(
            _ transaction: any StoreTransaction, _ zone: StoredZone, _ names: [RecordName],
            _ viewers: [UserRecordName], _ seed: UInt64
        ) {
            self.transaction = transaction
            self.zone = zone
            self.names = names
            self.viewers = viewers
            random = SeededRandom(seed: seed)
        }

        /// Takes some steps.
        ///
        /// - Parameter look: asks in between.
        /// - Returns: whether the write is to be refused behind them.
        mutating func run(_ look: () throws -> Void) throws -> Bool {
            for _ in 0..<random.below(5) {
                try step()
                if random.happens(40) { try look() }
            }
            return random.happens(25)
        }

        private mutating func step() throws {
            switch random.below(16) {
            case 0..<8: try save()
            case 8, 9: try makeShare()
            case 10:
                guard let share = try anyShare() else { return }
                try transaction.endShare(share.number)
            case 11:
                guard var share = try anyShare() else { return }
                share.publicPermission = random.one(of: [.none, .readOnly, .readWrite])
                try transaction.save(share)
            case 12, 13:
                guard let share = try anyShare() else { return }
                let permission = random.one(of: [SharePermission?.none, .readOnly, .readWrite])
                try transaction.set(
                    [GrantChange(random.one(of: viewers), permission)], of: share.number)
            case 14:
                guard let share = try anyShare(), let record = try anyRecord() else { return }
                try transaction.enqueue(
                    .cover(record, in: zone.number),
                    concerning: MovedChildren(
                        of: [share.number], since: transaction.takePosition()))
            default:
                var turn = WorkTurn(WorkHolder(1), [.cover])
                guard let work = try transaction.takeWork(&turn) else { return }
                try transaction.finish(work)
            }
        }

        /// Saves a record, and moves it on, into a share or out of one.
        private mutating func save() throws {
            let name = random.one(of: names)
            let parent = random.one(of: names)
            let head = try transaction.head(of: name, in: zone.number)
            let position = try transaction.takePosition()
            var version = NewVersion(
                zone: zone, name: name, position: position, previous: head,
                previousBytes: head == nil ? 0 : 2, previousIsAlive: head != nil, type: 1,
                flags: [], body: [123, 125])
            if random.happens(50) {
                let link = Link(targetZone: zone.number, target: parent, kind: .parent)
                version.links = random.happens(70) ? [link] : []
            }
            guard let record = try transaction.save([version]).first else { return }
            let previous = try transaction.currentMembership(of: record)
            if let previous, random.happens(60) {
                try transaction.move(
                    MembershipMove(
                        record, at: position, from: previous,
                        into: .init(previous.share, version: position, type: 1)))
            } else if let previous {
                try transaction.move(
                    MembershipMove(
                        record, at: transaction.takePosition(), outOf: previous, left: position))
            } else if let share = try anyShare(), share.root != nil {
                try transaction.move(
                    MembershipMove(
                        record, at: position,
                        into: .init(share.number, version: position, type: 1)))
            }
        }

        /// Makes a share of a tree, or now and then of the whole zone, which has no other share then.
        private mutating func makeShare() throws {
            let records = try transaction.heads(of: names, in: zone.number)
                .compactMap { $0?.record }
            let own = try transaction.shares(.rootsOrRecords(records))
            let free = zip(records, own).filter { $1 == nil }.map(\.0)
            let standing = try transaction.shares(in: zone.number, limit: 1)
            guard free.count > 1, standing.first.map({ $0.root != nil }) ?? true else { return }
            let isWhole = standing.isEmpty && random.happens(40)
            _ = try transaction.makeShare(
                in: zone.number, record: free[0], root: isWhole ? nil : free[1],
                publicPermission: .none)
        }

        private mutating func anyShare() throws -> StoredShare? {
            let shares = try transaction.shares(in: zone.number, limit: .max)
            return random.any(of: shares.sorted { $0.number.value < $1.number.value })
        }

        private mutating func anyRecord() throws -> RecordNumber? {
            let heads = try transaction.heads(of: names, in: zone.number)
            return random.any(of: heads.compactMap { $0?.record })
        }
    }
#endif
