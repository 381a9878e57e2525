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
            && part(text, parts.created.device)
                .hasSameBytes(as: part(text, parts.modified.device))
        var shape = nameForm.rawValue << Shape.name | parentForm.rawValue << Shape.parent
        if isNew { shape |= Shape.isNew }
        if createdBy != nil { shape |= Shape.createdByDevice }
        if modifiedBy != nil, !isNew { shape |= Shape.modifiedByDevice }
        if parent != nil { shape |= Shape.hasParent }
        return row(head, .parts, shape, text) { pen in
            pen.write(name, in: nameForm)
            pen.write(parts.created.moment, users.creator, createdBy)
            if !isNew { pen.write(parts.modified.moment, users.modifier, modifiedBy) }
            if let parent { pen.write(parent, in: parentForm) }
            pen.write(counted: part(text, parts.fields))
            pen.write(part(text, parts.rest))
        }
    }

    /// The row of a deletion.
    ///
    /// - Parameter name: where the record's name stands in the text.
    static func row(
        deletion head: Head, _ text: UnsafeRawBufferPointer, _ name: Range<Int>
    ) -> [UInt8] {
        let name = part(text, name)
        let form = PackedName.form(of: name)
        return row(head, .deletion, form.rawValue << Shape.name, text) {
            $0.write(name, in: form)
        }
    }

    /// The row of a version with its whole text.
    static func row(whole head: Head, _ text: UnsafeRawBufferPointer) -> [UInt8] {
        row(head, .text, 0, text) { $0.write(text) }
    }

    private static func part(
        _ text: UnsafeRawBufferPointer, _ range: Range<Int>
    ) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: text[range]) }

    /// The name of a device; nil where it need not be kept.
    private static func device(
        _ text: UnsafeRawBufferPointer, _ stamp: RecordText.Stamp
    ) -> UnsafeRawBufferPointer? {
        let device = part(text, stamp.device)
        let plain = UnsafeRawBufferPointer(
            start: RecordText.plainDevice.utf8Start,
            count: RecordText.plainDevice.utf8CodeUnitCount)
        return device.hasSameBytes(as: plain) ? nil : device
    }

    /// More than all that a row has beside parts of its text.
    private static let frameMax = 128

    /// A row with its sum.
    ///
    /// - Parameter body: writes what stands behind the row's head: parts of the text, each once.
    private static func row(
        _ head: Head, _ format: Format, _ shape: UInt8, _ text: UnsafeRawBufferPointer,
        _ body: (inout TextPen) -> Void
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: text.count + frameMax) { bytes, count in
            guard let start = UnsafeMutableRawPointer(bytes.baseAddress) else { return }
            var pen = TextPen(start + sumCount)
            pen.write(format.rawValue)
            pen.write(UInt8(truncatingIfNeeded: head.flags.rawValue))
            pen.write(shape)
            pen.write(Int64(text.count), bytes: 4)
            // The highest byte first, so that SQL can compare it.
            pen.write(head.record.value.byteSwapped >> 16, bytes: 6)
            pen.write(number: head.type)
            body(&pen)
            count = pen.cursor - start
            let row = UnsafeRawBufferPointer(start: start, count: count)
            let sum = Self.sum(of: row, key: head.key)
            start.storeBytes(of: sum.littleEndian, as: UInt32.self)
        }
    }
}

extension TextPen {
    /// Writes the lowest bytes of a number, the lowest first; others behind them, which the next piece overwrites.
    fileprivate mutating func write(_ number: Int64, bytes count: Int) {
        cursor.storeBytes(of: number.littleEndian, as: Int64.self)
        cursor += count
    }

    /// Writes a number by seven bits to a byte, the lowest first.
    fileprivate mutating func write(number: Int64) {
        var rest = UInt64(bitPattern: number)
        while rest >= 0x80 {
            write(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        write(UInt8(rest))
    }

    /// Writes how many bytes there are, and the bytes.
    fileprivate mutating func write(counted bytes: UnsafeRawBufferPointer) {
        write(number: Int64(bytes.count))
        write(bytes)
    }

    fileprivate mutating func write(
        _ name: UnsafeRawBufferPointer, in form: PackedName.Form
    ) {
        if form == .text {
            write(counted: name)
        } else {
            PackedName.pack(uuid: name, to: cursor)
            cursor += PackedName.uuidCount
        }
    }

    /// Writes when somebody did something, who it was, and by which device if that has to be kept.
    fileprivate mutating func write(
        _ moment: Milliseconds, _ user: Int64, _ device: UnsafeRawBufferPointer?
    ) {
        write(moment, bytes: VersionRow.momentCount)
        write(number: user)
        if let device { write(counted: device) }
    }
}
