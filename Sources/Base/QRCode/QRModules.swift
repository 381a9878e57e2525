/// The square of modules: which are dark, and which belong to a pattern rather than to the text.
struct QRModules {
    private let version: QRVersion
    private let size: Int
    private var dark: [Bool]
    private var fixed: [Bool]

    /// With all patterns, but for the format.
    init(_ version: QRVersion) {
        self.version = version
        size = version.size
        dark = [Bool](repeating: false, count: size * size)
        fixed = dark
        placeFinders()
        placeTiming()
        offsetAlignments()
        reserveFormat()
        placeVersion()
    }

    func isDark(_ row: Int, _ column: Int) -> Bool { dark[row * size + column] }

    private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return }
        dark[row * size + column] = isDark
        fixed[row * size + column] = true
    }

    /// The three large squares, each with the light line around it.
    private mutating func placeFinders() {
        for (top, left) in [(0, 0), (0, size - 7), (size - 7, 0)] {
            for row in -1...7 {
                for column in -1...7 {
                    let distance = max(abs(row - 3), abs(column - 3))
                    set(top + row, left + column, distance != 2 && distance != 4)
                }
            }
        }
    }

    private mutating func placeTiming() {
        for offset in 8..<(size - 8) {
            set(6, offset, offset % 2 == 0)
            set(offset, 6, offset % 2 == 0)
        }
    }

    private mutating func offsetAlignments() {
        guard let last = version.alignments.last else { return }
        for row in version.alignments {
            for column in version.alignments {
                let isFinder =
                    (row == 6 && column == 6) || (row == 6 && column == last)
                    || (row == last && column == 6)
                if isFinder { continue }
                for down in -2...2 {
                    for right in -2...2 {
                        set(row + down, column + right, max(abs(down), abs(right)) != 1)
                    }
                }
            }
        }
    }

    private mutating func reserveFormat() {
        for offset in 0...8 where offset != 6 {
            set(8, offset, false)
            set(offset, 8, false)
        }
        for offset in 0..<8 {
            set(8, size - 1 - offset, false)
            set(size - 1 - offset, 8, false)
        }
        set(size - 8, 8, true)
    }

    /// The number of the version, from 7 on, with its correction (annex D).
    private mutating func placeVersion() {
        guard version.number >= 7 else { return }
        let bits = Self.corrected(version.number, by: 0x1F25, bits: 12)
        for index in 0..<18 {
            let isDark = bits >> index & 1 == 1
            set(size - 11 + index % 3, index / 3, isDark)
            set(index / 3, size - 11 + index % 3, isDark)
        }
    }

    /// The level (M) and the mask, with their correction (annex C), twice.
    mutating func placeFormat(mask: Int) {
        // Level M is written as 00.
        let bits = Self.corrected(mask, by: 0x537, bits: 10) ^ 0x5412
        for index in 0..<15 {
            let isDark = bits >> index & 1 == 1
            let around = index < 6 ? index : index < 8 ? index + 1 : size - 15 + index
            set(around, 8, isDark)
            let along = index < 8 ? size - 1 - index : index < 9 ? 7 : 14 - index
            set(8, along, isDark)
        }
        set(size - 8, 8, true)
    }

    /// The number with the rest of its division behind it.
    private static func corrected(_ number: Int, by divisor: Int, bits: Int) -> Int {
        var rest = number << bits
        while true {
            let shift = Int.bitWidth - rest.leadingZeroBitCount - (bits + 1)
            if rest == 0 || shift < 0 { break }
            rest ^= divisor << shift
        }
        return number << bits | rest
    }

    /// Puts the bytes in, in columns of two from the right, up and down, and turns those that the mask
    /// names.
    mutating func place(_ words: [UInt8], mask: Int) {
        var index = 0
        var isUpward = true
        var right = size - 1
        while right > 0 {
            // The timing pattern's column is passed over.
            if right == 6 { right -= 1 }
            for step in 0..<size {
                let row = isUpward ? size - 1 - step : step
                for column in [right, right - 1] where !fixed[row * size + column] {
                    let isSet =
                        index < 8 * words.count
                        && words[index / 8] >> UInt8(7 - index % 8) & 1 == 1
                    dark[row * size + column] = isSet != Self.isMasked(mask, row, column)
                    index += 1
                }
            }
            isUpward.toggle()
            right -= 2
        }
    }

    private static func isMasked(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
        let product = row * column
        return switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: product % 2 + product % 3 == 0
        case 6: (product % 2 + product % 3) % 2 == 0
        default: ((row + column) % 2 + product % 3) % 2 == 0
        }
    }
}

/// How hard a code is to read (§7.8.3): of the eight masks the one with the least is taken.
extension QRModules {
    var penalty: Int {
        var sum = 0
        for line in 0..<size {
            sum += Self.penalty(of: (0..<size).map { isDark(line, $0) })
            sum += Self.penalty(of: (0..<size).map { isDark($0, line) })
        }
        for row in 0..<(size - 1) {
            for column in 0..<(size - 1) {
                let first = isDark(row, column)
                let isBlock =
                    isDark(row, column + 1) == first && isDark(row + 1, column) == first
                    && isDark(row + 1, column + 1) == first
                if isBlock { sum += 3 }
            }
        }
        let darkCount = dark.count { $0 }
        return sum + abs(100 * darkCount - 50 * size * size) / (5 * size * size) * 10
    }

    /// Of runs of one colour, and of what looks like a large square.
    private static func penalty(of line: [Bool]) -> Int {
        let finder = [true, false, true, true, true, false, true]
        let margin = [Bool](repeating: false, count: 4)
        var sum = 0
        var run = 0
        for (index, isDark) in line.enumerated() {
            run = index > 0 && line[index - 1] == isDark ? run + 1 : 1
            if run == 5 { sum += 3 } else if run > 5 { sum += 1 }
            let rest = line[index...].prefix(11)
            if rest.elementsEqual(finder + margin) || rest.elementsEqual(margin + finder) {
                sum += 40
            }
        }
        return sum
    }
}
