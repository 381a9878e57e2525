import CloudModel
import Storage

extension VersionRow {
    /// What a row says of a version beside its text.
    struct Head {
        let key: Int64
        let record: RecordNumber
        let type: Int64
        let flags: VersionFlags
    }

    /// The users of a record by their numbers.
    struct Users {
        let creator: Int64
        let modifier: Int64
    }

    /// The row of a living record that was taken apart.
    static func row(
        _ head: Head, _ text: UnsafeRawBufferPointer, _ parts: RecordText, _ users: Users
    ) -> [UInt8] {
        let name = part(text, parts.name)
        let parent = parts.parent.map { part(text, $0) }
        let nameForm = PackedName.form(of: name)
        let parentForm = parent.map { PackedName.form(of: $0) } ?? .text
        let (createdBy, modifiedBy) = (
            device(text, parts.created), device(text, parts.modified)
        )
        let isNew =
            users.creator == users.modifier && parts.created.moment == parts.modified.moment
            && part(text, parts.created.device).elementsEqual(part(text, parts.modified.device))
        var shape = nameForm.rawValue << Shape.name | parentForm.rawValue << Shape.parent
        if isNew { shape |= Shape.isNew }
        if createdBy != nil { shape |= Shape.createdByDevice }
        if modifiedBy != nil, !isNew { shape |= Shape.modifiedByDevice }
        if parent != nil { shape |= Shape.hasParent }
        var row = begin(head, .parts, shape, text)
        append(name, nameForm, to: &row)
        append(parts.created, users.creator, createdBy, to: &row)
        if !isNew { append(parts.modified, users.modifier, modifiedBy, to: &row) }
        if let parent { append(parent, parentForm, to: &row) }
        append(bytes: part(text, parts.fields), to: &row)
        row.append(contentsOf: part(text, parts.rest))
        return sealed(row, head.key)
    }

    /// The row of a deletion.
    ///
    /// - Parameter name: where the record's name stands in the text.
    static func row(
        deletion head: Head, _ text: UnsafeRawBufferPointer, _ name: Range<Int>
    ) -> [UInt8] {
        let name = part(text, name)
        let form = PackedName.form(of: name)
        var row = begin(head, .deletion, form.rawValue << Shape.name, text)
        append(name, form, to: &row)
        return sealed(row, head.key)
    }

    /// The row of a version with its whole text.
    static func row(whole head: Head, _ text: UnsafeRawBufferPointer) -> [UInt8] {
        var row = begin(head, .text, 0, text)
        row.append(contentsOf: text)
        return sealed(row, head.key)
    }

    private static func part(
        _ text: UnsafeRawBufferPointer, _ range: Range<Int>
    ) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: text[range]) }

    /// The name of a device; nil where it need not be kept.
    private static func device(
        _ text: UnsafeRawBufferPointer, _ stamp: RecordText.Stamp
    ) -> UnsafeRawBufferPointer? {
        let device = part(text, stamp.device)
        let plain = UnsafeBufferPointer(
            start: RecordText.plainDevice.utf8Start,
            count: RecordText.plainDevice.utf8CodeUnitCount)
        return device.elementsEqual(plain) ? nil : device
    }

    private static func begin(
        _ head: Head, _ format: Format, _ shape: UInt8, _ text: UnsafeRawBufferPointer
    ) -> [UInt8] {
        var row: [UInt8] = []
        row.reserveCapacity(headCount + text.count + 16)
        row.append(contentsOf: [
            0, 0, 0, 0, format.rawValue, UInt8(truncatingIfNeeded: head.flags.rawValue), shape,
        ])
        appendLittle(Int64(text.count), count: 4, to: &row)
        row.append(contentsOf: recordBytes(head.record))
        append(number: head.type, to: &row)
        return row
    }

    /// With the sum in its place.
    private static func sealed(_ row: consuming [UInt8], _ key: Int64) -> [UInt8] {
        let sum = row.withUnsafeBytes { Self.sum(of: $0, key: key) }
        for index in 0..<4 { row[index] = UInt8(truncatingIfNeeded: sum >> (8 * UInt32(index))) }
        return row
    }

    private static func append(
        _ stamp: RecordText.Stamp, _ user: Int64, _ device: UnsafeRawBufferPointer?,
        to row: inout [UInt8]
    ) {
        appendLittle(stamp.moment, count: 6, to: &row)
        append(number: user, to: &row)
        if let device { append(bytes: device, to: &row) }
    }

    private static func append(
        _ name: UnsafeRawBufferPointer, _ form: PackedName.Form, to row: inout [UInt8]
    ) {
        if form == .text {
            append(bytes: name, to: &row)
        } else {
            PackedName.appendUUID(name, to: &row)
        }
    }

    private static func append(bytes: UnsafeRawBufferPointer, to row: inout [UInt8]) {
        append(number: Int64(bytes.count), to: &row)
        row.append(contentsOf: bytes)
    }

    /// Seven bits to a byte, the lowest first.
    private static func append(number: Int64, to row: inout [UInt8]) {
        var rest = UInt64(bitPattern: number)
        while rest >= 0x80 {
            row.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        row.append(UInt8(rest))
    }

    private static func appendLittle(_ number: Int64, count: Int, to row: inout [UInt8]) {
        for index in 0..<count {
            row.append(UInt8(truncatingIfNeeded: number >> (8 * Int64(index))))
        }
    }
}
