#if PostgreSQL
    import CloudModel
    import Foundation
    import PostgreSQLStorage
    import SQLiteStorage
    import Storage
    import StorageConformance
    import Testing

    /// A store in one engine that goes, when its trial is over, to the other one and back.
    final class CopiedLocation: EngineLocation {
        enum Side: CaseIterable {
            case sqlite, postgreSQL

            var other: Side { self == .sqlite ? .postgreSQL : .sqlite }
        }

        let key: StoreKey
        private let first: Side
        private let clock: TestClock
        private let databases: PostgreSQLLocation
        private let folder: URL
        let engine: any StorageEngine

        let followerChangesMax = 500

        init(_ clock: TestClock = TestClock(), first: Side) throws {
            key = StoreKey(try #require(ContainerID("iCloud.Copied")), .development)
            self.first = first
            self.clock = clock
            databases = try PostgreSQLLocation(clock)
            folder = FileManager.default.temporaryDirectory.appending(
                path: "copies-\(UUID().uuidString)")
            engine = try Self.open(first, "first", databases, folder, clock)
            try engine.catalog.add(ContainerRecord(id: key.container, createdAt: 1))
        }

        private static func open(
            _ side: Side, _ name: String, _ databases: PostgreSQLLocation, _ folder: URL,
            _ clock: TestClock
        ) throws -> any StorageEngine {
            let factory: any EngineFactory
            switch side {
            case .sqlite:
                var settings = SQLiteEngine.Settings()
                settings.followerChangesMax = 500
                settings.readers.snapshotSecondsMax = 600
                let path = folder.appending(path: name)
                try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
                factory = SQLiteEngineFactory(folder: path.path, settings) { randomBytes($0) }
            case .postgreSQL: factory = try databases.factory(name)
            }
            return try factory.open(
                EngineOptions(
                    clock: clock.clock, random: { randomBytes($0) }, report: { _, _ in },
                    onIndeterminate: { _ in }))
        }

        private static func randomBytes(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in .random(in: 0...255) }
        }

        /// Opens another engine, whose data go with the place.
        func openEngine(_ side: Side, _ name: String) throws -> any StorageEngine {
            try Self.open(side, name, databases, folder, clock)
        }

        func openStore() throws -> any Store {
            try engine.open(key, notices: CommitNotices())
        }

        func close(_ store: any Store) { _ = engine.close(key, isUnused: true) }

        func openAfterCrash() -> (any Store)? { nil }

        func openBeside() -> (any Store)? { nil }

        func openCatalog() throws -> any CatalogStorage { try databases.openCatalog() }

        func delete(_ container: ContainerID, from catalog: any CatalogStorage) throws {
            try databases.delete(container, from: catalog)
        }

        func factory(_ name: String) throws -> any EngineFactory { try databases.factory(name) }

        func problems() throws -> [String] {
            try engine.problems(of: .store(key), lossesSince: 0)
        }

        /// What is wrong with copies of the closed store, where anything was written; each is to have all of its rows.
        func problemsOfCopies() throws -> [String] {
            var problems: [String] = []
            let rows = try StoreCopy(key).rows(of: engine)
            guard rows.first?.values[1] != .integer(0) else { return problems }
            let others = try [first.other, first].enumerated().map {
                try openEngine($1, "copy \($0)")
            }
            defer { for other in others { other.close() } }
            for (from, to) in zip([engine] + others, others) {
                try StoreCopy(key).copy(from: from, to: to)
                #expect(try StoreCopy(key).rows(of: to) == rows)
                problems += try to.problems(of: .store(key), lossesSince: 0)
                problems += try to.problems(of: .catalog, lossesSince: 0)
            }
            // Opened last, since a life may begin with that.
            for other in others { try StoreCopy(key).expectInUse(other, rows) }
            return problems
        }

        /// Leaves all as it is, since copies follow the trial.
        func remove() {}

        /// Removes all of it.
        func end() {
            _ = engine.close(key, isUnused: true)
            engine.close()
            databases.remove()
            // NB: what is left is the system's to remove.
            try? FileManager.default.removeItem(at: folder)
        }
    }

    /// A store that goes from one engine to another.
    struct StoreCopy {
        private let key: StoreKey

        init(_ key: StoreKey) { self.key = key }

        func rows(of engine: any StorageEngine) throws -> [CopiedRow] {
            try engine.readRows(of: .store(key)) { rows in
                var all: [CopiedRow] = []
                while case let page = try rows.next(all.last), !page.isEmpty { all += page }
                return all
            }
        }

        /// Copies the store as if somebody cut the copy short after every page, and then what the catalog knows.
        func copy(from: any StorageEngine, to: any StorageEngine) throws {
            try from.readRows(of: .store(key)) { rows in
                while try to.takeRows(
                    of: .store(key),
                    { taken in
                        let page = try rows.next(taken.last())
                        if !page.isEmpty { try taken.append(page) }
                        return !page.isEmpty
                    })
                {}
            }
            #expect(try to.stores(ListRequest()).items.isEmpty)
            #expect(throws: CatalogRefusal.containerUnknown) {
                try to.open(key, notices: CommitNotices())
            }
            try copyCatalog(from: from, to: to)
        }

        /// - Parameter all: what the catalog knows of others, too.
        func copyCatalog(
            from: any StorageEngine, to: any StorageEngine, all isAll: Bool = false
        ) throws {
            let part = CopiedPart.catalog(of: isAll ? nil : key.container)
            try from.readRows(of: part) { rows in
                try to.takeRows(of: part) { taken in
                    var last: CopiedRow?
                    while case let page = try rows.next(last), !page.isEmpty {
                        try taken.append(page)
                        last = page.last
                    }
                }
            }
        }

        /// Expects that the store goes on: it knows its tokens, finds its records by their names, and takes writes.
        func expectInUse(_ engine: any StorageEngine, _ rows: [CopiedRow]) throws {
            let store = try engine.open(key, notices: CommitNotices())
            defer { _ = engine.close(key, isUnused: true) }
            guard case .integer(let life) = rows[0].values[0],
                case .integer(let last) = rows[0].values[1]
            else { throw CopyRefusal("no row of the store itself") }
            #expect(try store.identity.knows(life, through: last))
            let records = try engine.readRows(of: .store(key)) {
                $0.kinds.firstIndex(of: "records")
            }
            for row in rows where row.kind == records {
                guard case .integer(let zone) = row.values[0],
                    case .integer(let position) = row.values[1],
                    case .integer(let record) = row.values[2], case .bytes(let name) = row.values[5]
                else { throw CopyRefusal("no record") }
                let text = try #require(RecordName(String(decoding: name, as: UTF8.self)))
                let head = try store.read { try $0.head(of: text, in: ZoneNumber(zone)) }
                #expect(head?.record == RecordNumber(record) && head?.position == position)
            }
            let next = try store.writeAndWait { transaction in
                try transaction.enqueue(.collect)
                return try transaction.takePosition()
            }
            #expect(next > last)
        }
    }
#endif
