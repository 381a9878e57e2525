import CloudModel
import SQLite
import Storage

/// Puts the texts of records together again from rows and names.
///
/// Confined, as its connection, to one thread at a time.
final class VersionTexts {
    let names: VersionNames
    /// Where texts are made, one for each that is looked at, the outermost first.
    private var buffers: [UnsafeMutableRawBufferPointer] = []
    /// How many texts are looked at.
    private var depth = 0

    // What the text before had, which the next mostly has too.
    private var typeNumber: Int64 = -1
    private var type: [UInt8] = []
    private var zoneNumber: Int64 = -1
    private var zone: [UInt8] = []
    private var creatorNumber: Int64 = -1
    private var creator = VersionNames.User([])
    private var modifierNumber: Int64 = -1
    private var modifier = VersionNames.User([])
    private var moment = MomentText()

    /// More than all that is the same in every text, all numbers in it, and what two packed names grow by.
    private static let frameMax = 640
    /// Up to this size, a buffer has room for texts twice as long as the one that it was made for.
    private static let roomyMax = 65_536

    init(_ connection: Connection) throws { names = try VersionNames(connection) }

    deinit { for buffer in buffers { buffer.deallocate() } }

    /// Forgets what may be another's now.
    func forget() {
        names.forget()
        (typeNumber, zoneNumber, creatorNumber, modifierNumber) = (-1, -1, -1, -1)
    }

    /// A version with its text, which stays in the texts' own memory until it has been visited.
    struct Kept {
        fileprivate let version: StoredVersion
    }

    /// Makes a version's text, or copies it.
    ///
    /// Visit what it returns before you keep another.
    ///
    /// - Throws: `DamagedRow` for a row whose text cannot be made.
    func keep(_ row: VersionRow, key: Int64) throws -> Kept {
        let version = try version(row, key)
        return row.format == .text ? keep(version) : Kept(version: version)
    }

    func keep(_ version: StoredVersion) -> Kept {
        let buffer = buffer(ofSize: version.body.count)
        buffer.copyMemory(from: version.body)
        return Kept(
            version: StoredVersion(
                record: version.record, position: version.position, type: version.type,
                flags: version.flags,
                body: UnsafeRawBufferPointer(start: buffer.baseAddress, count: version.body.count)))
    }

