import CloudDatabase
import CloudModel
import Cryptography
import Testing

@Suite("Ids of receipts")
struct ReceiptIDTests {
    @Test("Those of a second lie together, behind all that were made before")
    func order() {
        let random = RandomSource.system
        let moments: [Milliseconds] = [1_999, 2_000, 2_999, 3_000, 1_900_000_000_000]
        let ids = moments.map { ReceiptID.make(at: $0, random) }
        #expect(ids.allSatisfy { $0.count == AssetReceipt.idBytes })
        let seconds = ids.map { Array($0.prefix(4)) }
        #expect(seconds[1] == seconds[2])
        #expect(ids[0].lexicographicallyPrecedes(ids[1]))
        #expect(ids[2].lexicographicallyPrecedes(ids[3]))
        #expect(ids[3].lexicographicallyPrecedes(ids[4]))
        #expect(Set(ids.map { Array($0.dropFirst(4)) }).count == ids.count, "the rest is random")
    }
}
