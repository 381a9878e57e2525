import CloudModel
import SQLite
import Storage

/// Puts the texts of records together again from rows and names.
///
/// Confined, as its connection, to one thread at a time.
final class VersionTexts {
    let names: VersionNames
    /// What changes from text to text.
    ///
    /// Swift looks at each access to a property of a class whether another overlaps it. For pages full of
    /// records that was a tenth of the work, so this stands outside of the class.
    private let desk: UnsafeMutablePointer<Desk>

    /// More than all that is the same in every text, all numbers in it, what two packed names grow by, and
    /// what a pen writes behind a piece.
    private static let frameMax = 640
    /// Up to this size, a buffer has room for texts twice as long as the one that it was made for.
    private static let roomyMax = 65_536

    /// Where texts are made.
    private struct Desk {
        /// One for each text that is looked at, the outermost first.
        var buffers: [UnsafeMutableRawBufferPointer] = []
        /// How many texts are looked at.
        var depth = 0

        // What the text before had, which the next mostly has too.
        var type = VersionNames.Named([], [])
        var typeNumber: Int64 = -1
        var zone = VersionNames.Named([], [])
        var zoneNumber: Int64 = -1
        var creator = VersionNames.User([])
        var creatorNumber: Int64 = -1
        var modifier = VersionNames.User([])
        var modifierNumber: Int64 = -1
        var moment = MomentText()
    }

    private let beforeName = TextPiece(RecordText.beforeName)
    private let beforeTag = TextPiece(RecordText.beforeTag)
    private let beforeCreated = TextPiece(RecordText.beforeCreated)
    private let beforeUserCount = RecordText.beforeUser.utf8CodeUnitCount

    init(_ connection: Connection) throws {
        names = try VersionNames(connection)
        desk = .allocate(capacity: 1)
        desk.initialize(to: Desk())
    }

    deinit {
        for piece in [beforeName, beforeTag, beforeCreated] { piece.deallocate() }
        for buffer in desk.pointee.buffers { buffer.deallocate() }
        desk.deinitialize(count: 1)
        desk.deallocate()
    }

    /// Forgets what may be another's now.
    func forget() {
        names.forget()
        desk.pointee.typeNumber = -1
        desk.pointee.zoneNumber = -1
        desk.pointee.creatorNumber = -1
        desk.pointee.modifierNumber = -1
    }

    /// A version with its text, which stays in the texts' own memory until it has been visited.
    struct HeldVersion {
        fileprivate let version: StoredVersion
    }

    /// Makes a version's text, or copies it.
    ///
    /// Visit what it returns before you keep another.
    ///
    /// - Throws: `DamagedRow` for a row whose text cannot be made.
    func keep(_ row: VersionRow, key: Int64) throws -> HeldVersion {
        let version = try version(row, key)
        return row.format == .text ? keep(version) : HeldVersion(version: version)
    }

    func keep(_ version: StoredVersion) -> HeldVersion {
        let buffer = buffer(ofSize: version.body.count)
        buffer.copyMemory(from: version.body)
        return HeldVersion(
            version: StoredVersion(
                record: version.record, position: version.position, type: version.type,
                flags: version.flags,
                body: UnsafeRawBufferPointer(start: buffer.baseAddress, count: version.body.count)))
    }

    func visit<Value>(
        _ kept: HeldVersion, _ visit: (StoredVersion) throws -> Value
    ) throws -> Value {
        desk.pointee.depth += 1
        defer { desk.pointee.depth -= 1 }
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
        desk.pointee.depth += 1
        defer { desk.pointee.depth -= 1 }
        return try visit(version)
    }

    @inline(__always)
    private func version(_ row: VersionRow, _ key: Int64) throws -> StoredVersion {
        let position = key & SQLiteSnapshot.positionMask
        guard row.format != .text else {
            return StoredVersion(
                record: row.record, position: position, type: row.type, flags: row.flags,
                body: row.rest)
        }
        try prepare(row, zone: key >> SQLiteSnapshot.positionBits)
        let buffer = buffer(ofSize: sizeMax(row))
        guard let start = buffer.baseAddress else { throw DamagedRow() }
        var ranges: StoredVersion.Ranges?
        let end =
            row.format == .parts
            ? write(row, position, from: start, &ranges) : writeDeletion(row, from: start)
        guard end - start == row.textCount else { throw DamagedRow() }
        return StoredVersion(
            record: row.record, position: position, type: row.type, flags: row.flags,
            body: UnsafeRawBufferPointer(start: start, count: row.textCount), ranges: ranges)
    }

    /// Whether a row of some bytes may stand for a text of so many.
    static func mayHold(_ textCount: Int, inRowOf count: Int) -> Bool {
        textCount <= count + 4 * frameMax
    }