    func visit<Value>(
        _ kept: Kept, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value {
        depth += 1
        defer { depth -= 1 }
        return try visit(kept.version)
    }

    /// Hands the version of a row to a closure, which may read others.
    ///
    /// - Throws: `DamagedRow` for a row whose text cannot be made, and what the closure throws.
    @inline(__always)
    func withVersion<Value>(
        _ row: VersionRow, key: Int64, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value {
        let version = try version(row, key)
        depth += 1
        defer { depth -= 1 }
        return try visit(version)
    }

    @inline(__always)
    private func version(_ row: VersionRow, _ key: Int64) throws -> StoredVersion {
        let position = key & SQLiteSnapshot.positionMask
        guard row.format != .text else {
            return StoredVersion(
                record: row.record, position: position, type: row.type, flags: row.flags,
                body: UnsafeRawBufferPointer(rebasing: row.bytes[row.rest]))
        }
        try prepare(row, zone: key >> SQLiteSnapshot.positionBits)
        let buffer = buffer(ofSize: sizeMax(row))
        guard let start = buffer.baseAddress else { throw DamagedRow() }
        var authors: StoredVersion.Authors?
        let end =
            row.format == .parts
            ? write(row, position, from: start, &authors) : writeDeletion(row, from: start)
        guard end - start == row.textCount else { throw DamagedRow() }
        return StoredVersion(
            record: row.record, position: position, type: row.type, flags: row.flags,
            body: UnsafeRawBufferPointer(start: start, count: row.textCount), authors: authors)
    }

    /// Whether a row of some bytes may stand for a text of so many.
    static func mayHold(_ textCount: Int, inRowOf count: Int) -> Bool {
        textCount <= count + 4 * frameMax
    }

    /// Reads the names that a text needs.
    @inline(__always)
    private func prepare(_ row: VersionRow, zone number: Int64) throws {
        if row.type != typeNumber {
            guard let name = try names.type(row.type) else { throw DamagedRow() }
            (type, typeNumber) = (name, row.type)
        }
        if number != zoneNumber {
            guard let object = try names.zone(number) else { throw DamagedRow() }
            (zone, zoneNumber) = (object, number)
        }
        guard row.format == .parts else { return }
        if row.created.user != creatorNumber {
            (creator, creatorNumber) = (try names.user(row.created.user), row.created.user)
        }
        if row.modified.user != modifierNumber {
            (modifier, modifierNumber) = (try names.user(row.modified.user), row.modified.user)
        }
    }

    @inline(__always)
    private func sizeMax(_ row: VersionRow) -> Int {
        row.bytes.count + type.count + zone.count + creator.madeIt.count + modifier.savedIt.count
            + Self.frameMax
    }

    @inline(__always)
    private func buffer(ofSize size: Int) -> UnsafeMutableRawBufferPointer {
        if depth < buffers.count, buffers[depth].count >= size { return buffers[depth] }
        return grownBuffer(size)
    }

    private func grownBuffer(_ size: Int) -> UnsafeMutableRawBufferPointer {
        let made = UnsafeMutableRawBufferPointer.allocate(
            byteCount: size < Self.roomyMax ? 2 * size : size, alignment: 16)
        if depth < buffers.count {
            buffers[depth].deallocate()
            buffers[depth] = made
        } else {
            buffers.append(made)
        }
        return made
    }

    /// - Returns: the place after the text.
    @inline(__always)
    private func write(
        _ row: VersionRow, _ position: Position, from start: UnsafeMutableRawPointer,
        _ authors: inout StoredVersion.Authors?
    ) -> UnsafeMutableRawPointer {
        var pen = TextPen(start)
        pen.write(RecordText.beforeName)
        pen.place = row.name.write(from: row.bytes, to: pen.place)
        pen.write(RecordText.beforeType)
        pen.write(type)
        pen.write(RecordText.beforeFields)
        pen.write(row.bytes, row.fields)
        pen.write(RecordText.beforeTag)
        pen.writeTag(position)
        pen.write(RecordText.beforeCreated)
        pen.place = moment.write(row.created.moment, to: pen.place)
        let creator = stamp(
            row, row.created, self.creator, self.creator.madeIt, RecordText.beforeModified, &pen)
        pen.place = moment.write(row.modified.moment, to: pen.place)
        let modifier = stamp(
            row, row.modified, self.modifier, self.modifier.savedIt, RecordText.beforeZone, &pen)
        pen.write(zone)
        if let parent = row.parent {
            pen.write(RecordText.beforeParent)
            pen.place = parent.write(from: row.bytes, to: pen.place)
            pen.write(RecordText.afterParent)
        }
        pen.write(row.bytes, row.rest)
        pen.write(RecordText.end)
        let (first, second) = (creator - start, modifier - start)
        authors = StoredVersion.Authors(
            creator: first..<first + self.creator.name.count,
            modifier: second..<second + self.modifier.name.count)
        return pen.place
    }

    /// Writes from a moment to what follows the device.
    ///
    /// - Returns: where the user's name stands.
    @inline(__always)
    private func stamp(
        _ row: VersionRow, _ stamp: VersionRow.Stamp, _ user: VersionNames.User,
        _ plain: [UInt8], _ end: StaticString, _ pen: inout TextPen
    ) -> UnsafeMutableRawPointer {
        let name = pen.place + RecordText.beforeUser.utf8CodeUnitCount
        if stamp.device.isEmpty {
            pen.write(plain)
        } else {
            pen.write(RecordText.beforeUser)
            pen.write(user.name)
            pen.write(RecordText.beforeDevice)
            pen.write(row.bytes, stamp.device)
            pen.write(end)
        }
        return name
    }

    private func writeDeletion(
        _ row: VersionRow, from start: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        var pen = TextPen(start)
        pen.write(RecordText.beforeName)
        pen.place = row.name.write(from: row.bytes, to: pen.place)
        pen.write(RecordText.beforeDeletedZone)
        pen.write(zone)
        pen.write(RecordText.beforeDeletedType)
        pen.write(type)
        pen.write(RecordText.afterDeletedType)
        return pen.place
    }
}
