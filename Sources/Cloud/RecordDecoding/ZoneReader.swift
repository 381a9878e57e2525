import CloudModel

/// Reads the zones that a request names; an owner's name depends on the caller and the database.
package struct ZoneReader: Sendable {
    /// A zone's name and owner as the request spells them, legal or not.
    package struct Spelling: Sendable {
        package let name: String
        package let owner: String?

        package init(name: String, owner: String?) {
            self.name = name
            self.owner = owner
        }
    }

    let caller: Caller
    /// Nil for a path without a database.
    package let scope: DatabaseScope?

    package init(caller: Caller, scope: DatabaseScope?) {
        self.caller = caller
        self.scope = scope
    }

    /// What an object says, bare or wrapped in `zoneID`.
    ///
    /// - Throws: BAD_REQUEST for the whole request when a key is of the wrong JSON type.
    package static func spelling(_ object: RequestObject) throws(Fault) -> Spelling {
        let object = try object.object("zoneID") ?? object
        let name = try object.string("zoneName") ?? ZoneName.defaultZone.text
        let (spelt, alias) = (
            try object.string("ownerRecordName"), try object.string("ownerName")
        )
        return Spelling(name: name, owner: spelt ?? alias)
    }

    /// Whether a user record name stands for the owner of the zone, by whatever name.
    package static func isOwnerAlias(_ name: String) -> Bool {
        name == "_defaultOwner" || name == "__defaultOwner__"
    }

    /// The zone that a spelling means.
    ///
    /// - Throws: `Fault` for the zone: ZONE_NOT_FOUND, or BAD_REQUEST in a private database.
    package func zone(_ spelling: Spelling) throws(Fault) -> ZoneID {
        // No zone can have such a name.
        guard let name = ZoneName(spelling.name) else { throw .zoneNotFound }
        guard scope != .public, let owner = spelling.owner, !Self.isOwnerAlias(owner) else {
            return ZoneID(name: name)
        }
        guard let owner = UserRecordName(owner) else {
            throw scope == .private ? .foreignZone : .zoneNotFound
        }
        return ZoneID(name: name, owner: owner == caller.userRecordName ? nil : owner)
    }

    /// The zone that an object names.
    package func zone(_ object: RequestObject) throws(Fault) -> ZoneID {
        try zone(Self.spelling(object))
    }

    /// `zoneID` of a request's body, or the default zone.
    package func zone(of body: RequestObject) throws(Fault) -> ZoneID {
        guard let object = try body.object("zoneID") else { return .defaultZone }
        return try zone(object)
    }
}

extension ZoneReader {
    private static let names: [ObjectKey] = [
        .optional("zoneName", .text(examples: ["_defaultZone"], bytesMax: 255)),
        .optional("ownerRecordName", .text(examples: ["_defaultOwner"])),
        .alias("ownerName", .text(examples: ["_defaultOwner"])),
    ]

    /// A zone's ID; some clients wrap it once more.
    package static let shape = ObjectShape(
        "ZoneID", names + [.alias("zoneID", .object(ObjectShape("WrappedZoneID", names)))])

    package static var key: ObjectKey { .optional("zoneID", .object(shape)) }
}
