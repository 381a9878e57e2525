import CloudModel
import Storage

// Owners and zones.
extension StoragePromise {
    static let zones = [
        StoragePromise("A zone is found by its number, its name and its owner's name") {
            testStore in
            let zone = try testStore.makeZone()
            try testStore.read { snapshot in
                let owner = try require(snapshot.owner(named: TestStore.user(1)))
                try expect(owner.number == zone.owner)
                try expect(snapshot.ownerName(zone.owner), is: TestStore.user(1))
                try expect(snapshot.owner(named: TestStore.user(2)) == nil)
                for found in try [
                    snapshot.zone(zone.number), snapshot.zone(named: zone.name, of: zone.owner),
                    snapshot.zone(named: zone.name, ofOwnerNamed: TestStore.user(1)),
                ] {
                    try expect(found?.number == zone.number && found?.isDeleted == false)
                    try expect(found?.created == zone.created && found?.changed == zone.changed)
                }
                try expect(snapshot.zone(named: zone.name, ofOwnerNamed: TestStore.user(2)) == nil)
                try expect(snapshot.zone(named: TestStore.zone("shelf"), of: zone.owner) == nil)
            }
        },
        StoragePromise("A zone that a reader has found before is found as it is now") { testStore in
            let zone = try testStore.makeZone()
            func found() throws -> StoredZone? {
                try testStore.read {
                    try $0.zone(named: zone.name, ofOwnerNamed: TestStore.user(1))
                }
            }
            try expect(found()?.changed == zone.changed && found()?.changed == zone.changed)
            try testStore.write { try $0.save("a", in: zone) }
            let changed = try testStore.read { try $0.zone(zone.number) }?.changed
            try expect(changed != zone.changed && found()?.changed == changed)
            try testStore.write { try $0.deleteZone(zone) }
            try expect(found() == nil)
            let other = try testStore.makeZone()
            try expect(found()?.number == other.number)
            // More than a reader keeps in mind.
            let zones = try (0..<20).map { try testStore.makeZone("z\($0)") }
            try testStore.read { snapshot in
                for zone in zones + zones.reversed() {
                    let found = try snapshot.zone(named: zone.name, ofOwnerNamed: TestStore.user(1))
                    try expect(found?.number == zone.number)
                }
            }
        },
        StoragePromise("Names of zones lie in the order of code points") { testStore in
            let names = ["b", "B", "a", "~", "0", "Z", "a b", "a-b", "ab", "A"]
            for name in names { _ = try testStore.makeZone(name) }
            let owner = try require(testStore.read { try $0.owner(named: TestStore.user(1)) })
            try expect(
                testStore.read { try $0.zones(of: owner.number).map(\.name.text) },
                is: names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
        },
        StoragePromise("A deleted zone is out of sight, and another is made under its name") {
            testStore in
            let zone = try testStore.makeZone()
            try testStore.write { try $0.save("a", in: zone) }
            try testStore.write { try $0.deleteZone(zone) }
            try testStore.read { snapshot in
                try expect(snapshot.zone(named: zone.name, of: zone.owner) == nil)
                try expect(snapshot.zones(of: zone.owner).isEmpty)
                let gone = try require(snapshot.zone(zone.number))
                let changed = try require(zone.changed)
                try expect(gone.isDeleted && gone.changed ?? 0 > changed)
                let feed = try snapshot.zones(of: zone.owner, changedAfter: changed, limit: 10)
                try expect(feed.map(\.number), is: [zone.number])
            }
            let other = try testStore.makeZone()
            try expect(other.number != zone.number && other.created > zone.changed ?? 0)
            try expect(testStore.feed(of: other), is: [])
            let feed = try testStore.read {
                try $0.zones(of: zone.owner, changedAfter: 0, limit: 10).map(\.number)
            }
            try expect(feed, is: [other.number])
        },
        StoragePromise("An owner's bytes and records are those that live") { testStore in
            let zone = try testStore.makeZone()
            func used() throws -> Int64? {
                let stored = try testStore.read {
                    try $0.owner(named: TestStore.user(1))?.usedBytes
                }
                let changed = try testStore.read { try $0.zone(zone.number)?.changed }
                try testStore.write { transaction in
                    let owner = try transaction.owner(named: TestStore.user(1))
                    try expect(owner?.usedBytes == stored)
                    let known = try transaction.zone(named: zone.name, of: zone.owner)
                    try expect(known == nil || known?.changed == changed)
                }
                return stored
            }
            try testStore.write { transaction in
                try transaction.save("a", in: zone, body: [UInt8](repeating: 49, count: 1_000))
                try expect(transaction.owner(named: TestStore.user(1))?.usedBytes == 1_000)
                try expect(transaction.owners([.number(zone.owner)])[0]?.usedBytes == 1_000)
                try transaction.save("b", in: zone, body: [UInt8](repeating: 49, count: 500))
            }
            try expect(used() == 1_500)
            func count() throws -> Int? {
                try testStore.read { try $0.amount(of: zone.owner).records }
            }
            try expect(count(), is: 2)
            try testStore.read { snapshot in
                let (one, all) = (try snapshot.amount(of: zone.owner), try snapshot.amount(of: nil))
                try expect(one.bytes == 1_500 && one.owners == 1, "\(one)")
                try expect(all.bytes == 1_500 && all.records == nil, "\(all)")
            }
            try testStore.write { try $0.save("a", in: zone, body: [49]) }
            try expect(used() == 501)
            try testStore.write { try $0.writeTombstone("b", in: zone) }
            try expect(used() == 1)
            try expect(count(), is: 1)
            let other = try testStore.makeZone("other")
            try testStore.write { try $0.save("c", in: other) }
            try expect(count(), is: 2)
            try testStore.write { try $0.deleteZone(zone) }
            try expect(used() == 3)
            try expect(count(), is: 1)
        },
        StoragePromise("Of a great many zones the feed shows each once, by their last changes") {
            testStore in
            let count = 1_500
            let first = try testStore.makeZone("first")
            for start in stride(from: 0, to: count, by: 300) {
                try testStore.write { transaction in
                    for number in start..<start + 300 {
                        let name = TestStore.zone("z\(number)")
                        _ = try transaction.makeZone(
                            named: name, ofOwnerNamed: TestStore.user(1))
                    }
                }
            }
            let touched = try testStore.write { transaction in
                try (0..<100).map { number in
                    let zone = try require(
                        transaction.zone(named: TestStore.zone("z\(number * 7)"), of: first.owner))
                    try transaction.save("r", in: zone)
                    return zone.number
                }
            }
            var (seen, location, pages): ([StoredZone], Position, Int) = ([], 0, 0)
            while true {
                let page = try testStore.read {
                    try $0.zones(of: first.owner, changedAfter: location, limit: 97)
                }
                guard let last = page.last else { break }
                try expect(page.allSatisfy { $0.changed ?? 0 > location } && page.count <= 97)
                seen += page
                location = try require(last.changed)
                pages += 1
            }
            try expect(seen.count, is: count + 1)
            try expect(Set(seen.map(\.number)).count, is: count + 1)
            try expect(seen.suffix(100).map(\.number), is: touched)
            try testStore.read { snapshot in
                try expect(
                    snapshot.zones(of: first.owner, .stored(limit: 10_000)).count, is: count + 1)
                try expect(snapshot.zones(of: first.owner, .stored(limit: 20)).count, is: 20)
                try expect(snapshot.zones(of: first.owner).count, is: count + 1)
            }
        },
        StoragePromise("What devices leave with a zone stays theirs, the latest of so many") {
            testStore in
            let zone = try testStore.makeZone()
            func key(_ device: String, _ user: Int = 1) -> ClientTokenKey {
                ClientTokenKey(zone: zone.number, user: TestStore.user(user), device: device)
            }
            for number in 0..<5 {
                testStore.clock.advance(1)
                let key = key("d\(number)")
                try testStore.write {
                    try $0.setClientToken([UInt8(number), 0, 255], key, devicesMax: 3)
                }
            }
            let others = key("d0", 2)
            try testStore.write { try $0.setClientToken([9], others, devicesMax: 3) }
            let last = key("d4")
            try testStore.write { try $0.setClientToken([], last, devicesMax: 3) }
            try testStore.read { snapshot in
                try expect(snapshot.clientToken(key("d1")) == nil)
                try expect(snapshot.clientToken(key("d2")) == [2, 0, 255])
                try expect(snapshot.clientToken(key("d4")) == nil)
                try expect(snapshot.clientToken(key("d0", 2)) == [9])
            }
        },
    ]
}
