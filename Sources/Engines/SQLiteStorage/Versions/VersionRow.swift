import CChecksum
import CloudModel
import Storage

/// A version as a row of `version_rows` holds it (docs/design/version-rows.md), read where it lies.
///
/// What it reads is valid only as long as the row's bytes are.
struct VersionRow {
    /// How a row is to be read.
    enum Format: UInt8 {
        /// A living record, taken apart.
        case parts = 1
        /// A deletion of which the name alone is kept.
        case deletion = 2
        /// The record's text, as it stands in answers.
        case text = 3
    }

    /// Who did something, by their number, when, and by which device.
    struct Stamp {
        let moment: Milliseconds
        let user: Int64
        /// Where the device's name lies; empty where it is `iCloud`.
        let device: Range<Int>
    }

    /// Bits of a row's shape.
    ///
    /// Those of the name and of the parent are a `PackedName.Form` each.
    enum Shape {
        static let name: UInt8 = 0
        /// Who made the record saved it last, at the same time and by the same device.
        static let isNew: UInt8 = 4
        static let createdByDevice: UInt8 = 8
        static let modifiedByDevice: UInt8 = 16
        static let hasParent: UInt8 = 32
        static let parent: UInt8 = 6
    }

    /// The bytes in front of what varies in length.
    static let headCount = 17
    private static let momentCount = 6

    let bytes: UnsafeRawBufferPointer
    let format: Format
    let flags: VersionFlags
    let record: RecordNumber
    let type: Int64
    /// How many bytes the record's text has, and how many it counts towards its owner's.
    let textCount: Int
    private(set) var name = PackedName(form: .text, range: 0..<0)
    private(set) var created = Stamp(moment: 0, user: 0, device: 0..<0)
    private(set) var modified = Stamp(moment: 0, user: 0, device: 0..<0)
    private(set) var fields = 0..<0
    private(set) var parent: PackedName?
    /// Of a record that is taken apart what stands behind its parent; else the whole text.
    private(set) var rest = 0..<0

    /// - Throws: `DamagedRow` for bytes that are not what was written under the key.
    init(_ bytes: UnsafeRawBufferPointer, key: Int64) throws(DamagedRow) {
        guard bytes.count >= Self.headCount,
            bytes.loadUnaligned(as: UInt32.self).littleEndian == Self.sum(of: bytes, key: key)
        else { throw DamagedRow() }
        try self.init(reading: bytes)
    }

    /// Reads a row without its sum; any bytes are harmless.
    init(reading bytes: UnsafeRawBufferPointer) throws(DamagedRow) {
        guard bytes.count >= Self.headCount, let format = Format(rawValue: bytes[4]) else {
            throw DamagedRow()
        }
        self.bytes = bytes
        self.format = format
        flags = VersionFlags(rawValue: Int64(bytes[5]))
        let shape = bytes[6]
        textCount = Self.textCount(of: bytes)
        record = RecordNumber(Self.record(of: bytes))
        var walk = RowWalk(bytes, from: Self.headCount)
        type = walk.number()
        switch format {
        case .deletion: name = walk.name(PackedName.Form(bits: shape >> Shape.name))
        case .text: rest = walk.place..<bytes.count
        case .parts:
            name = walk.name(PackedName.Form(bits: shape >> Shape.name))
            created = walk.stamp(hasDevice: shape & Shape.createdByDevice != 0)
            modified =
                shape & Shape.isNew != 0
                ? created : walk.stamp(hasDevice: shape & Shape.modifiedByDevice != 0)
            if shape & Shape.hasParent != 0 {
                parent = walk.name(PackedName.Form(bits: shape >> Shape.parent))
            }
            fields = walk.range()
            rest = walk.place..<max(walk.place, bytes.count)
        }
        guard walk.isGood else { throw DamagedRow() }
    }

    /// What a row says of its text's length, also where the rest of it is damaged.
    static func textCount(of bytes: UnsafeRawBufferPointer) -> Int {
        guard bytes.count >= headCount else { return 0 }
        return Int(bytes.loadUnaligned(fromByteOffset: 7, as: UInt32.self).littleEndian)
    }

    /// What a row says of its record.
    private static func record(of bytes: UnsafeRawBufferPointer) -> Int64 {
        let high = Int64(bytes.loadUnaligned(fromByteOffset: 11, as: UInt32.self).bigEndian)
        let low = Int64(bytes.loadUnaligned(fromByteOffset: 15, as: UInt16.self).bigEndian)
        return high << 16 | low
    }

    /// The record's number as rows hold it, so that SQL can compare it.
    static func recordBytes(_ record: RecordNumber) -> [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: record.value >> (40 - 8 * Int64($0))) }
    }

    /// An SQL expression: the record's number in a row, as `recordBytes` has it.
    static let recordSQL = "substr(content, 12, 6)"

    static func sum(of bytes: UnsafeRawBufferPointer, key: Int64) -> UInt32 {
        let key = withUnsafeBytes(of: key.littleEndian) {
            checksum_crc32c(0, $0.baseAddress, $0.count)
        }
        return checksum_crc32c(key, bytes.baseAddress.map { $0 + 4 }, bytes.count - 4)
    }
}

/// A row that is not what was written.
struct DamagedRow: Error {}

/// Goes along a row; behind its end everything is nothing.
private struct RowWalk {
    private let bytes: UnsafeRawBufferPointer
    private(set) var place: Int
    private(set) var isGood = true

    @inline(__always)
    init(_ bytes: UnsafeRawBufferPointer, from place: Int) {
        self.bytes = bytes
        self.place = place
    }

    @inline(__always)
    mutating func number() -> Int64 {
        guard place < bytes.count else {
            isGood = false
            return 0
        }
        let first = bytes[place]
        place += 1
        return first < 0x80 ? Int64(first) : longNumber(first)
    }

    private mutating func longNumber(_ first: UInt8) -> Int64 {
        var value = Int64(first & 0x7F)
        var shift: Int64 = 7
        while place < bytes.count, shift < 63 {
            let byte = bytes[place]
            place += 1
            value |= Int64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        isGood = false
        return 0
    }

    @inline(__always)
    mutating func range() -> Range<Int> {
        let count = number()
        return take(count < Int64(bytes.count) ? Int(count) : bytes.count + 1)
    }

    @inline(__always)
    mutating func take(_ count: Int) -> Range<Int> {
        let start = place
        guard count >= 0, count <= bytes.count - start else {
            isGood = false
            return start..<start
        }
        place = start + count
        return start..<place
    }

    @inline(__always)
    mutating func name(_ form: PackedName.Form) -> PackedName {
        PackedName(form: form, range: form == .text ? range() : take(PackedName.uuidCount))
    }

    @inline(__always)
    mutating func stamp(hasDevice: Bool) -> VersionRow.Stamp {
        let range = take(6)
        guard isGood else { return VersionRow.Stamp(moment: 0, user: 0, device: 0..<0) }
        let low = bytes.loadUnaligned(fromByteOffset: range.lowerBound, as: UInt32.self)
        let high = bytes.loadUnaligned(fromByteOffset: range.lowerBound + 4, as: UInt16.self)
        let moment = Milliseconds(low.littleEndian) | Milliseconds(high.littleEndian) << 32
        let user = number()
        return VersionRow.Stamp(
            moment: moment, user: user, device: hasDevice ? self.range() : place..<place)
    }
}
