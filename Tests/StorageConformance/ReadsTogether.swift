import CloudModel
import Dispatch
import Storage
import Synchronization

// Short reads that say what they will ask for.
extension StoragePromise {
    static let readsTogether = [
        StoragePromise("Reads that are made together see what each would see alone") { testStore in
            let (zone, other) = (try testStore.makeZone(), try testStore.makeZone("other"))
            for number in 0..<20 {
                try testStore.write {
                    try $0.save("r\(number)", in: number % 3 == 0 ? other : zone)
                }
            }
            try testStore.write { try $0.writeTombstone("r4", in: zone) }
            /// The records under names in a zone, by the three questions of a lookup.
            @Sendable func look(
                _ needs: StoreNeeds, _ asked: [RecordName], _ snapshot: any StoreSnapshot
            ) throws -> [String] {
                guard let owner = needs.owner, let name = needs.zone,
                    let zone = try snapshot.zone(named: name, ofOwnerNamed: owner)
                else { return ["no zone"] }
                var found = try snapshot.heads(of: asked, in: zone.number).map {
                    $0.map { "\($0.record.value) \($0.position)" } ?? "none"
                }
                try snapshot.current(of: asked, in: zone.number, inOrder: true) {
                    found.append("\($0) \($1.position) \($1.flags.rawValue) \($1.body.count)")
                    return true
                }
                found.append("\(try snapshot.owner(named: owner)?.usedBytes ?? -1)")
                return found
            }
            for number in 0..<96 {
                var needs = StoreNeeds()
                needs.owner = TestStore.user(number % 8 == 0 ? 2 : 1)
                needs.zone = [zone.name, other.name, TestStore.zone("none")][number % 3]
                let names = (0..<number % 7).map { TestStore.record("r\((number + 5 * $0) % 24)") }
                needs.records = names
                // Not all that is asked was foreseen.
                let asked = names + (number % 4 == 1 ? [TestStore.record("r1")] : [])
                let done = DispatchSemaphore(value: 0)
                let together = Mutex<Result<[String], any Error>?>(nil)
                testStore.store.readTogether(needs, by: .server) { [needs] in
                    try look(needs, asked, $0)
                } completion: { result in
                    together.withLock { $0 = result }
                    done.signal()
                }
                done.wait()
                let alone = try testStore.read { try look(needs, asked, $0) }
                try expect(together.withLock { $0 }?.get() ?? [], is: alone)
            }
        },
        StoragePromise("A read that is made together with others fails alone") { testStore in
            let zone = try testStore.makeZone()
            try testStore.write { try $0.save("a", in: zone) }
            var needs = StoreNeeds()
            needs.owner = TestStore.user(1)
            needs.zone = zone.name
            let done = DispatchGroup()
            let failed = Mutex([Int]())
            for number in 0..<20 {
                done.enter()
                testStore.store.readTogether(needs, by: .server) { snapshot in
                    let head = try snapshot.head(of: TestStore.record("a"), in: zone.number)
                    if number % 5 == 0 || head == nil { throw WorkStopped(.makesRoom) }
                } completion: { result in
                    if case .failure = result { failed.withLock { $0.append(number) } }
                    done.leave()
                }
            }
            done.wait()
            try expect(failed.withLock { $0.sorted() }, is: [0, 5, 10, 15])
        },
    ]
}
