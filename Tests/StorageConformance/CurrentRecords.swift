import CloudModel
import Storage

// What stands under names, many at once.
extension StoragePromise {
    package static let currentRecords = [
        StoragePromise("What stands under names is found in one call, deleted or not, each once") {
            testStore in
            let zone = try testStore.makeZone()
            let other = try testStore.makeZone("Other")
            try testStore.write { transaction in
                for name in ["a", "b", "c"] { try transaction.save(name, in: zone) }
                try transaction.save("d", in: other)
                try transaction.save("a", in: zone, body: [49])
                try transaction.writeTombstone("b", in: zone)
            }
            @Sendable func check(_ reading: any StoreSnapshot) throws {
                let names = ["x", "c", "b", "d", "a"].map(TestStore.record)
                var found: [Int: (isDeleted: Bool, body: [UInt8])] = [:]
                try reading.current(of: names, in: zone.number, inOrder: false) { index, version in
                    try expect(found[index] == nil, "\(names[index].text) came twice")
                    found[index] = (version.flags.contains(.tombstone), Array(version.body))
                    return true
                }
                try expect(found.keys.sorted(), is: [1, 2, 4])
                try expect(found[2]?.isDeleted == true && found[1]?.isDeleted == false)
                try expect(found[4]?.body ?? [], is: [49])
                for name in names {
                    let head = try reading.head(of: name, in: zone.number)
                    let version = try reading.current(of: name, in: zone.number) {
                        // What belongs to the record may be read meanwhile.
                        try expect(reading.location(of: $0.record)?.name == name)
                        return ($0.record, $0.position)
                    }
                    try expect(version?.0 == head?.record && version?.1 == head?.position)
                }
            }
            try testStore.read(check)
            try testStore.write { try check($0) }
        },
        StoragePromise("A page of a thousand names is as whole as one") { testStore in
            let zone = try testStore.makeZone()
            try testStore.write { transaction in
                for number in 0..<500 { try transaction.save("r\(number * 2)", in: zone) }
            }
            let names = (0..<1_000).map { TestStore.record("r\($0)") }
            try testStore.read { snapshot in
                var found: Set<Int> = []
                try snapshot.current(of: names, in: zone.number, inOrder: false) {
                    try expect(TestStore.name(in: $1.body), is: names[$0].text)
                    found.insert($0)
                    return true
                }
                try expect(found, is: Set((0..<500).map { $0 * 2 }))
                try snapshot.current(of: [], in: zone.number, inOrder: false) { _, _ in
                    try expect(false, "nobody was asked for")
                    return true
                }
                var inOrder: [Int] = []
                try snapshot.current(of: names.reversed(), in: zone.number, inOrder: true) {
                    index, _ in
                    inOrder.append(index)
                    return inOrder.count < 300
                }
                try expect(inOrder, is: (0..<300).map { $0 * 2 + 1 })
            }
        },
        StoragePromise("A record's links are those that it was given last") { testStore in
            let zone = try testStore.makeZone()
            let other = try testStore.makeZone("Other")
            let links: Set<Link> = [
                Link(targetZone: zone.number, target: TestStore.record("t"), kind: .parent),
                Link(targetZone: zone.number, target: TestStore.record("t"), kind: .deleteSelf),
                Link(targetZone: other.number, target: TestStore.record("o"), kind: .validate),
            ]
            let (one, two) = try testStore.write { transaction in
                for name in ["t", "u"] { try transaction.save(name, in: zone) }
                try transaction.save("o", in: other)
                let one = try transaction.save("one", in: zone, links: Array(links)).record
                let two = try transaction.save("two", in: zone).record
                try expect(Set(transaction.links(of: one)), is: links)
                return (one, two)
            }
            try testStore.read { snapshot in
                let found = try snapshot.links(of: one)
                try expect(found.count == 3 && Set(found) == links)
                try expect(snapshot.links(of: two).isEmpty)
            }
            let last = Link(targetZone: zone.number, target: TestStore.record("u"), kind: .validate)
            try testStore.write { try $0.save("one", in: zone) }
            try testStore.read { try expect(Set($0.links(of: one)), is: links) }
            try testStore.write { try $0.save("one", in: zone, links: [last]) }
            try testStore.read { try expect($0.links(of: one), is: [last]) }
        },
    ]
}
