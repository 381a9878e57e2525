#if PostgreSQL
    import AssetStorage
    import CloudDatabase
    import CloudModel
    import Cryptography
    import Dispatch
    import EngineUnderTest
    import Storage
    import Synchronization
    import Testing
    import WebServices

    @Suite("Several servers with one database and one folder of assets")
    struct SeveralServersTests {
        private let servers: [WireServer]

        init() throws {
            let clock = SettableClock()
            let engines = try OtherEngine.processes(
                2, clock: Clock { clock.now }, random: { RandomSource.system.bytes($0) })
            let first = try WireServer(engine: engines[0])
            servers = [first, try WireServer(engine: engines[1], beside: first)]
        }

        // MARK: - Polls

        /// A device that polls each server.
        private func listeners() throws -> [NoticeListener] {
            let ida = try servers[0].user("ida")
            try ida.make("Shelf")
            let phone = try NoticeListener(ida, device: "phone")
            try phone.subscribe(querySubscription("all"))
            return servers.map { phone.at($0) }
        }

        private func waiting(_ count: Int) throws -> [StoredNotice] {
            var found: [StoredNotice] = []
            try servers[0].until {
                found = try servers[0].store().read { snapshot in
                    try snapshot.destinations(ofKind: .courier).flatMap {
                        try snapshot.notices(for: $0.number, after: NoticeNumber(0), limit: 100)
                    }
                }
                return found.count == count
            }
            return found
        }

        @Test(
            "A notice on its way to a poll of one server is handed to no other's until it is let go"
        )
        func onItsWay() throws {
            let phones = try listeners()
            try phones[0].client.save("a")
            let notice = try #require(waiting(1).first)
            let lease = try #require(try servers[0].store().hold(.courier(notice.number)))
            #expect(try servers[1].store().hold(.courier(notice.number)) == nil)
            let poll = phones[1].begin()
            try phones[0].client.save("b")
            // The next one is not held up by it.
            #expect(try poll.answer().json["ck"]["qry"]["rid"].string == "b")
            let next = phones[1].begin()
            // It did not arrive.
            try servers[0].store().writeAndWait { transaction in
                try transaction.wakeWaiting(for: notice.destination)
                try lease.end(in: transaction)
            }
            #expect(try next.answer().json["ck"]["qry"]["rid"].string == "a")
            #expect(try waiting(0).isEmpty)
        }

        @Test("Polls by turns at two servers get each notice once")
        func polls() throws {
            let phones = try listeners()
            let count = 40
            for number in 0..<count { try phones[number % 2].client.save("r\(number)") }
            _ = try waiting(count)
            let polls = (0..<count).map { phones[$0 % 2].begin() }
            let names = try polls.map { try $0.answer().json["ck"]["qry"]["rid"].string ?? "?" }
            #expect(Set(names) == Set((0..<count).map { "r\($0)" }), "\(names)")
            #expect(try waiting(0).isEmpty)
        }

        // MARK: - Files

        @Test("A file that one server is removing is to be sent to another again, and then stays")
        func removalUnderWay() throws {
            let (first, second) = (servers[0], servers[1])
            #expect(try upload(to: first, as: 1))
            let outcomes = Mutex<[Bool?]>([])
            let files = HookedAssets(try first.assetStore().storage) {
                // NB: a failure is told as no outcome.
                let isStored = try? upload(to: second, as: 2)
                outcomes.withLock { $0.append(isStored) }
            }
            let collection = CollectAssets(try first.store(), assetStore: AssetStore(files))
            _ = try collection.removeUnused(since: .max)
            #expect(outcomes.withLock { $0 } == [false])
            #expect(try files.list(after: nil, limit: 1).isEmpty)
            // The removal's end is noted behind its answer, and before what is written from here on.
            try first.store().writeAndWait { _ in }
            #expect(try upload(to: second, as: 2))
        }

        @Test("No file goes that an upload has brought, whichever server removes what nothing uses")
        func removals() throws {
            let uploading = Atomic(2)
            let stored = Atomic(0)
            let removed = Atomic(0)
            let failure = Mutex<(any Error)?>(nil)
            // Each on a thread of its own, also where there are fewer processors.
            let done = DispatchGroup()
            for worker in 0..<4 {
                DispatchQueue(label: "worker \(worker)").async(group: done) {
                    let server = servers[worker % 2]
                    do {
                        if worker < 2 {
                            defer { uploading.subtract(1, ordering: .sequentiallyConsistent) }
                            for _ in 0..<200 {
                                let isStored = try upload(to: server, as: UInt8(worker))
                                stored.add(isStored ? 1 : 0, ordering: .relaxed)
                            }
                        }
                        while worker >= 2, uploading.load(ordering: .sequentiallyConsistent) > 0 {
                            try removed.add(remove(at: server) ? 1 : 0, ordering: .relaxed)
                        }
                    } catch { failure.withLock { $0 = error } }
                }
            }
            #expect(done.wait(timeout: .now() + .seconds(600)) == .success)
            if let failure = failure.withLock({ $0 }) { throw failure }
            // Others were refused, or came when nobody removed anything.
            #expect(stored.load(ordering: .relaxed) > 0)
            #expect(removed.load(ordering: .relaxed) > 0)
            #expect(try servers[0].problems() == [])
        }

        /// Uploads the one file, looks whether it stays while its receipt does, and ends that.
        ///
        /// - Returns: false when another server was about to remove it.
        private func upload(to server: WireServer, as user: UInt8) throws -> Bool {
            let (store, files) = (try server.store(), try server.assetStore())
            let identity = [UInt8](repeating: user, count: 16)
            let upload = try files.storage.begin(expectedBytes: 1)
            try [1].withUnsafeBytes { try upload.append($0) }
            let receive = ReceiveAsset(
                store, assetStore: files,
                tokens: AssetTokens(key: try store.identity.tokenKey, base: ""),
                random: .system, requireUploader: {})
            let done = Waiting<Result<AssetReceipt, any Error>>()
            receive.run(upload, identity: identity) { done.arrive($0) }
            let receipt: AssetReceipt
            do { receipt = try done.wait().get() } catch StorageFailure.unavailable(.busy) {
                return false
            }
            for _ in 0..<3 {
                let known = try store.read { try $0.assetReceipts([receipt.id]) }
                #expect(known[0] != nil)
                #expect(try files.storage.open(receipt.content.digest) != nil)
            }
            _ = try store.writeAndWait {
                try $0.remove(.receipts(of: identity, limit: 100))
            }
            return true
        }

        /// Removes the file if nothing uses it; whether it is gone.
        private func remove(at server: WireServer) throws -> Bool {
            let files = try server.assetStore()
            _ = try CollectAssets(try server.store(), assetStore: files).removeUnused(since: .max)
            return try files.storage.list(after: nil, limit: 1).isEmpty
        }
    }

    extension NoticeListener {
        /// The same device at another server on the same data.
        fileprivate func at(_ server: WireServer) -> NoticeListener {
            NoticeListener(self, by: client.at(server))
        }
    }

    extension WireClient {
        fileprivate func at(_ server: WireServer) -> WireClient {
            WireClient(
                server: server, container: container, environment: environment,
                credential: credential, name: name, email: email)
        }
    }
#endif
