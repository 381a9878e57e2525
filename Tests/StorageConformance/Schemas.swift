import CloudModel
import Storage

// The schema, and the lives of a store.
extension StoragePromise {
    private static func named(_ name: String) -> RecordTypeName {
        TestStore.name(RecordTypeName(name))
    }
    private static func field(_ name: String) -> FieldName { TestStore.name(FieldName(name)) }

    /// Adds types of these names.
    private static func add(_ names: [String], _ testStore: TestStore, who: String = "trial") throws
    {
        try testStore.write { transaction in
            var schema = try transaction.schema
            for name in names { schema.types[named(name)] = Schema.RecordType() }
            try transaction.replaceSchema(
                by: schema, who: who, difference: names.map { "+ type \($0)" })
        }
    }

    static let schemas = [
        StoragePromise("The schema is the snapshot's, however often it changes meanwhile") {
            testStore in
            try add(["A"], testStore)
            try testStore.read { snapshot in
                let before = try snapshot.schema
                try onAnotherThread { try add(["B"], testStore) }
                try expect(snapshot.schema == before)
                try expect(snapshot.schema.number(of: named("B")) == nil)
            }
            try testStore.read { snapshot in
                try expect(snapshot.schema.number(of: named("B")) ?? 0 > 0)
            }
        },
        StoragePromise("Where a record is seen, its type is, by whomever it was made") {
            testStore in
            let zone = try testStore.makeZone()
            let readers = [StoreReader.anybody, .loop(0), .loop(1)]
            try together(4) { stream in
                if stream == 0 {
                    for number in 0..<40 {
                        try testStore.write { transaction in
                            var schema = try transaction.schema
                            schema.types[named("T\(number)")] = Schema.RecordType()
                            try transaction.replaceSchema(by: schema, who: "x", difference: [])
                            try transaction.save("r\(number)", in: zone)
                        }
                    }
                } else {
                    while true {
                        let count = try testStore.store.read(by: readers[stream - 1]) { snapshot in
                            var count = 0
                            try snapshot.versions(
                                in: zone.number, after: 0, through: .max, newestFirst: false
                            ) { _ in
                                count += 1
                                return true
                            }
                            let types = try snapshot.schema.types.keys
                            try expect(types.count { $0.text.hasPrefix("T") }, is: count)
                            return count
                        }
                        if count == 40 { break }
                    }
                }
            }
        },
        StoragePromise("A type that comes back has its number; the version counts changes") {
            testStore in
            try add(["A", "B"], testStore)
            let first = try testStore.store.schema
            try testStore.write { transaction in
                var schema = try transaction.schema
                schema.types[named("A")] = nil
                try transaction.replaceSchema(by: schema, who: "x", difference: ["- type A"])
            }
            let without = try testStore.store.schema
            try expect(without.types[named("A")] == nil)
            // Feeds still tell of its records' deletions.
            try expect(without.number(of: named("A")) == first.types[named("A")]?.number)
            try testStore.reopen()
            try expect(testStore.store.schema == without)
            try add(["A"], testStore, who: "y")
            let last = try testStore.store.schema
            try expect(last.types[named("A")]?.number == first.types[named("A")]?.number)
            try expect(last.earlierTypes.isEmpty)
            try expect(last.version, is: first.version + 2)
            let history = try testStore.read { try $0.schemaHistory(limit: 2) }
            try expect(history.map(\.who), is: ["y", "x"])
            try expect(history.map(\.number), is: [last.version, last.version - 1])
            try expect(history.last?.difference == ["- type A"])
            try testStore.reopen()
            try expect(testStore.store.schema == last)
        },
        StoragePromise("A schema that a failed write made is nobody's") { testStore in
            let before = try testStore.store.schema
            try expectFailure(Refusal.self) {
                try testStore.write { transaction in
                    var schema = try transaction.schema
                    schema.types[named("Lost")] = Schema.RecordType()
                    try transaction.replaceSchema(by: schema, who: "x", difference: ["+ type Lost"])
                    try transaction.hold(Schema.Parts(types: [named("Lost")]), until: .max)
                    try expect(try transaction.schema.types[named("Lost")] != nil)
                    throw Refusal()
                }
            }
            try expect(testStore.store.schema == before)
            try expect(testStore.write { try $0.schema } == before)
        },
        StoragePromise("What is held stays so over a restart and other changes, until its moment") {
            testStore in
            try add(["A"], testStore)
            let parts = Schema.Parts(types: [named("A")], fields: [named("B"): [field("f")]])
            let until = testStore.clock.now + 1_000
            try testStore.write { try $0.hold(parts, until: until) }
            try add(["B"], testStore)
            try expect(testStore.write { try $0.schema.leaving } == parts)
            try testStore.reopen()
            try expect(testStore.store.schema.leaving == parts)
            if let beside = try testStore.location.openBeside() {
                try expect(beside.writeAndWait { try $0.schema.leaving } == parts)
            }
            testStore.clock.advance(999)
            try expect(testStore.write { try $0.schema.leaving } == parts)
            testStore.clock.advance(1)
            try expect(testStore.write { try $0.schema.leaving.isEmpty })
            try testStore.write { try $0.hold(parts, until: .max) }
            try testStore.write { try $0.hold(Schema.Parts(), until: 0) }
            try expect(testStore.write { try $0.schema.leaving.isEmpty })
        },
        StoragePromise("Users have the roles that they were given last") { testStore in
            let user = TestStore.user(3)
            let names = ["one", "two", "three"].map { TestStore.name(RoleName($0)) }
            try testStore.write { transaction in
                var schema = try transaction.schema
                for name in names { schema.roles[name] = 0 }
                try transaction.replaceSchema(by: schema, who: "x", difference: [])
            }
            let roles = try testStore.store.schema.roles
            let numbers = try names.map { try require(roles[$0]) }
            try expect(Set(numbers).count, is: 3)
            try testStore.write { try $0.assign([numbers[0], numbers[1]], to: user) }
            try expect(
                testStore.read { try $0.assignedRoles(of: user) }, is: [numbers[0], numbers[1]])
            try testStore.write { try $0.assign([numbers[2]], to: user) }
            try expect(testStore.read { try $0.assignedRoles(of: user) }, is: [numbers[2]])
            try expect(testStore.read { try $0.assignedRoles(of: TestStore.user(4)) }, is: [])
        },
    ]

