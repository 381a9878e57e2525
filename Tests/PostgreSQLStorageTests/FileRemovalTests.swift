#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import PostgreSQLStorage
    import Storage
    import StorageConformance
    import Testing

    @Suite("Files that one of several processes removes")
    struct FileRemovalTests {
        private let location: PostgreSQLLocation
        private let key: StoreKey
        private let file: AssetDigest

        init() throws {
            location = try PostgreSQLLocation()
            key = StoreKey(try #require(ContainerID("iCloud.Home")), .development)
            file = try #require(AssetDigest([UInt8](repeating: 5, count: 32)))
        }

        /// A body with the store as two processes have it open.
        private func withProcesses(
            _ body: ([PostgreSQLEngine], [any EngineStore]) throws -> Void
        ) throws {
            let engines = [try location.engine(), try location.engine()]
            defer {
                for engine in engines {
                    _ = engine.close(key, isUnused: true)
                    engine.close()
                }
                location.remove()
            }
            try engines[0].catalog.add(ContainerRecord(id: key.container, createdAt: 1))
            try body(engines, engines.map { try $0.open(key, notices: CommitNotices()) })
        }

        private func note(
            _ id: UInt8, in store: any EngineStore, isThere: @escaping @Sendable () -> Bool
        ) throws {
            let receipt = StoredReceipt(
                content: AssetContent(digest: file, size: 3), identity: [1], expires: .max)
            try store.writeAndWait {
                _ = try $0.addReceipt([id], receipt, of: .placed(isThere: isThere))
            }
        }

        private func begin(in store: any EngineStore) throws -> [AssetDigest] {
            let file = file
            return try store.writeAndWait { try $0.remove(.begin([file], unusedSince: .max)) }
        }

        private func end(in store: any EngineStore) throws {
            let file = file
            try store.writeAndWait { _ = try $0.remove(.end([file])) }
        }

        /// The file has been known, and nothing uses it.
        private func leaveUnused(in store: any EngineStore) throws {
            try note(1, in: store) { true }
            try store.writeAndWait { _ = try $0.remove(.receipts(of: [1], limit: 9)) }
        }

        @Test("While one process removes a file no other comes to know it, nor removes it, too")
        func upload() throws {
            try withProcesses { _, stores in
                try leaveUnused(in: stores[0])
                #expect(try begin(in: stores[0]) == [file])
                #expect(throws: StorageFailure.unavailable(.busy)) {
                    try note(2, in: stores[1]) { true }
                }
                #expect(try begin(in: stores[1]) == [])
                // The bytes are gone: whose file was put in place before that has to look.
                try end(in: stores[0])
                #expect(throws: StorageFailure.unavailable(.busy)) {
                    try note(3, in: stores[1]) { false }
                }
                try note(4, in: stores[1]) { true }
                #expect(try begin(in: stores[0]) == [])
            }
        }

        @Test("A receipt that comes first keeps the file, at whichever process")
        func receiptFirst() throws {
            try withProcesses { _, stores in
                try leaveUnused(in: stores[0])
                try note(2, in: stores[1]) { false }
                #expect(try begin(in: stores[0]) == [])
            }
        }

        @Test("What a process that was killed was about to remove another one removes later")
        func killed() throws {
            try withProcesses { _, stores in
                try leaveUnused(in: stores[0])
                #expect(try begin(in: stores[0]) == [file])
                let connection = try Connection(location.connection(of: "a"))
                let over = try connection.run(
                    "UPDATE stores.leases SET ends_at = 0 WHERE substr(name, 1, 5) = 'file ' RETURNING 1"
                )
                #expect(over.count == 1)
                #expect(try begin(in: stores[1]) == [file])
                try end(in: stores[1])
                try note(2, in: stores[0]) { true }
            }
        }

        @Test("Nothing is removed while any process copies the store")
        func copied() throws {
            try withProcesses { engines, stores in
                try leaveUnused(in: stores[0])
                try engines[1].read(.store(key)) { image throws -> Void in
                    let files = try image.assets(after: nil, limit: 9)
                    #expect(files.count == 1)
                    #expect(throws: StorageFailure.unavailable(.busy)) {
                        _ = try begin(in: stores[0])
                    }
                }
                #expect(try begin(in: stores[0]) == [file])
            }
        }
    }
#endif
