import CloudModel
import Dispatch
import Storage
import Synchronization

/// Values of one field in an index, with what promises ask of it.
struct IndexTrial: Sendable {
    let trial: Trial
    let zone: StoredZone
    let type: Int64

    /// Does what work is queued, as soon as it is.
    private final class Worker: StoreWorker {
        private let store: any Store
        private let queue = DispatchQueue(label: "conformance.work")
        private let isOver = Atomic(false)

        init(_ store: any Store) { self.store = store }

        func wake() { queue.async { self.work() } }

        let isBusy = false

        func stop() { isOver.store(true, ordering: .sequentiallyConsistent) }

        private func work() {
            while !isOver.load(ordering: .sequentiallyConsistent) {
                let isMore = try? store.writeAndWait { transaction in
                    var turn = WorkTurn(WorkHolder(1), [.index])
                    guard let work = try transaction.takeWork(&turn) else { return false }
                    if try !transaction.workOnIndexes(recordsMax: 7) {
                        try transaction.finish(work)
                    }
                    return true
                }
                // NB: what cannot be written here fails the promise that waits for it.
                guard isMore == true else { return }
            }
        }
    }

    init(_ trial: Trial) throws {
        self.trial = trial
        zone = try trial.makeZone()
        type = try Trial.name(trial.store.schema.types[Trial.type]?.number)
        trial.store.attach(Worker(trial.store))
    }

    /// A stored body with one field, given as JSON and its type; none for nil.
    static func body(_ name: String, _ field: (json: String, type: String)?) -> [UInt8] {
        let fields = field.map { "\"f\":{\"value\":\($0.json),\"type\":\"\($0.type)\"}" } ?? ""
        return Array("{\"recordName\":\"\(name)\",\"fields\":{\(fields)}}".utf8)
    }

    func save(_ values: [(name: String, field: (json: String, type: String)?)]) throws {
        let zone = zone
        try trial.write { transaction in
            for (name, field) in values {
                try transaction.save(name, in: zone, body: Self.body(name, field))
            }
        }
    }

    /// The number of an index, once it is whole.
    func prepare(_ kind: IndexKind) throws -> Int64 {
        let need = IndexNeed("f", kind)
        for _ in 0..<100 {
            if try trial.store.prepareIndexes(
                [need], ofType: type, waitMillisecondsMax: 1_000) == nil
            {
                break
            }
        }
        let found = try trial.read { snapshot in
            try snapshot.indexReader.indexes(ofType: type).first { $0.need == need }
        }
        let index = try require(found)
        try expect(index.state == .whole)
        return index.number
    }

    /// The names of the records of a range, page by page.
    func names(_ range: IndexRange, descending: Bool = false, limit: Int = 100) throws -> [String] {
        try trial.read { snapshot in
            var (range, found): (IndexRange, [String]) = (range, [])
            while true {
                var rows: [IndexRow] = []
                try snapshot.indexReader.append(
                    range, descending: descending, limit: limit, to: &rows)
                for row in rows {
                    found.append(try require(snapshot.place(of: row.record)).name.text)
                }
                guard rows.count == limit, let last = rows.last else { return found }
                let place = IndexPosition(last.value, last.record)
                if descending { range.to = place } else { range.from = place }
            }
        }
    }

    func number(_ name: String) throws -> RecordNumber {
        try trial.read {
            try require($0.head(of: Trial.record(name), in: zone.number)).record
        }
    }
}

// Indexes of values: what is in them, and in which order.
extension StoragePromise {
    private static func text(_ value: String) -> (json: String, type: String) {
        ("\"\(value)\"", "STRING")
    }

