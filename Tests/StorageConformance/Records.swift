import CloudModel
import Storage

// Records, their versions and their links.
extension StoragePromise {
    package static let records = [
        StoragePromise("A record keeps its number; its name leads to its one version") {
            testStore in
            let zone = try testStore.makeZone()
            let first = try testStore.write { try $0.save("a", in: zone, body: [49]) }
            let second = try testStore.write { try $0.save("a", in: zone, body: [50, 51]) }
            try expect(second.record == first.record && second.position > first.position)
            try testStore.read { snapshot in
                let head = try require(snapshot.head(of: TestStore.record("a"), in: zone.number))
                try expect(head.record == first.record && head.position == second.position)
                let location = try require(snapshot.location(of: first.record))
                try expect(
                    location
                        == RecordLocation(
                            zone: zone.number, name: TestStore.record("a"),
                            position: second.position))
                let type = try require(snapshot.schema.number(of: TestStore.type))
                let body = try snapshot.version(at: second.position, in: zone.number) { version in
                    try expect(version.record == first.record && version.type == type)
                    try expect(version.position == second.position && version.flags == [])
                    return Array(version.body)
                }
                try expect(body == [50, 51])
                try expect(
                    snapshot.version(at: first.position, in: zone.number) { _ in true } == nil)
                try expect(snapshot.head(of: TestStore.record("A"), in: zone.number) == nil)
            }
            try testStore.write { try $0.writeTombstone("a", in: zone) }
            let again = try testStore.write { try $0.save("a", in: zone) }
            try expect(again.record == first.record)
        },
        StoragePromise("A body is any bytes") { testStore in
            let zone = try testStore.makeZone()
            let bodies = [[], [0], [UInt8](0...255), [UInt8](repeating: 0, count: 4_097)]
            // Whatever is said of where its fields end.
            let ends: [Int?] = [nil, -1, 0, 300, .some(.max)]
            for (body, end) in bodies.flatMap({ body in ends.map { (body, $0) } }) {
                try testStore.write { try $0.save("a", in: zone, body: body, fieldsEnd: end) }
                let found = try testStore.read { snapshot in
                    try snapshot.head(of: TestStore.record("a"), in: zone.number).flatMap { head in
                        try snapshot.version(at: head.position, in: zone.number) { Array($0.body) }
                    }
                }
                try expect(found == body)
            }
            try testStore.write { try $0.save("a", in: zone) }
        },
        StoragePromise("A feed holds each record once, at its last change, deletions among them") {
            testStore in
            let zone = try testStore.makeZone()
            let other = try testStore.makeZone("Other")
            let start = try testStore.write { transaction in
                for name in ["a", "b", "c"] { try transaction.save(name, in: zone) }
                try transaction.save("x", in: other)
                return try require(transaction.head(of: TestStore.record("b"), in: zone.number))
                    .position
            }
            try testStore.write { transaction in
                try transaction.save("a", in: zone)
                try transaction.writeTombstone("b", in: zone)
                try transaction.save("d", in: zone)
            }
            try expect(testStore.feed(of: zone), is: ["c", "a", "-b", "d"])
            try expect(testStore.feed(of: zone, after: start), is: ["c", "a", "-b", "d"])
            try expect(testStore.feed(of: other), is: ["x"])
            try expect(testStore.read { try $0.zone(zone.number)?.changed } ?? 0 > start)
        },
        StoragePromise("A feed is read between two positions, from either end, until it is enough")
        {
            testStore in
            let zone = try testStore.makeZone()
            let locations = try testStore.write { transaction in
                try (0..<10).map { try transaction.save("r\($0)", in: zone).position }
            }
            func names(
                after: Position, through: Position, newestFirst: Bool, limit: Int = .max
            ) throws -> [String] {
                try testStore.read { snapshot in
                    var found: [String] = []
                    try snapshot.versions(
                        in: zone.number, after: after, through: through, newestFirst: newestFirst
                    ) {
                        found.append(TestStore.name(in: $0.body))
                        try expect(snapshot.location(of: $0.record)?.position == $0.position)
                        return found.count < limit
                    }
                    return found
                }
            }
            try expect(
                names(after: locations[2], through: locations[5], newestFirst: false),
                is: ["r3", "r4", "r5"])
            try expect(
                names(after: locations[2], through: locations[5], newestFirst: true),
                is: ["r5", "r4", "r3"])
            try expect(
                names(after: 0, through: .max, newestFirst: true, limit: 2), is: ["r9", "r8"])
            try expect(names(after: locations[9], through: .max, newestFirst: false), is: [])
        },
        StoragePromise("Without numbers asked for, a share still tells its own") { testStore in
            let zone = try testStore.makeZone()
            let head = try testStore.write { transaction in
                try transaction.save("a", in: zone)
                return try transaction.save("s", in: zone, flags: .share)
            }
            let found = try testStore.read { snapshot in
                var found: RecordNumber?
                try snapshot.versions(
                    in: zone.number, after: 0, through: .max, newestFirst: false
                ) {
                    if $0.flags.contains(.share) { found = $0.record }
                    return true
                }
                return found
            }
            try expect(found == head.record)
        },
        StoragePromise("Who visits a version may read anything else meanwhile") { testStore in
            let zone = try testStore.makeZone()
            try testStore.write { transaction in
                for number in 0..<300 { try transaction.save("r\(number)", in: zone) }
            }
            try testStore.read { snapshot in
                var count = 0
                try snapshot.versions(
                    in: zone.number, after: 0, through: .max, newestFirst: false
                ) { version in
                    let name = TestStore.record(TestStore.name(in: version.body))
                    let head = try snapshot.head(of: name, in: zone.number)
                    try expect(head?.position == version.position)
                    try expect(snapshot.location(of: version.record)?.name == name)
                    try expect(snapshot.zone(zone.number)?.name == zone.name)
                    try expect(snapshot.owner(named: TestStore.user(1)) != nil)
                    try expect(snapshot.currentMembership(of: version.record) == nil)
                    try expect(snapshot.schema.types[TestStore.type] != nil)
                    try expect(snapshot.assetBytes(of: [version.record]), is: [0])
                    try expect(TestStore.name(in: version.body), is: name.text)
                    count += 1
                    return true
                }
                try expect(count, is: 300)
            }
        },
        StoragePromise("Large pages and large bodies come whole") { testStore in
            let zone = try testStore.makeZone()
            let quote = UInt8(ascii: "\"")
            let large = [quote] + (0..<3_000_000).map { 97 + UInt8($0 / 7 % 26) } + [quote]
            for start in stride(from: 0, to: 3_000, by: 500) {
                try testStore.write { transaction in
                    for number in start..<start + 500 {
                        try transaction.save(
                            "r\(number)", in: zone,
                            body: [UInt8](repeating: 49 + UInt8(number % 9), count: number + 1))
                    }
                }
            }
            try testStore.write { try $0.save("large", in: zone, body: large) }
            try testStore.read { snapshot in
                var count = 0
                try snapshot.versions(
                    in: zone.number, after: 0, through: .max, newestFirst: false
                ) { version in
                    if count < 3_000 {
                        try expect(version.body.count, is: count + 1)
                        try expect(version.body.allSatisfy { $0 == 49 + UInt8(count % 9) })
                    } else {
                        try expect(version.body.elementsEqual(large))
                    }
                    count += 1
                    return true
                }
                try expect(count, is: 3_001)
            }
        },
        StoragePromise("Links lead from a name to those that refer to it, by kind and number") {
            testStore in
            let zone = try testStore.makeZone()
            let numbers = try testStore.write { transaction in
                let target = TestStore.record("t")
                try transaction.save("t", in: zone)
                return try (0..<6).map { number in
                    let kinds: [LinkKind] =
                        number.isMultiple(of: 2) ? [.parent, .deleteSelf] : [.validate]
                    let links = kinds.map {
                        Link(targetZone: zone.number, target: target, kind: $0)
                    }
                    return try transaction.save("r\(number)", in: zone, links: links).record
                }
            }
            let target = TestStore.record("t")
            try testStore.read { snapshot in
                let all = try snapshot.sources(
                    of: target, in: zone.number, kinds: .deleteSelfInTree ... .parent, limit: 100)
                try expect(all.count, is: 9)
                let some = try snapshot.sources(
                    of: target, in: zone.number, kinds: .validate ... .validate, limit: 2)
                try expect(some.count == 2 && some.allSatisfy { $0.kind == .validate })
                let ordered = try snapshot.sources(
                    of: target, in: zone.number, kind: .deleteSelf, after: numbers[0], limit: 5)
                try expect(ordered.map(\.record), is: [numbers[2], numbers[4]])
                try expect(ordered.first?.name == TestStore.record("r2"))
                try expect(
                    snapshot.children(of: target, in: zone.number, after: numbers[0], limit: 1),
                    is: [numbers[2]])
                try expect(snapshot.parents(of: [numbers[0], numbers[1]]), is: [target, nil])
                let links = try snapshot.links(of: numbers, kinds: .validate ... .validate)
                let link = Link(targetZone: zone.number, target: target, kind: .validate)
                try expect(links.count == numbers.count && links[0].isEmpty)
                try expect(links[1], is: [link])
            }
            try testStore.write { try $0.save("r0", in: zone, links: []) }
            try testStore.read { try expect($0.parent(of: numbers[0]) == nil) }
        },
    ]

    static let surveys = [
        StoragePromise("A survey comes to every version of every zone, in steps of any size") {
            testStore in
            let zones = [try testStore.makeZone("one"), try testStore.makeZone("two")]
            try testStore.write { transaction in
                for zone in zones {
                    for number in 0..<50 { try transaction.save("r\(number)", in: zone) }
                    try transaction.writeTombstone("r7", in: zone)
                }
                try transaction.deleteZone(zones[1])
            }
            for limit in [1, 7, 50, 1_000] {
                var seen: [SurveyCursor] = []
                var location: SurveyCursor? = .start
                while let after = location {
                    location = try testStore.read { snapshot in
                        var count = 0
                        return try snapshot.versions(after: after, limit: limit) { zone, version in
                            seen.append(SurveyCursor(zone: zone, position: version.position))
                            count += 1
                            return count < 5
                        }
                    }
                }
                try expect(seen.count, is: 100)
                try expect(Set(seen).count, is: 100)
                try expect(Set(seen.map(\.zone)), is: Set(zones.map(\.number)))
            }
        }
    ]
}
