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
        /// The device's name; empty where it is `iCloud`.
        let device: UnsafeRawBufferPointer
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
    static let sumCount = 4
    static let momentCount = 6

    /// How many bytes the row has.
    let count: Int
    let format: Format
    let flags: VersionFlags
    let record: RecordNumber
    let type: Int64
    /// How many bytes the record's text has, and how many it counts towards its owner's.
    let textCount: Int
    private(set) var name = PackedName(form: .text, bytes: Self.nothing)
    private(set) var created = Stamp(moment: 0, user: 0, device: Self.nothing)
    private(set) var modified = Stamp(moment: 0, user: 0, device: Self.nothing)
    private(set) var fields = Self.nothing
    private(set) var parent: PackedName?
    /// Of a record that is taken apart what stands behind its parent; else the whole text.
    private(set) var rest = Self.nothing

    fileprivate static var nothing: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// - Throws: `DamagedRow` for bytes that are not what was written under the key.
    init(_ bytes: UnsafeRawBufferPointer, key: Int64) throws(DamagedRow) {
        guard bytes.count >= Self.headCount,
            bytes.loadUnaligned(as: UInt32.self).littleEndian == Self.sum(of: bytes, key: key)
        else { throw DamagedRow() }
        try self.init(reading: bytes)
    }

    /// Reads a row without its sum; any bytes are harmless.
    @inline(__always)
    init(reading bytes: UnsafeRawBufferPointer) throws(DamagedRow) {
        guard bytes.count >= Self.headCount, let start = bytes.baseAddress,
            let format = Format(rawValue: start.load(fromByteOffset: 4, as: UInt8.self))
        else { throw DamagedRow() }
        count = bytes.count
        self.format = format
        flags = VersionFlags(rawValue: Int64(start.load(fromByteOffset: 5, as: UInt8.self)))
        let shape = start.load(fromByteOffset: 6, as: UInt8.self)
        textCount = Self.textCount(of: bytes)
        record = RecordNumber(Self.record(of: start))
        var walk = RowWalk(from: start + Self.headCount, to: start + bytes.count)
        type = walk.number()
        switch format {
        case .deletion: name = walk.name(PackedName.Form(bits: shape >> Shape.name))
        case .text: rest = walk.rest
        case .parts:
            name = walk.name(PackedName.Form(bits: shape >> Shape.name))
            created = walk.stamp(hasDevice: shape & Shape.createdByDevice != 0)
            modified =
                shape & Shape.isNew != 0
                ? created : walk.stamp(hasDevice: shape & Shape.modifiedByDevice != 0)
            if shape & Shape.hasParent != 0 {
                parent = walk.name(PackedName.Form(bits: shape >> Shape.parent))
            }
            fields = walk.counted()
            rest = walk.rest
        }
        guard walk.isGood else { throw DamagedRow() }
    }

    /// What a row says of its text's length, also where the rest of it is damaged.
    static func textCount(of bytes: UnsafeRawBufferPointer) -> Int {
        guard bytes.count >= headCount else { return 0 }
        return Int(bytes.loadUnaligned(fromByteOffset: 7, as: UInt32.self).littleEndian)
    }

    /// What a row says of its record.
    private static func record(of row: UnsafeRawPointer) -> Int64 {
        let high = Int64(row.loadUnaligned(fromByteOffset: 11, as: UInt32.self).bigEndian)
        let low = Int64(row.loadUnaligned(fromByteOffset: 15, as: UInt16.self).bigEndian)
        return high << 16 | low
    }

    /// The record's number as rows hold it, so that SQL can compare it.
    static func recordBytes(_ record: RecordNumber) -> [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: record.value >> (40 - 8 * Int64($0))) }
    }

    /// An SQL expression: the record's number in a row, as `recordBytes` has it.
    static let recordSQL = "substr(content, 12, 6)"

    static func sum(of bytes: UnsafeRawBufferPointer, key: Int64) -> UInt32 {
        checksum_crc32c_numbered(
            UInt64(bitPattern: key), bytes.baseAddress.map { $0 + sumCount }, bytes.count - sumCount
        )
    }
}

/// A row that is not what was written.
struct DamagedRow: Error {}

/// Goes along a row; behind its end everything is nothing.
private struct RowWalk {
    private var cursor: UnsafeRawPointer
    private let end: UnsafeRawPointer
    private(set) var isGood = true

    @inline(__always)
    init(from cursor: UnsafeRawPointer, to end: UnsafeRawPointer) {
        self.cursor = cursor
        self.end = end
    }

    /// All that has not been passed.
    @inline(__always)
    var rest: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: cursor, count: end - cursor) }

    @inline(__always)
    mutating func number() -> Int64 {
        guard cursor < end else {
            isGood = false
            return 0
        }
        let first = cursor.load(as: UInt8.self)
        cursor += 1
        return first < 0x80 ? Int64(first) : longNumber(first)
    }

    private mutating func longNumber(_ first: UInt8) -> Int64 {
        var value = Int64(first & 0x7F)
        var shift: Int64 = 7
        while cursor < end, shift < 63 {
            let byte = cursor.load(as: UInt8.self)
            cursor += 1
            value |= Int64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        isGood = false
        return 0
    }

    /// A number, and so many bytes.
    @inline(__always)
    mutating func counted() -> UnsafeRawBufferPointer { take(Int(clamping: number())) }

    @inline(__always)
    mutating func take(_ count: Int) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= end - cursor else {
            isGood = false
            return VersionRow.nothing
        }
        let taken = UnsafeRawBufferPointer(start: cursor, count: count)
        cursor += count
        return taken
    }

    @inline(__always)
    mutating func name(_ form: PackedName.Form) -> PackedName {
        PackedName(form: form, bytes: form == .text ? counted() : take(PackedName.uuidCount))
    }

    @inline(__always)
    mutating func stamp(hasDevice: Bool) -> VersionRow.Stamp {
        guard let start = take(VersionRow.momentCount).baseAddress else {
            return VersionRow.Stamp(moment: 0, user: 0, device: VersionRow.nothing)
        }
        let low = start.loadUnaligned(as: UInt32.self)
        let high = start.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
        let moment = Milliseconds(low.littleEndian) | Milliseconds(high.littleEndian) << 32
        let user = number()
        return VersionRow.Stamp(
            moment: moment, user: user, device: hasDevice ? counted() : VersionRow.nothing)
    }
}
