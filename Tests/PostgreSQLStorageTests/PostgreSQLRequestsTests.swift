#if PostgreSQL
    import CloudModel
    import Foundation
    import PostgreSQL
    import PostgreSQLStorage
    import RequestRecords
    import Seeding
    import Testing

    @Suite("Lines of requests on PostgreSQL")
    struct PostgreSQLRequestsTests {
        private static let start: Milliseconds = 1_767_225_600_000
        private static let day: Milliseconds = 86_400_000
        private let options: ConnectionOptions

        init() throws { options = try NewDatabase.options() }

        private func open(
            bytesMax: Int = 64 << 20, daysMax: Int = 14
        ) throws -> PostgreSQLRequests {
            try PostgreSQLRequests(options, .init(bytesMax: bytesMax, daysMax: daysMax))
        }

        private static func entry(
            at time: Milliseconds, _ random: inout SeededRandom, user: String? = nil
        ) -> RequestEntry {
            var entry = RequestEntry(
                time: time, id: (0..<16).map { _ in UInt8(random.below(256)) })
            entry.operation = random.one(of: ["records/modify", "records/lookup", "changes/zone"])
            entry.user = user ?? (random.happens(80) ? "_user\(random.below(9))" : nil)
            entry.device = random.happens(70) ? "device \(random.below(12))" : nil
            entry.container = random.one(of: ["iCloud.a", "iCloud.b"])
            entry.status = 200
            entry.zones = [.init(name: "z\(random.below(4))", from: 3, to: 7)]
            return entry
        }

        private static func filter(_ random: inout SeededRandom) -> RequestFilter {
            var filter = RequestFilter()
            if random.happens(30) { filter.container = "iCloud.a" }
            if random.happens(30) { filter.operation = "records/lookup" }
            if random.happens(40) {
                filter.person = .init(
                    users: ["_user\(random.below(10))"], devices: ["device \(random.below(13))"])
            } else if random.happens(30) {
                filter.device = "device \(random.below(13))"
            }
            if random.happens(40) { filter.since = start + Int64(random.below(80)) * 1_000 }
            if random.happens(40) { filter.until = start + Int64(random.below(80)) * 1_000 }
            return filter
        }

        private static func entries(
            _ storage: any RequestStorage, _ filter: RequestFilter, limit: Int = .max
        ) throws -> (entries: [RequestEntry], last: RequestLocation?) {
            var (entries, last): ([RequestEntry], RequestLocation?) = ([], nil)
            try storage.newest(filter) { location, entry in
                guard entries.count < limit else { return false }
                entries.append(entry)
                last = location
                return true
            }
            return (entries, last)
        }

        private static func pages(
            _ storage: any RequestStorage, _ filter: RequestFilter, of limit: Int
        ) throws -> [RequestEntry] {
            var (filter, all) = (filter, [RequestEntry]())
            while true {
                let page = try entries(storage, filter, limit: limit)
                all += page.entries
                guard page.entries.count == limit else { return all }
                filter.before = page.last
            }
        }

        @Test("Two processes find each other's lines, all those that a folder of one would have")
        func together() throws {
            var random = SeededRandom("requests of two processes")
            let seed = random.seed
            let folder = NSTemporaryDirectory() + "requests-\(UUID().uuidString)"
            // NB: what is left goes with the machine's temporary files.
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let model = try RequestRing(folder, .init(bytesMax: 64 << 20, daysMax: 14))
            let processes = [try open(), try open()]
            for second in 0..<80 {
                let now = Self.start + Int64(second) * 1_000
                let batch = (0..<random.below(12)).map { number in
                    Self.entry(at: now + Int64(number), &random)
                }
                try random.one(of: processes).append(batch, now: now + 900)
                try model.append(batch, now: now + 900)
            }
            for _ in 0..<120 {
                let filter = Self.filter(&random)
                let expected = try Self.entries(model, filter).entries
                let limit = 1 + random.below(40)
                let found = try Self.pages(random.one(of: processes), filter, of: limit)
                #expect(found == expected, "seed \(seed), \(filter)")
            }
            let person: Set<String> = ["_user3", "_user4"]
            #expect(try processes[0].person(person) == model.person(person), "seed \(seed)")
            #expect(try processes[0].erase(person) == model.erase(person), "seed \(seed)")
            let left = try Self.entries(processes[1], RequestFilter()).entries
            #expect(try left == Self.entries(model, RequestFilter()).entries, "seed \(seed)")
            #expect(!left.contains { $0.user.map { person.contains($0) } ?? false })
        }

        @Test("Who goes on after a line meets each later one once, whichever process stored it")
        func follows() throws {
            let seed = SeededRandom("requests that are followed").seed
            let processes = [try open(), try open(), try open()]
            DispatchQueue.concurrentPerform(iterations: 3) { index in
                var random = SeededRandom(seed: seed, stream: index)
                guard index > 0 else {
                    Self.follow(processes[0], until: 60, seed)
                    return
                }
                for number in 0..<30 {
                    let entry = Self.entry(at: Self.start, &random, user: "\(index) \(number)")
                    do { try processes[index].append([entry], now: Self.start) } catch {
                        Issue.record("\(error), seed \(seed)")
                    }
                }
            }
        }

        /// Asks for what is new until there were so many lines.
        private static func follow(
            _ storage: any RequestStorage, until count: Int, _ seed: UInt64
        ) {
            var seen: [String] = []
            var filter = RequestFilter()
            do {
                while seen.count < count {
                    var (new, newest): ([String], RequestLocation?) = ([], nil)
                    try storage.newest(filter) { location, entry in
                        newest = newest ?? location
                        new.append(entry.user ?? "")
                        return true
                    }
                    seen += new.reversed()
                    filter.after = newest ?? filter.after
                }
            } catch {
                Issue.record("\(error), seed \(seed)")
            }
            #expect(Set(seen).count == seen.count, "seed \(seed)")
        }

        @Test("What is too old goes, and the oldest of what is too much")
        func limits() throws {
            var random = SeededRandom(seed: 7)
            let storage = try open(bytesMax: 20_000, daysMax: 2)
            func append(_ number: Int, at now: Milliseconds) throws {
                let batch = (0..<20).map { _ in
                    Self.entry(at: now, &random, user: "_user\(number)")
                }
                try storage.append(batch, now: now)
            }
            func users() throws -> Set<String?> {
                Set(try Self.entries(storage, RequestFilter()).entries.map(\.user))
            }
            try append(1, at: Self.start)
            try append(2, at: Self.start + Self.day)
            try append(3, at: Self.start + 2 * Self.day + 1)
            #expect(try users() == ["_user2", "_user3"])
            for number in 10..<60 { try append(number, at: Self.start + 2 * Self.day + 2) }
            try append(99, at: Self.start + 2 * Self.day + 4_000_000)
            let left = try users()
            #expect(left.contains("_user99") && left.contains("_user59") && left.count < 40)
        }

        @Test(
            "While the database is away nothing of what is handed over is stored, and it can be again"
        )
        func away() throws {
            var random = SeededRandom(seed: 8)
            let storage = try open()
            let admin = try Connection(options)
            try admin.run(script: "ALTER TABLE logs.request_segments RENAME TO gone")
            let entry = Self.entry(at: Self.start, &random)
            #expect(storage.storesAllOrNone)
            #expect(throws: PostgreSQLError.self) { try storage.append([entry], now: Self.start) }
            try admin.run(script: "ALTER TABLE logs.gone RENAME TO request_segments")
            #expect(try Self.entries(storage, RequestFilter()).entries.isEmpty)
            try storage.append([entry], now: Self.start)
            #expect(try Self.entries(storage, RequestFilter()).entries == [entry])
        }

        @Test("Of two people who are erased at once by two processes neither comes back")
        func erasingAtOnce() throws {
            var random = SeededRandom("requests erased at once")
            let seed = random.seed
            let processes = [try open(), try open()]
            for round in 0..<20 {
                let now = Self.start + Int64(round) * 1_000
                let batch = (0..<60).map {
                    Self.entry(at: now, &random, user: "_u\($0 % 3)")
                }
                try processes[0].append(batch, now: now)
            }
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                do { _ = try processes[index].erase(["_u\(index)"]) } catch {
                    Issue.record("\(error), seed \(seed)")
                }
            }
            let left = try Self.entries(processes[0], RequestFilter()).entries
            #expect(Set(left.map(\.user)) == ["_u2"], "seed \(seed)")
        }

        @Test("A segment that is damaged is left out, and the others are read")
        func damage() throws {
            var random = SeededRandom(seed: 9)
            let storage = try open()
            let entries = (0..<3).map { Self.entry(at: Self.start + $0, &random, user: "_u\($0)") }
            for entry in entries { try storage.append([entry], now: entry.time) }
            _ = try Connection(options).run(
                """
                UPDATE logs.request_segments SET body = set_byte(body, 20, 255)
                WHERE number = (SELECT min(number) + 256 FROM logs.request_segments)
                """)
            let found = try Self.entries(storage, RequestFilter()).entries
            #expect(found.map(\.user) == ["_u2", "_u0"])
        }
    }
#endif