    static let indexes = [
        StoragePromise("An index is made once, and counts as whole only when work has filled it") {
            trial in
            let zone = try trial.makeZone()
            let type = try Trial.name(trial.store.schema.types[Trial.type]?.number)
            let (one, two) = (IndexNeed("f", .values), IndexNeed("g", .words))
            try trial.write { transaction in
                try transaction.save("a", in: zone, body: IndexTrial.body("a", ("1", "INT64")))
                try transaction.makeIndexes([one], ofType: type)
            }
            try trial.write { try $0.makeIndexes([one, two, one], ofType: type) }
            func states() throws -> [IndexNeed: StoredIndex.State] {
                try trial.read { snapshot in
                    let found = try snapshot.indexReader.indexes(ofType: type)
                    try expect(found.count, is: Set(found.map(\.need)).count)
                    return Dictionary(uniqueKeysWithValues: found.map { ($0.need, $0.state) })
                }
            }
            try expect(states() == [one: .filling, two: .filling])
            let work = try trial.write { transaction in
                var turn = WorkTurn(WorkHolder(1), [.index])
                return try transaction.takeWork(&turn)
            }
            try expect(work?.task == .index)
            while try trial.write({ try $0.workOnIndexes(recordsMax: 1) }) {}
            try expect(states() == [one: .whole, two: .whole])
        },
        StoragePromise("Texts lie in the order of code points, whatever language they are of") {
            trial in
            let test = try IndexTrial(trial)
            let texts = [
                "", "0", "10", "9", "A", "B", "Z", "_", "a", "aa", "ab", "b", "z", "~", "ß", "à",
                "é",
                "ﬁ", "\u{FFFD}", "\u{10000}", "😀", "ä", "a\u{308}", "Ä", "я", "中", "\u{E000}",
                "a b",
                "a-b",
            ]
            try test.save(texts.enumerated().map { ("r\($0)", text($1)) })
            let index = try test.prepare(.values)
            let ordered = texts.enumerated().sorted {
                Array($0.element.utf8).lexicographicallyPrecedes(Array($1.element.utf8))
            }.map { "r\($0.offset)" }
            let range = IndexRange(index: index, zone: test.zone.number)
            for limit in [1, 3, 100] {
                try expect(test.names(range, limit: limit), is: ordered)
                try expect(
                    test.names(range, descending: true, limit: limit), is: ordered.reversed())
            }
            try expect(trial.read { try $0.indexReader.count(range, limit: 10) }, is: 10)
            try expect(
                trial.read { try $0.indexReader.count(range, limit: 100) }, is: texts.count)
        },
        StoragePromise("Numbers lie by their value, whole or not, before all texts") { trial in
            let test = try IndexTrial(trial)
            let numbers: [(String, Double)] = [
                ("-9007199254740992", -0x1p53), ("-1.5", -1.5), ("-1", -1), ("0", 0),
                ("0.25", 0.25), ("1", 1), ("1e300", 1e300), ("2", 2), ("9007199254740992", 0x1p53),
            ]
            try test.save(
                numbers.enumerated().map { index, number in
                    let isWhole = !number.0.contains(".") && !number.0.contains("e")
                    return ("r\(index)", (number.0, isWhole ? "INT64" : "DOUBLE"))
                })
            try test.save([("text", text(""))])
            let index = try test.prepare(.values)
            let ordered = numbers.enumerated().sorted { $0.element.1 < $1.element.1 }
                .map { "r\($0.offset)" }
            let range = IndexRange(index: index, zone: test.zone.number)
            try expect(test.names(range), is: ordered + ["text"])
            var part = range
            part.from = .after(.integer(0))
            part.to = .before(.real(2))
            try expect(test.names(part), is: ["r4", "r5"])
            part.from = .before(.real(1))
            part.to = .after(.integer(1))
            try expect(test.names(part), is: ["r5"])
        },
        StoragePromise("Who has no value lies apart, by number; of equal values so do all") {
            trial in
            let test = try IndexTrial(trial)
            try test.save((0..<10).map { ("r\($0)", $0 % 2 == 0 ? nil : text("same")) })
            let index = try test.prepare(.values)
            let absent = IndexRange.absent(index: index, zone: test.zone.number)
            try expect(test.names(absent, limit: 2), is: ["r0", "r2", "r4", "r6", "r8"])
            try expect(
                test.names(absent, descending: true, limit: 2), is: ["r8", "r6", "r4", "r2", "r0"])
            let range = IndexRange(index: index, zone: test.zone.number)
            try expect(test.names(range, limit: 2), is: ["r1", "r3", "r5", "r7", "r9"])
            var rest = range
            rest.from = IndexPosition(IndexValue("same"), try test.number("r3"))
            rest.to = IndexPosition(IndexValue("same"), try test.number("r9"))
            try expect(test.names(rest), is: ["r5", "r7"])
        },
        StoragePromise("An index says of a record what its last version says, once it is committed")
        {
            trial in
            let test = try IndexTrial(trial)
            try test.save([("a", text("x")), ("b", text("y")), ("c", nil)])
            let index = try test.prepare(.values)
            let range = IndexRange(index: index, zone: test.zone.number)
            let absent = IndexRange.absent(index: index, zone: test.zone.number)
            let zone = test.zone
            try trial.read { snapshot in
                try expect(snapshot.indexReader.count(range, limit: 9), is: 2)
                try onAnotherThread {
                    try test.save([("a", text("z")), ("b", nil)])
                    try trial.write { try $0.writeTombstone("c", in: zone) }
                }
                var rows: [IndexRow] = []
                try snapshot.indexReader.append(range, descending: false, limit: 9, to: &rows)
                try expect(rows.map(\.value), is: [IndexValue("x"), IndexValue("y")])
            }
            try expect(test.names(range), is: ["a"])
            try expect(test.names(absent), is: ["b"])
            try expectFailure(Refusal.self) {
                try trial.write { transaction in
                    try transaction.save("d", in: zone, body: IndexTrial.body("d", text("lost")))
                    throw Refusal()
                }
            }
            try expect(test.names(range), is: ["a"])
        },
        StoragePromise("An index that is filled beside writes ends up with all there is") { trial in
            let test = try IndexTrial(trial)
            try test.save((0..<400).map { ("r\($0)", text("v\($0)")) })
            let need = IndexNeed("f", .values)
            _ = try trial.store.prepareIndexes([need], ofType: test.type, waitMillisecondsMax: 0)
            for round in 0..<40 {
                try test.save([
                    ("r\(round * 7)", text("w\(round)")), ("new\(round)", text("v")),
                    ("r\(399 - round)", nil),
                ])
            }
            let index = try test.prepare(.values)
            let range = IndexRange(index: index, zone: test.zone.number)
            let absent = IndexRange.absent(index: index, zone: test.zone.number)
            try expect(test.names(range).count + test.names(absent).count, is: 440)
            try expect(Set(try test.names(absent)), is: Set((360..<400).map { "r\($0)" }))
        },
        StoragePromise("An index that is given up is gone, and its space with it") { trial in
            let test = try IndexTrial(trial)
            try test.save((0..<30).map { ("r\($0)", text("v")) })
            _ = try test.prepare(.values)
            let type = test.type
            try trial.write { try $0.dropIndexes(ofType: type, fields: ["f"]) }
            for _ in 0..<10_000 {
                let left = try trial.read { try $0.indexReader.indexes(ofType: type) }
                try expect(left.allSatisfy { $0.state == .leaving })
                if left.isEmpty { return }
                try trial.write { _ in }
            }
            throw BrokenPromise(description: "an index that was given up is still there")
        },
        StoragePromise("A record's version is found by its number; the last number is the greatest")
        {
            trial in
            let test = try IndexTrial(trial)
            try test.save([("a", text("x")), ("b", text("y"))])
            let numbers = [try test.number("a"), try test.number("b")]
            try trial.read { snapshot in
                try expect(
                    snapshot.indexReader.lastRecord().value, is: numbers.map(\.value).max() ?? 0)
                var found: [UInt8]?
                try snapshot.indexReader.versions(of: [numbers[0]]) {
                    found = Array($1.body)
                    return true
                }
                try expect(found == IndexTrial.body("a", text("x")))
            }
        },
    ]
}