    static let lives = [
        StoragePromise("What was given out before an end is known after it, as far as it went") {
            testStore in
            let zone = try testStore.makeZone()
            let position = try testStore.write { try $0.save("a", in: zone).position }
            let before = try testStore.store.identity
            try expect(before.last >= position)
            try expect(before.knows(before.incarnation, through: position))
            try expect(!before.knows(before.incarnation, through: before.last + 1))
            for round in 0..<3 {
                try testStore.reopen()
                for _ in 0..<2 {
                    let now = try testStore.store.identity
                    try expect(now.tokenKey == before.tokenKey)
                    try expect(now.knows(before.incarnation, through: before.last), "\(round)")
                    try expect(!now.knows(before.incarnation, through: now.last + 1))
                    // What is given out now leads no further than the store has come.
                    let life = now.incarnation(reaching: now.last)
                    try expect(now.knows(life, through: now.last))
                    try testStore.write { try $0.save("b\(round)", in: zone) }
                    let next = try testStore.store.identity
                    try expect(next.knows(life, through: now.last))
                    try expect(next.last > now.last)
                    try expect(next.knows(next.incarnation, through: next.last))
                }
            }
        },
        StoragePromise("A write's identity is that with which it is committed") { testStore in
            let zone = try testStore.makeZone()
            try testStore.reopen()
            let (inside, position) = try testStore.write { transaction in
                let position = try transaction.save("a", in: zone).position
                return (try transaction.identity, position)
            }
            try expect(inside.last, is: position)
            let after = try testStore.store.identity
            try expect(after.knows(inside.incarnation(reaching: position), through: position))
            try expect(after.incarnation == inside.incarnation)
        },
    ]
}
