/// The index over a text: one word for a scalar, two for a container, in the order of the text.
///
/// A first word holds, from the top: kind (3 bits), a flag (1), length in bytes (30), offset in
/// the text (30). A container's second word holds the index after its last word (32) and the number
/// of its elements or members (32). An object's members are key, value, key, value.
///
/// A container that is still open has the index of the container around it where its end will be.
@usableFromInline
struct JSONTape: ~Copyable, @unchecked Sendable {
    // A document only reads it once the parser has finished with it; nothing else holds it.

    /// The longest text that 30 bits can index.
    static let textBytesMax = 1 << 30 - 1
    /// The mark of a container with nothing around it.
    static let none = Int(UInt32.max)

    @usableFromInline private(set) var words: UnsafeMutablePointer<UInt64>
    private(set) var count = 0
    private var capacity: Int

    /// What a tape of at most so many words takes, as it grows.
    static func bytesMax(forWords wordCount: Int, textBytes: Int) -> Int {
        let first = firstCapacity(forTextOf: textBytes)
        // Where the first guess is too small it is doubled, and copied from the smaller to the larger.
        let words = wordCount <= first ? first : wordCount * 3
        return words * MemoryLayout<UInt64>.stride
    }

    private static func firstCapacity(forTextOf textBytes: Int) -> Int { 16 + textBytes / 6 }

    /// - Parameter textBytes: length of the text to come, from which the first room is guessed.
    init(forTextOf textBytes: Int) {
        capacity = Self.firstCapacity(forTextOf: textBytes)
        words = .allocate(capacity: capacity)
    }

    deinit { words.deallocate() }

    @inline(__always)
    static func entry(_ kind: JSONValue.Kind, flag: Bool, offset: Int, length: Int) -> UInt64 {
        UInt64(kind.rawValue) &<< 61 | (flag ? 1 &<< 60 : 0)
            | UInt64(truncatingIfNeeded: length) &<< 30 | UInt64(truncatingIfNeeded: offset)
    }

    @inline(__always)
    mutating func append(_ word: UInt64) {
        if count == capacity { grow() }
        words[count] = word
        count &+= 1
    }

    /// Opens a container inside another and returns its index.
    @inline(__always)
    mutating func open(_ kind: JSONValue.Kind, offset: Int, inside outer: Int) -> Int {
        let index = count
        append(Self.entry(kind, flag: false, offset: offset, length: 0))
        append(UInt64(truncatingIfNeeded: outer) &<< 32)
        return index
    }

    /// Notes the number of members of an open container, to go on with it later.
    @inline(__always)
    func note(members: Int, of index: Int) {
        words[index &+ 1] = (words[index &+ 1] &>> 32) &<< 32 | UInt64(truncatingIfNeeded: members)
    }

    /// Closes a container and returns the index of the one around it.
    @inline(__always)
    func close(_ index: Int, members: Int, endOffset: Int) -> Int {
        let outer = end(of: index)
        let length = UInt64(truncatingIfNeeded: endOffset &- offset(of: index))
        words[index] |= length &<< 30
        words[index &+ 1] =
            UInt64(truncatingIfNeeded: count) &<< 32 | UInt64(truncatingIfNeeded: members)
        return outer
    }

    @inlinable @inline(__always)
    func kind(of index: Int) -> JSONValue.Kind {
        JSONValue.Kind(rawValue: UInt8(truncatingIfNeeded: words[index] &>> 61)) ?? .null
    }

    @inlinable @inline(__always)
    func flag(of index: Int) -> Bool { words[index] & (1 &<< 60) != 0 }

    @inlinable @inline(__always)
    func length(of index: Int) -> Int {
        Int(truncatingIfNeeded: (words[index] &>> 30) & 0x3FFF_FFFF)
    }

    @inlinable @inline(__always)
    func offset(of index: Int) -> Int { Int(truncatingIfNeeded: words[index] & 0x3FFF_FFFF) }

    /// Where the value's text lies.
    @inlinable @inline(__always)
    func range(of index: Int) -> Range<Int> {
        let offset = offset(of: index)
        return offset..<offset &+ length(of: index)
    }

    /// Where a string's text lies without its quotes.
    @inlinable @inline(__always)
    func inside(of index: Int) -> Range<Int> {
        let offset = offset(of: index)
        return offset &+ 1..<offset &+ length(of: index) &- 1
    }

    /// The number of a container's elements or members.
    @inlinable @inline(__always)
    func members(of index: Int) -> Int { Int(words[index &+ 1] & 0xFFFF_FFFF) }

    /// The index after a container.
    @inlinable @inline(__always)
    func end(of index: Int) -> Int { Int(truncatingIfNeeded: words[index &+ 1] &>> 32) }

    @inlinable @inline(__always)
    func isObject(_ index: Int) -> Bool { words[index] &>> 61 == 0 }

    /// Whether the value at an index has two words.
    @inlinable @inline(__always)
    func isContainer(_ index: Int) -> Bool {
        words[index] &>> 61 <= UInt64(JSONValue.Kind.array.rawValue)
    }

    /// The index after the value at an index.
    @inlinable @inline(__always)
    func next(after index: Int) -> Int { isContainer(index) ? end(of: index) : index &+ 1 }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: words, count: count)
        words.deallocate()
        words = larger
        capacity *= 2
    }
}
