import CloudModel
import Storage

// What is known of the files of assets.
extension StoragePromise {
    private static func digest(_ number: UInt8) -> AssetDigest {
        TestStore.name(AssetDigest([UInt8](repeating: number, count: AssetDigest.byteCount)))
    }

    private static func receipt(_ number: UInt8, size: Int, expires: Milliseconds) -> StoredReceipt
    {
        StoredReceipt(
            content: AssetContent(digest: digest(number), size: size), identity: [number],
            expires: expires)
    }

    static let assets = [
        StoragePromise("A receipt tells of its file, also when several are of one") { testStore in
            let one = receipt(1, size: 100, expires: testStore.clock.now + 1_000)
            try testStore.write { try $0.addReceipt([1], one) }
            try expect(testStore.write { try $0.addReceiptForKnown([2], one) })
            let unknown = receipt(9, size: 1, expires: 0)
            try expect(testStore.write { try !$0.addReceiptForKnown([3], unknown) })
            try testStore.read { snapshot in
                for id in [[UInt8(1)], [2]] {
                    let found = try require(snapshot.assetReceipts([id])[0])
                    try expect(found.content == one.content && found.identity == one.identity)
                    try expect(found.expires, is: one.expires)
                }
                let ids: [[UInt8]] = [[3], [1], [3]]
                try expect(snapshot.assetReceipts(ids).map { $0 != nil }, is: [false, true, false])
                try expect(
                    snapshot.assets(.unknown(among: [digest(1), digest(9)])), is: [digest(9)])
            }
        },
        StoragePromise("A file counts for whoever's records hold it, and is unused when none does")
        {
            testStore in
            let zone = try testStore.makeZone()
            let expires = testStore.clock.now + 10
            let receipts = [
                receipt(1, size: 100, expires: expires), receipt(2, size: 30, expires: expires),
            ]
            try testStore.write { transaction in
                for (number, receipt) in receipts.enumerated() {
                    try transaction.addReceipt([UInt8(number)], receipt)
                }
            }
            let head = try testStore.write { transaction in
                try transaction.save(
                    "a", in: zone, flags: .hasAssets, files: [digest(1), digest(2)])
            }
            func used() throws -> Int64 {
                try testStore.read { try $0.owner(named: TestStore.user(1))?.usedBytes ?? 0 }
            }
            // The body is the name in quotes.
            try expect(used(), is: 133)
            try expect(
                testStore.read { try $0.assetBytes(of: [RecordNumber(0), head.record]) },
                is: [0, 130])
            try testStore.write {
                try $0.save("a", in: zone, flags: .hasAssets, files: [digest(2)])
            }
            try expect(used(), is: 33)
            testStore.clock.advance(20)
            let moment = testStore.clock.now
            try expect(testStore.read { try $0.assets(.unused(since: moment, limit: 9)) }, is: [])
            while try testStore.write({ try $0.collect(olderThan: moment, limit: 100) }) {}
            try expect(
                testStore.read { try $0.assets(.unused(since: moment, limit: 9)) }, is: [digest(1)])
            try expect(
                testStore.write {
                    try $0.remove(.begin([digest(1), digest(2)], unusedSince: moment))
                }, is: [digest(1)])
            try expect(
                testStore.read { try $0.assets(.unknown(among: [digest(1)])) }, is: [digest(1)])
        },
    ]
}
