import CloudModel
import Cryptography

/// The ids of receipts: someone who shows one has been given it.
package enum ReceiptID {
    /// Seconds since 1970, so that receipts lie in the store in the order in which they were made.
    ///
    /// Were all of an id random, each receipt would be written to other pages, in three trees.
    private static let timeBytes = 4

    /// Makes an id that nobody can guess: 96 of its bits are random.
    package static func make(at now: Milliseconds, _ random: RandomSource) -> [UInt8] {
        let seconds = UInt32(truncatingIfNeeded: now / 1_000)
        return withUnsafeBytes(of: seconds.bigEndian) { Array($0) }
            + random.bytes(AssetReceipt.idBytes - timeBytes)
    }
}
