/// Finds a key that an object has twice, comparing keys as decoded.
///
/// Small objects compare short prints of their keys pairwise; large ones go through a table of
/// seeded hashes, so that the time stays in proportion to the text whatever the keys are.
struct JSONKeyCheck {
    /// Up to so many members are compared pairwise.
    static let pairwiseMax = 16

    private let text: UnsafeBufferPointer<UInt8>
    private var prints = [UInt64](repeating: 0, count: pairwiseMax)
    private var indexes = [Int](repeating: 0, count: pairwiseMax)

    init(text: UnsafeBufferPointer<UInt8>) { self.text = text }

    /// The offset of the first key that repeats an earlier one of the same object.
    ///
    /// - Parameter object: the index of an object whose members are all on the tape.
    mutating func repeatedKey(of object: Int, _ tape: borrowing JSONTape) -> Int? {
        if tape.members(of: object) > Self.pairwiseMax { return inTable(object, tape) }
        var index = object + 2
        var seen = 0
        while index < tape.count {
            let print = print(of: index, tape)
            for earlier in 0..<seen where prints[earlier] == print {
                if isSame(indexes[earlier], index, tape) { return tape.offset(of: index) }
            }
            prints[seen] = print
            indexes[seen] = index
            seen += 1
            index = tape.next(after: index + 1)
        }
        return nil
    }

    /// Length and first bytes of a key; equal for equal keys.
    @inline(__always)
    private func print(of index: Int, _ tape: borrowing JSONTape) -> UInt64 {
        if tape.flag(of: index) {
            return decoded(index, tape) { key in
                var print = UInt64(truncatingIfNeeded: key.count & 0xFF)
                for (position, byte) in key.prefix(7).enumerated() {
                    print |= UInt64(byte) &<< UInt64(8 * (position + 1))
                }
                return print
            }
        }
        let start = tape.offset(of: index) + 1
        let length = tape.length(of: index) - 2
        // Behind a key of an object that has ended come at least a quote, a colon, a value and a
        // bracket, but for the last bytes of a text that may be fewer than a whole word.
        if start + 8 <= text.count, let base = text.baseAddress {
            let word = UnsafeRawPointer(base + start).loadUnaligned(as: UInt64.self)
            let kept = UInt64(littleEndian: word) &<< 8
            let unused = UInt64(64 - 8 * min(length + 1, 8))
            return (kept &<< unused) &>> unused | UInt64(truncatingIfNeeded: length & 0xFF)
        }
        var print = UInt64(truncatingIfNeeded: length & 0xFF)
        for position in 0..<min(length, 7) {
            print |= UInt64(text[start + position]) &<< UInt64(8 * (position + 1))
        }
        return print
    }

    private func isSame(_ one: Int, _ other: Int, _ tape: borrowing JSONTape) -> Bool {
        decoded(one, tape) { first in
            decoded(other, tape) { second in first.elementsEqual(second) }
        }
    }

    private func inTable(_ object: Int, _ tape: borrowing JSONTape) -> Int? {
        let slots = (tape.members(of: object) * 2).nextPowerOfTwo
        var table = [UInt32](repeating: 0, count: slots)
        var index = object + 2
        while index < tape.count {
            var hasher = Hasher()
            decoded(index, tape) { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
            var slot = hasher.finalize() & (slots - 1)
            while table[slot] != 0 {
                if isSame(Int(table[slot]), index, tape) { return tape.offset(of: index) }
                slot = (slot + 1) & (slots - 1)
            }
            table[slot] = UInt32(truncatingIfNeeded: index)
            index = tape.next(after: index + 1)
        }
        return nil
    }

    private func decoded<R>(
        _ index: Int, _ tape: borrowing JSONTape, _ body: (UnsafeBufferPointer<UInt8>) -> R
    ) -> R {
        let start = tape.offset(of: index) + 1
        let inside = UnsafeBufferPointer(rebasing: text[start..<start + tape.length(of: index) - 2])
        guard tape.flag(of: index) else { return body(inside) }
        var bytes: [UInt8] = []
        JSONEscape.decode(inside, into: &bytes)
        return bytes.withUnsafeBufferPointer(body)
    }
}

extension Int {
    fileprivate var nextPowerOfTwo: Int { 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount) }
}