    /// Reads the names that a text needs.
    @inline(__always)
    private func prepare(_ row: VersionRow, zone number: Int64) throws {
        if row.type != desk.pointee.typeNumber {
            guard let type = try names.namedType(row.type) else { throw DamagedRow() }
            (desk.pointee.type, desk.pointee.typeNumber) = (type, row.type)
        }
        if number != desk.pointee.zoneNumber {
            guard let zone = try names.namedZone(number) else { throw DamagedRow() }
            (desk.pointee.zone, desk.pointee.zoneNumber) = (zone, number)
        }
        guard row.format == .parts else { return }
        if row.created.user != desk.pointee.creatorNumber {
            desk.pointee.creator = try names.user(row.created.user)
            desk.pointee.creatorNumber = row.created.user
        }
        if row.modified.user != desk.pointee.modifierNumber {
            desk.pointee.modifier = try names.user(row.modified.user)
            desk.pointee.modifierNumber = row.modified.user
        }
    }

    @inline(__always)
    private func sizeMax(_ row: VersionRow) -> Int {
        row.count + desk.pointee.type.piece.count + desk.pointee.zone.piece.count
            + desk.pointee.creator.madeIt.count + desk.pointee.modifier.savedIt.count
            + Self.frameMax
    }

    @inline(__always)
    private func buffer(ofSize size: Int) -> UnsafeMutableRawBufferPointer {
        let depth = desk.pointee.depth
        if depth < desk.pointee.buffers.count, desk.pointee.buffers[depth].count >= size {
            return desk.pointee.buffers[depth]
        }
        return grownBuffer(size)
    }

    private func grownBuffer(_ size: Int) -> UnsafeMutableRawBufferPointer {
        let made = UnsafeMutableRawBufferPointer.allocate(
            byteCount: size < Self.roomyMax ? 2 * size : size, alignment: 16)
        let depth = desk.pointee.depth
        if depth < desk.pointee.buffers.count {
            desk.pointee.buffers[depth].deallocate()
            desk.pointee.buffers[depth] = made
        } else {
            desk.pointee.buffers.append(made)
        }
        return made
    }

    /// - Returns: the place after the text.
    @inline(__always)
    private func write(
        _ row: VersionRow, _ position: Position, from start: UnsafeMutableRawPointer,
        _ ranges: inout StoredVersion.Ranges?
    ) -> UnsafeMutableRawPointer {
        var pen = TextPen(start)
        pen.write(beforeName)
        pen.write(row.name)
        pen.write(desk.pointee.type.piece)
        // Their brackets are of what stands around them.
        let fields = pen.cursor - start - 1
        pen.write(row.fields)
        pen.write(beforeTag)
        pen.writeTag(position)
        pen.write(beforeCreated)
        pen.cursor = desk.pointee.moment.write(row.created.moment, to: pen.cursor)
        let creator = pen.cursor - start + beforeUserCount
        if row.created.device.isEmpty {
            pen.write(desk.pointee.creator.madeIt)
        } else {
            Self.write(desk.pointee.creator, row.created.device, &pen)
            pen.write(RecordText.beforeModified)
        }
        pen.cursor = desk.pointee.moment.write(row.modified.moment, to: pen.cursor)
        let modifier = pen.cursor - start + beforeUserCount
        if row.modified.device.isEmpty {
            pen.write(desk.pointee.modifier.savedIt)
        } else {
            Self.write(desk.pointee.modifier, row.modified.device, &pen)
            pen.write(RecordText.beforeZone)
        }
        pen.write(desk.pointee.zone.piece)
        if let parent = row.parent {
            pen.write(RecordText.beforeParent)
            pen.write(parent)
            pen.write(RecordText.afterParent)
        }
        pen.write(row.rest)
        pen.write(RecordText.end)
        ranges = StoredVersion.Ranges(
            fields: fields..<fields + row.fields.count + 2,
            creator: creator..<creator + desk.pointee.creator.name.count,
            modifier: modifier..<modifier + desk.pointee.modifier.name.count)
        return pen.cursor
    }

    /// Writes a user and the device that they named.
    private static func write(
        _ user: VersionNames.User, _ device: UnsafeRawBufferPointer, _ pen: inout TextPen
    ) {
        pen.write(RecordText.beforeUser)
        user.name.withUnsafeBytes { pen.write($0) }
        pen.write(RecordText.beforeDevice)
        pen.write(device)
    }

    private func writeDeletion(
        _ row: VersionRow, from start: UnsafeMutableRawPointer
    ) -> UnsafeMutableRawPointer {
        var pen = TextPen(start)
        pen.write(beforeName)
        pen.write(row.name)
        pen.write(RecordText.beforeDeletedZone)
        pen.write(desk.pointee.zone.piece)
        pen.write(RecordText.beforeDeletedType)
        desk.pointee.type.name.withUnsafeBytes { pen.write($0) }
        pen.write(RecordText.afterDeletedType)
        return pen.cursor
    }
}
