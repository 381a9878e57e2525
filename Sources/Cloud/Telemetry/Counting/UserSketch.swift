import Platform

/// About how many different users there were, from which nobody can tell who.
///
/// A HyperLogLog of 256 registers: off by 6.5 % on average, exact for the first few. What is counted is a keyed hash
/// of a user, of which a register keeps four bits.
package struct UserSketch: Sendable, Equatable {
    static let registerCount = 256
    /// Of four bits: enough for millions of users.
    static let rankMax: UInt8 = 15

    /// Empty as long as nobody was counted.
    private(set) var registers: [UInt8] = []

    /// Whether nobody was counted.
    var isEmpty: Bool { registers.isEmpty }

    package init() {}

    /// - Returns: nil for what is no sketch.
    init?(registers: [UInt8]) {
        guard registers.isEmpty || registers.count == Self.registerCount,
            registers.allSatisfy({ $0 <= Self.rankMax })
        else { return nil }
        self.registers = registers
    }

    /// Counts a user by the hash of their name.
    package mutating func record(_ hash: UInt64) {
        let rank = UInt8(min(Int(Self.rankMax), (hash >> 8).trailingZeroBitCount + 1))
        raise(Int(hash & 0xff), to: rank)
    }

    private mutating func raise(_ index: Int, to rank: UInt8) {
        if registers.isEmpty { registers = Array(repeating: 0, count: Self.registerCount) }
        if registers[index] < rank { registers[index] = rank }
    }

    /// Counts those of another one, too; who is in both counts once.
    package mutating func add(_ other: UserSketch) {
        for (index, rank) in other.registers.enumerated() where rank > 0 { raise(index, to: rank) }
    }

    /// About how many.
    package var count: Int {
        guard !registers.isEmpty else { return 0 }
        let size = Double(Self.registerCount)
        let empty = registers.count { $0 == 0 }
        // Few users leave registers empty, and how many says more than what is in the others.
        if empty > Self.registerCount / 5 {
            return Int((size * log(size / Double(empty))).rounded())
        }
        let sum = registers.reduce(0.0) { $0 + exp2(-Double($1)) }
        return Int((0.7182725932495458 * size * size / sum).rounded())
    }
}

/// Makes the hash by which a user is counted, under a key that one database has alone.
package struct UserHash: Sendable {
    private let key: UInt64

    package init(key: UInt64) { self.key = key }

    package func of(_ user: String) -> UInt64 {
        var hash = key ^ 0xcbf2_9ce4_8422_2325
        for byte in user.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        // Spreads each bit over all.
        hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
        hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
        return hash ^ hash >> 33
    }
}
