/// A name as version rows keep it: a canonical UUID in 16 bytes, anything else as it is.
struct PackedName {
    enum Form: UInt8 {
        case text = 0
        /// A UUID in lower-case letters, or without letters.
        case lowerUUID = 1
        case upperUUID = 3

        /// The bits of the form in a row's shape.
        init(bits: UInt8) { self = bits & 1 == 0 ? .text : bits & 2 == 0 ? .lowerUUID : .upperUUID }
    }

    static let uuidCount = 16
    /// A UUID's characters, its four dashes included.
    static let uuidTextCount = 36

    let form: Form
    /// Of a row: the 16 bytes of a UUID, or the name's characters.
    let bytes: UnsafeRawBufferPointer

    /// How many characters the name has.
    var textCount: Int { form == .text ? bytes.count : Self.uuidTextCount }

    /// Whether it stands for a name, which is not packed and has nothing escaped.
    ///
    /// - Returns: false also for a name that a row can only hold with something escaped.
    func isName(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count == textCount, !text.contains(UInt8(ascii: "\\")) else { return false }
        guard form != .text else { return bytes.hasSameBytes(as: text) }
        return withUnsafeTemporaryAllocation(byteCount: Self.uuidTextCount, alignment: 1) {
            guard let start = $0.baseAddress else { return false }
            _ = write(to: start)
            return UnsafeRawBufferPointer($0).hasSameBytes(as: text)
        }
    }

    // MARK: - Packing

    /// Which form a name takes.
    static func form(of text: UnsafeRawBufferPointer) -> Form {
        guard text.count == uuidTextCount else { return .text }
        var (hasLower, hasUpper) = (false, false)
        for (index, byte) in text.enumerated() {
            if index == 8 || index == 13 || index == 18 || index == 23 {
                guard byte == UInt8(ascii: "-") else { return .text }
                continue
            }
            switch byte {
            case 0x30...0x39: break
            case 0x61...0x66: hasLower = true
            case 0x41...0x46: hasUpper = true
            default: return .text
            }
        }
        return hasLower && hasUpper ? .text : hasUpper ? .upperUUID : .lowerUUID
    }

    /// Writes the 16 bytes of a UUID.
    ///
    /// - Parameter text: has the form of one.
    static func pack(uuid text: UnsafeRawBufferPointer, to cursor: UnsafeMutableRawPointer) {
        var cursor = cursor
        var high: UInt8?
        for byte in text where byte != UInt8(ascii: "-") {
            let digit = byte < 0x40 ? byte - 0x30 : (byte | 0x20) - 0x61 + 10
            if let first = high {
                cursor.storeBytes(of: first << 4 | digit, as: UInt8.self)
                cursor += 1
                high = nil
            } else {
                high = digit
            }
        }
    }

    // MARK: - Unpacking

    /// Writes the name's characters.
    ///
    /// - Returns: the place after them.
    @inline(__always)
    func write(to cursor: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        guard let packed = bytes.baseAddress else { return cursor }
        guard form != .text else {
            cursor.copyMemory(from: packed, byteCount: bytes.count)
            return cursor + bytes.count
        }
        let letters: UInt64 = form == .upperUUID ? 0x07 : 0x27
        // Eight digits at a time: of the 16 packed bytes four by four, with the dashes between.
        let first = Self.digits(packed.loadUnaligned(as: UInt32.self), letters)
        let second = Self.digits(
            (packed + 4).loadUnaligned(as: UInt32.self), letters)
        let third = Self.digits((packed + 8).loadUnaligned(as: UInt32.self), letters)
        let fourth = Self.digits((packed + 12).loadUnaligned(as: UInt32.self), letters)
        let dash = UInt8(ascii: "-")
        cursor.storeBytes(of: first, as: UInt64.self)
        cursor.storeBytes(of: dash, toByteOffset: 8, as: UInt8.self)
        cursor.storeBytes(
            of: UInt32(truncatingIfNeeded: second), toByteOffset: 9, as: UInt32.self)
        cursor.storeBytes(of: dash, toByteOffset: 13, as: UInt8.self)
        cursor.storeBytes(
            of: UInt32(truncatingIfNeeded: second >> 32), toByteOffset: 14, as: UInt32.self)
        cursor.storeBytes(of: dash, toByteOffset: 18, as: UInt8.self)
        cursor.storeBytes(
            of: UInt32(truncatingIfNeeded: third), toByteOffset: 19, as: UInt32.self)
        cursor.storeBytes(of: dash, toByteOffset: 23, as: UInt8.self)
        cursor.storeBytes(
            of: UInt32(truncatingIfNeeded: third >> 32), toByteOffset: 24, as: UInt32.self)
        cursor.storeBytes(of: fourth, toByteOffset: 28, as: UInt64.self)
        return cursor + Self.uuidTextCount
    }

    /// The eight hex digits of four bytes, the first in the lowest byte of both.
    ///
    /// - Parameter letters: how far letters stand behind the digits.
    @inline(__always)
    private static func digits(_ packed: UInt32, _ letters: UInt64) -> UInt64 {
        // Spreads the bytes out, each to two, then each half byte to a byte of its own.
        var wide = UInt64(UInt32(littleEndian: packed))
        wide = (wide | wide << 16) & 0x0000_FFFF_0000_FFFF
        wide = (wide | wide << 8) & 0x00FF_00FF_00FF_00FF
        let halves = (wide >> 4 & 0x000F_000F_000F_000F) | (wide & 0x000F_000F_000F_000F) << 8
        // 1 in each byte that is a letter: 10 to 15 plus 6 carry into the fifth bit.
        let isLetter = (halves &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (halves &+ 0x3030_3030_3030_3030 &+ isLetter &* letters).littleEndian
    }
}
