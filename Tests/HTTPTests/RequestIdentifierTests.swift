import Testing

@testable import HTTP

@Suite("Ids of requests, and words of eight bytes")
struct RequestIdentifierTests {
    @Test("An id is the generator's bits in hexadecimal, as a version 4 UUID")
    func identifiers() {
        let seed = SystemRandomNumberGenerator.fourWords()
        var (made, plain) = (RequestIdentifiers(seed: seed), RequestIdentifiers(seed: seed))
        for _ in 0..<1_000 {
            let high = Self.hexadecimal(plain.next() & 0xFFFF_FFFF_FFFF_0FFF | 0x4000)
            let low = Self.hexadecimal(plain.next() & 0x3FFF_FFFF_FFFF_FFFF | 1 << 63)
            let digits = Array(high + low)
            let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
            #expect(
                made.nextID() == groups.map { String(digits[$0]) }.joined(separator: "-"),
                "seed \(seed)")
        }
    }

    private static func hexadecimal(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    @Test("Eight bytes are letters and hyphens only where each of them is")
    func letters() {
        for neighbour in [UInt8(ascii: "-"), UInt8(ascii: "a"), UInt8(ascii: "Z"), 0, 0x7F, 0xFF] {
            for location in 0..<8 {
                for byte in UInt8.min...UInt8.max {
                    var bytes = [UInt8](repeating: neighbour, count: 8)
                    bytes[location] = byte
                    let found = bytes.withUnsafeBytes { ByteWord($0, at: 0) }
                    #expect(
                        found.hasOnlyLettersAndHyphens == bytes.allSatisfy(Self.isLetterOrHyphen),
                        "\(bytes)")
                }
            }
        }
    }

    private static func isLetterOrHyphen(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }
}

extension SystemRandomNumberGenerator {
    fileprivate static func fourWords() -> (UInt64, UInt64, UInt64, UInt64) {
        var system = SystemRandomNumberGenerator()
        return (system.next(), system.next(), system.next(), system.next())
    }
}
