import CloudModel
import JSON
import Storage

/// The record of type `Users` that the server keeps for each user, under the user's name in a default zone.
///
/// The server makes it when somebody first asks for it. In the public database, its field `roles` shows the
/// user's roles to those who give roles. That field is not part of the stored body, so it is always up to
/// date.
package enum UserRecord {
    static let rolesField = "roles"

    static let createRefused = Fault(
        .accessDenied, "CREATE operation not permitted: Users records are made by the server")
    static let deleteRefused = Fault(
        .accessDenied, "WRITE operation not permitted: Users records go with their account")

    /// The user to whose record a name belongs; nil for names of other records.
    static func user(_ name: RecordName, in zone: ZoneName) -> UserRecordName? {
        guard name.isReserved, zone.isDefault else { return nil }
        return UserRecordName(name.text)
    }

    /// The users who have no record, in the order of their names, each with what is stored under it.
    static func missing(
        _ users: Set<UserRecordName>, in zone: StoredZone, _ snapshot: any StoreSnapshot
    ) throws -> [(user: UserRecordName, name: RecordName, current: CurrentRecord)] {
        guard !users.isEmpty else { return [] }
        let named = users.sorted { $0.text < $1.text }.compactMap { user in
            RecordName(user.text).map { (user: user, name: $0) }
        }
        var found = [CurrentRecord](repeating: .missing, count: named.count)
        try snapshot.current(of: named.map(\.name), in: zone.number, inOrder: false) {
            found[$0] = CurrentRecord($1, withBody: false)
            return true
        }
        return zip(named, found).filter { !$1.isAlive }.map { ($0.user, $0.name, $1) }
    }

    /// Makes the records of users who have none.
    static func makeMissing(
        _ users: Set<UserRecordName>, in zone: StoredZone, of database: Database,
        _ transaction: any StoreTransaction
    ) throws {
        let missing = try missing(users, in: zone, transaction)
        guard !missing.isEmpty else { return }
        let type = try transaction.schema.types[.users]?.number ?? 0
        let zoneJSON = ZoneJSON.identifier(zone.name, owner: database.ownerRecordName)
        let first = try transaction.takePositions(missing.count)
        let versions = missing.enumerated().map { index, new in
            let position = first + Position(index)
            let stamp = RecordBody.Stamp(moment: transaction.now, user: new.user, device: "iCloud")
            let body = RecordBody.Batch(stamp, zone: zoneJSON).body(
                name: new.name, type: .users, fields: [], position: position, created: nil,
                parent: nil)
            return NewVersion(
                zone: zone, name: new.name, position: position, previous: new.current.head,
                previousBytes: 0, previousIsAlive: false, type: type, flags: [], body: body.bytes,
                fieldsEnd: body.fieldsEnd)
        }
        _ = try transaction.save(versions)
    }

    /// Removes from the public database the record and the roles of a user whose account is gone.
    package static func remove(
        _ user: UserRecordName, from transaction: any StoreTransaction
    ) throws {
        try transaction.assign([], to: user)
        guard let name = RecordName(user.text),
            let zone = try transaction.zone(named: .defaultZone, ofOwnerNamed: .publicOwner)
        else { return }
        let key = RecordKey(zone: zone.number, name: name)
        let previous = try CurrentRecord(key, withBody: false, in: transaction)
        guard previous.isAlive, let head = previous.head else { return }
        let position = try transaction.takePosition()
        let zoneJSON = ZoneJSON.identifier(zone.name, owner: .publicOwner)
        _ = try transaction.save(
            .tombstone(
                of: previous, head, name: name, in: zone, at: position,
                RecordBody.tombstone(name: name, type: RecordTypeName.users.text, zone: zoneJSON)))
    }

    /// A stored body with the field `roles` for an answer; unchanged for a user without roles.
    static func body(_ stored: [UInt8], roles: Set<Int64>) -> [UInt8] {
        // Takes the first match: no user's name contains these characters.
        guard !roles.isEmpty, let start = stored.firstRange(of: fieldsKey)?.upperBound else {
            return stored
        }
        var writer = JSONWriter(reserving: stored.count + 64)
        writer.raw(Array(stored[..<start]))
        writer.raw("\"roles\":{\"value\":[")
        for (index, role) in roles.sorted().enumerated() {
            if index > 0 { writer.raw(",") }
            writer.integer(role)
        }
        writer.raw("],\"type\":\"INT64_LIST\"}")
        if stored[start] != UInt8(ascii: "}") { writer.raw(",") }
        writer.raw(Array(stored[start...]))
        return writer.bytes
    }

    private static let fieldsKey = Array("\"fields\":{".utf8)

    /// Takes the field `roles` out of the fields that a save sends.
    ///
    /// - Parameter sent: fields that the schema has admitted.
    /// - Returns: the other fields, and the roles' numbers; nil when the field was not sent.
    static func split(_ sent: EncodedFields) throws -> (fields: EncodedFields, roles: Set<Int64>?) {
        guard let field = sent.fields.first(where: { $0.name.text == rolesField }) else {
            return (sent, nil)
        }
        var others = EncodedFields()
        for other in sent.fields where other.name != field.name {
            guard other.type != nil else {
                others.fields.append(other)
                continue
            }
            if !others.bytes.isEmpty { others.bytes.append(UInt8(ascii: ",")) }
            let start = others.bytes.count
            others.bytes += sent.bytes[other.range]
            others.fields.append(
                EncodedFields.Field(
                    name: other.name, type: other.type, range: start..<others.bytes.count,
                    references: other.references, assets: other.assets))
        }
        guard field.type != nil else { return (others, []) }
        let text = [UInt8(ascii: "{")] + sent.bytes[field.range] + [UInt8(ascii: "}")]
        let value = try JSONDocument(parsing: text).root["roles"]?["value"]
        return (others, Set(value?.elements.compactMap(\.int64) ?? []))
    }
}
