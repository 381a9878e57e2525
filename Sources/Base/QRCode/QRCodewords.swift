/// The bytes that a code is made of: the text in its frame, in blocks, each with its correction.
struct QRCodewords {
    /// In the order in which they are placed: the first of each block, the second of each, and so on.
    let interleaved: [UInt8]

    init(_ text: [UInt8], _ version: QRVersion) {
        let data = Self.framed(text, version)
        var blocks: [[UInt8]] = []
        var start = 0
        for count in version.blocks {
            blocks.append(Array(data[start..<(start + count)]))
            start += count
        }
        let corrections = blocks.map {
            ReedSolomon.correction(of: $0, count: version.correctionBytes)
        }
        interleaved = Self.interleave(blocks) + Self.interleave(corrections)
    }

    /// The kind (bytes), the length, the text, an end, and padding.
    private static func framed(_ text: [UInt8], _ version: QRVersion) -> [UInt8] {
        var bits: [Bool] = []
        func put(_ value: Int, _ count: Int) {
            for shift in stride(from: count - 1, through: 0, by: -1) {
                bits.append(value >> shift & 1 == 1)
            }
        }
        put(0b0100, 4)
        put(text.count, version.lengthBits)
        for byte in text { put(Int(byte), 8) }
        let capacity = 8 * version.dataBytes
        put(0, min(4, capacity - bits.count))
        put(0, (8 - bits.count % 8) % 8)
        var bytes = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<(start + 8)].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        var isFirst = true
        while bytes.count < version.dataBytes {
            bytes.append(isFirst ? 0xEC : 0x11)
            isFirst.toggle()
        }
        return bytes
    }

    private static func interleave(_ blocks: [[UInt8]]) -> [UInt8] {
        let longest = blocks.map(\.count).max() ?? 0
        return (0..<longest).flatMap { index in
            blocks.compactMap { index < $0.count ? $0[index] : nil }
        }
    }
}

/// The correction of a block, by the code of Reed and Solomon over the field of 256 with the polynomial
/// 0x11D.
enum ReedSolomon {
    private static let powers: [UInt8] = {
        var powers: [UInt8] = []
        var value = 1
        for _ in 0..<255 {
            powers.append(UInt8(value))
            value <<= 1
            if value > 255 { value ^= 0x11D }
        }
        return powers
    }()

    private static let logarithms: [Int] = {
        var logarithms = [Int](repeating: 0, count: 256)
        for (power, value) in powers.enumerated() { logarithms[Int(value)] = power }
        return logarithms
    }()

    private static func product(_ left: UInt8, _ right: UInt8) -> UInt8 {
        left == 0 || right == 0
            ? 0 : powers[(logarithms[Int(left)] + logarithms[Int(right)]) % 255]
    }

    /// The rest of the data, as a polynomial, divided by the one whose roots are the first powers of 2.
    static func correction(of data: [UInt8], count: Int) -> [UInt8] {
        var divisor: [UInt8] = [1]
        for power in 0..<count {
            var next = divisor + [0]
            for index in divisor.indices {
                next[index + 1] ^= product(divisor[index], powers[power])
            }
            divisor = next
        }
        var rest = data + [UInt8](repeating: 0, count: count)
        for index in data.indices {
            let factor = rest[index]
            for offset in divisor.indices {
                rest[index + offset] ^= product(divisor[offset], factor)
            }
        }
        return Array(rest.suffix(count))
    }
}
