/// One of the sizes that a code may have, with its blocks at level M (ISO/IEC 18004, tables 7 and 9).
struct QRVersion {
    let number: Int
    /// How many bytes of correction each block has.
    let correctionBytes: Int
    /// How many bytes of data each block has, block by block.
    let blocks: [Int]
    /// The centres of the small squares, along either side.
    let alignments: [Int]

    private init(_ number: Int, _ correctionBytes: Int, _ blocks: [Int], _ alignments: [Int]) {
        self.number = number
        self.correctionBytes = correctionBytes
        self.blocks = blocks
        self.alignments = alignments
    }

    private static let all = [
        QRVersion(1, 10, [16], []), QRVersion(2, 16, [28], [6, 18]),
        QRVersion(3, 26, [44], [6, 22]), QRVersion(4, 18, [32, 32], [6, 26]),
        QRVersion(5, 24, [43, 43], [6, 30]), QRVersion(6, 16, [27, 27, 27, 27], [6, 34]),
        QRVersion(7, 18, [31, 31, 31, 31], [6, 22, 38]),
        QRVersion(8, 22, [38, 38, 39, 39], [6, 24, 42]),
        QRVersion(9, 22, [36, 36, 36, 37, 37], [6, 26, 46]),
        QRVersion(10, 26, [43, 43, 43, 43, 44], [6, 28, 50]),
    ]

    var size: Int { 17 + 4 * number }

    var dataBytes: Int { blocks.reduce(0, +) }

    /// How many bits say how long the text is.
    var lengthBits: Int { number < 10 ? 8 : 16 }

    /// The smallest that holds so many bytes; nil for too many.
    static func smallest(for byteCount: Int) -> QRVersion? {
        all.first { 4 + $0.lengthBits + 8 * byteCount <= 8 * $0.dataBytes }
    }
}
