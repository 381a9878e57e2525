/// Finds a key that an object has twice, comparing keys as decoded.
///
/// In small objects it compares short prints of the keys pairwise. Large ones go through a table of
/// seeded hashes. So the time stays in proportion to the text, whatever the keys are.
struct JSONKeyCheck {
    /// Up to so many members are compared pairwise.
    static let pairwiseMax = 16

    private let text: UnsafeBufferPointer<UInt8>

    init(text: UnsafeBufferPointer<UInt8>) { self.text = text }

    /// The offset of the first key that repeats an earlier one of the same object.
    ///
    /// - Parameter object: the index of an object whose members are all on the tape, as its last.
    @inline(__always)
    func repeatedKey(of object: Int, members count: Int, _ tape: borrowing JSONTape) -> Int? {
        if count < 2 { return nil }
        if count == 2 {
            // The most frequent object is a field's value and type.
            let first = object &+ 2
            let second = tape.next(after: first &+ 1)
            if !tape.flag(of: first), !tape.flag(of: second),
                tape.length(of: first) != tape.length(of: second)
            {
                return nil
            }
        }
        return count > Self.pairwiseMax
            ? inTable(object, count, tape) : inPairs(object, count, tape)
    }

    private func inPairs(_ object: Int, _ count: Int, _ tape: borrowing JSONTape) -> Int? {
        return withUnsafeTemporaryAllocation(of: (UInt64, Int).self, capacity: count) { seen in
            var key = object &+ 2
            for position in 0..<count {
                let print = print(of: key, tape)
                for earlier in 0..<position where seen[earlier].0 == print {
                    if isSame(seen[earlier].1, key, tape) { return tape.offset(of: key) }
                }
                seen.initializeElement(at: position, to: (print, key))
                key = tape.next(after: key &+ 1)
            }
            return nil
        }
    }

    /// Length and first bytes of a key: equal for equal keys.
    @inline(__always)
    private func print(of key: Int, _ tape: borrowing JSONTape) -> UInt64 {
        let start = tape.offset(of: key) &+ 1
        let length = tape.length(of: key) &- 2
        // A key may stand so near the end of the text that no whole word can be read.
        guard !tape.flag(of: key), start &+ 8 <= text.count, let base = text.baseAddress else {
            return decoded(key, tape) { key in
                key.prefix(7).reversed().reduce(0) { $0 &<< 8 | UInt64($1) } &<< 8
                    | UInt64(key.count & 0xFF)
            }
        }
        let word = UnsafeRawPointer(base + start).loadUnaligned(as: UInt64.self)
        let unused = UInt64(truncatingIfNeeded: 56 &- 8 &* min(length, 7))
        return ((UInt64(littleEndian: word) &<< 8) &<< unused) &>> unused
            | UInt64(truncatingIfNeeded: length & 0xFF)
    }

    private func isSame(_ one: Int, _ other: Int, _ tape: borrowing JSONTape) -> Bool {
        decoded(one, tape) { first in
            decoded(other, tape) { second in first.elementsEqual(second) }
        }
    }

    private func inTable(_ object: Int, _ count: Int, _ tape: borrowing JSONTape) -> Int? {
        let slots = (count * 2).nextPowerOfTwo
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
