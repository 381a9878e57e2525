import CChecksum
import CloudModel
import Platform
import SQLite
import StoredRows

/// The names behind the numbers in version rows, in the form in which texts hold them.
///
/// Of what is committed no number gets another name. So readers keep what they have read; the writer lets go of
/// it with `forget` when something that it has written is undone.
final class VersionNames {
    /// A user as texts name them, with what stands around.
    final class User {
        /// The record name, as it stands in JSON.
        let name: [UInt8]
        /// From a record's first moment to its second, by a device that is not named.
        let madeIt: TextPiece
        /// From its second moment to the zone, by a device that is not named.
        let savedIt: TextPiece

        init(_ name: [UInt8]) {
            self.name = name
            let user =
                VersionNames.bytes(RecordText.beforeUser) + name
                + VersionNames.bytes(RecordText.beforeDevice)
                + VersionNames.bytes(RecordText.plainDevice)
            madeIt = TextPiece(user + VersionNames.bytes(RecordText.beforeModified))
            savedIt = TextPiece(user + VersionNames.bytes(RecordText.beforeZone))
        }

        deinit {
            madeIt.deallocate()
            savedIt.deallocate()
        }
    }

    /// A type or a zone as texts name it.
    final class Named {
        /// A type's name, or the `zoneID` object of a zone.
        let name: [UInt8]
        /// Of a type, from a record's name to its fields; of a zone, its name.
        let piece: TextPiece

        init(_ name: [UInt8], _ piece: [UInt8]) {
            self.name = name
            self.piece = TextPiece(piece)
        }

        deinit { piece.deallocate() }
    }

    /// How many names of a kind are kept before all of them are read again.
    private static let keptMax = 4_096

    private let user: Statement
    private let numberOfUser: Statement
    private let type: Statement
    private let zone: Statement
    private var users: [Int64: User] = [:]
    private var types: [Int64: Named] = [:]
    private var zones: [Int64: Named] = [:]
    private var numbers: [[UInt8]: Int64] = [:]
    /// The user whose number was last asked for: one saves many records, and is in each of them twice.
    private var lastAsked: (name: [UInt8], number: Int64)?

    init(_ connection: Connection) throws {
        user = try connection.prepare(
            "SELECT record_name, checksum FROM version_users WHERE id = ?1")
        numberOfUser = try connection.prepare(
            "SELECT id FROM version_users WHERE record_name = ?1")
        type = try connection.prepare(
            "SELECT name, \(NameCopies.ofType("record_types")) FROM record_types WHERE id = ?1")
        zone = try connection.prepare(
            """
            SELECT zones.name, owners.record_name,
                \(NameCopies.ofZone("zones")) AND \(NameCopies.ofOwner("owners"))
            FROM zones
            JOIN owners ON owners.id = zones.owner WHERE zones.id = ?1
            """)
    }

    /// Forgets what may be another's now.
    func forget() {
        users = [:]
        types = [:]
        zones = [:]
        numbers = [:]
        lastAsked = nil
    }

    /// - Throws: `DamagedRow` for a number that nobody has, or whose row has decayed.
    func user(_ number: Int64) throws -> User {
        if let known = users[number] { return known }
        defer { user.reset() }
        user.bind(number, at: 1)
        guard try user.step() else { throw DamagedRow() }
        let name = [UInt8](user.bytes(0))
        guard user.int64(1) == Self.checksum(number, name) else { throw DamagedRow() }
        let made = User(name)
        if users.count >= Self.keptMax { users = [:] }
        users[number] = made
        return made
    }

    /// The number of a user, named as texts name them; nil for one that no row names yet.
    func number(ofUser name: UnsafeRawBufferPointer) throws -> Int64? {
        if let last = lastAsked, last.name.count == name.count, let start = name.baseAddress,
            memcmp(last.name, start, name.count) == 0
        {
            return last.number
        }
        let name = [UInt8](name)
        guard let number = try numbers[name] ?? readNumber(ofUser: name) else { return nil }
        lastAsked = (name, number)
        return number
    }

    private func readNumber(ofUser name: [UInt8]) throws -> Int64? {
        defer { numberOfUser.reset() }
        numberOfUser.bind(text: name, at: 1)
        guard try numberOfUser.step() else { return nil }
        if numbers.count >= Self.keptMax { numbers = [:] }
        numbers[name] = numberOfUser.int64(0)
        return numberOfUser.int64(0)
    }

    /// The name of a type; nil when there is no such type.
    ///
    /// - Throws: `InvalidRow` for a name that has decayed.
    func type(_ number: Int64) throws -> [UInt8]? { try namedType(number)?.name }

    /// A type; nil when there is no such type.
    ///
    /// - Throws: as `type`.
    func namedType(_ number: Int64) throws -> Named? {
        if let known = types[number] { return known }
        defer { type.reset() }
        type.bind(number, at: 1)
        guard try type.step() else { return nil }
        guard type.int64(1) == 1 else { throw InvalidRow(table: "record_types") }
        let name = [UInt8](type.bytes(0))
        let made = Named(
            name, Self.bytes(RecordText.beforeType) + name + Self.bytes(RecordText.beforeFields))
        if types.count >= Self.keptMax { types = [:] }
        types[number] = made
        return made
    }

    /// The `zoneID` object of a zone; nil when there is no such zone.
    ///
    /// - Throws: as `type`, for the zone and its owner.
    func zone(_ number: Int64) throws -> [UInt8]? { try namedZone(number)?.name }

    /// A zone; nil when there is no such zone.
    ///
    /// - Throws: as `zone`.
    func namedZone(_ number: Int64) throws -> Named? {
        if let known = zones[number] { return known }
        defer { zone.reset() }
        zone.bind(number, at: 1)
        guard try zone.step() else { return nil }
        guard zone.int64(2) == 1, let name = ZoneName(zone.string(0)) else {
            throw InvalidRow(table: "zones")
        }
        let object = name.identifierJSON(owner: zone.string(1))
        let made = Named(object, object)
        if zones.count >= Self.keptMax { zones = [:] }
        zones[number] = made
        return made
    }

    private static func bytes(_ text: StaticString) -> [UInt8] {
        text.withUTF8Buffer { [UInt8]($0) }
    }

    /// The sum over a row of `version_users`.
    static func checksum(_ number: Int64, _ name: [UInt8]) -> Int64 {
        let key = withUnsafeBytes(of: number.littleEndian) {
            checksum_crc32c(0, $0.baseAddress, $0.count)
        }
        return Int64(name.withUnsafeBytes { checksum_crc32c(key, $0.baseAddress, $0.count) })
    }
}
