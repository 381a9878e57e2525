import JSON

/// A zone as a request names it: its name and, when given, its owner.
package struct ZoneID: Hashable, Sendable {
    package let name: ZoneName
    /// Nil for the caller, however the request spelt it (rulings.md 1).
    package let owner: UserRecordName?

    package init(name: ZoneName, owner: UserRecordName? = nil) {
        self.name = name
        self.owner = owner
    }

    /// What a request without a zone means.
    package static let defaultZone = ZoneID(name: .defaultZone)
}

extension ZoneName {
    /// The `zoneID` object of a zone, as every record of the zone shows it (rulings.md 15).
    ///
    /// - Parameter owner: the owner's record name.
    package func identifierJSON(owner: String) -> [UInt8] {
        var writer = JSONWriter(reserving: 160)
        writer.raw("{\"zoneName\":")
        writer.string(text)
        writer.raw(",\"ownerRecordName\":\"")
        writer.raw(Array(owner.utf8))
        writer.raw("\",\"zoneType\":\"")
        writer.raw(isDefault ? "DEFAULT_ZONE" : "REGULAR_CUSTOM_ZONE")
        writer.raw("\"}")
        return writer.bytes
    }
}
