import CloudModel
import Storage

/// What a store knows names by: a hash of zone and name, by a key that only the store has.
struct NameHash: Sendable {
    static let keyBytes = 16
    /// The least hash, with which the order of names begins.
    static let first = Int64.min

    private let key0: UInt64
    private let key1: UInt64
    private let unused: UInt64

    /// - Parameters:
    ///   - key: 16 random bytes.
    ///   - bits: how many bits of the hash are used. Fewer than 64 let hashes of different names meet.
    /// - Returns: nil for a key of another length.
    init?(key: [UInt8], bits: Int) {
        guard key.count == Self.keyBytes else { return nil }
        (key0, key1) = key.withUnsafeBytes {
            (
                UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        unused = UInt64(max(0, 64 - bits))
    }

    /// - Parameter name: in UTF-8.
    func callAsFunction(_ name: UnsafeRawBufferPointer, in zone: ZoneNumber) -> Int64 {
        var hash = SipHash(key0: key0, key1: key1)
        hash.absorb(UInt64(bitPattern: zone.value))
        return Int64(bitPattern: hash.finish(name) << unused)
    }

    func callAsFunction(_ name: RecordName, in zone: ZoneNumber) -> Int64 {
        var text = name.text
        return text.withUTF8 { self(UnsafeRawBufferPointer($0), in: zone) }
    }
}
