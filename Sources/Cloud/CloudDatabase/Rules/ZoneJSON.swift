import CloudModel
import JSON
import Storage

/// The zone objects of answers (rulings.md 25).
enum ZoneJSON {
    /// The `zoneID` object.
    static func identifier(_ name: ZoneName, owner: UserRecordName) -> [UInt8] {
        name.identifierJSON(owner: owner.text)
    }

    /// Appends a zone as the answers of `zones/*` show it.
    static func append(_ zone: ListedZone, to writer: inout JSONWriter) {
        writer.raw("{\"zoneID\":")
        writer.raw(identifier(zone.name, owner: zone.owner))
        if let token = zone.syncToken {
            writer.member("syncToken", token)
        }
        writer.raw(zone.name.isDefault ? ",\"atomic\":false" : ",\"atomic\":true")
        writer.raw(",\"deleted\":false")
        if zone.isShared {
            writer.raw(",\"share\":{\"recordName\":")
            writer.string(RecordName.zoneShare.text)
            writer.raw(",\"zoneID\":")
            writer.raw(identifier(zone.name, owner: zone.owner))
            writer.raw("}")
        }
        if !zone.name.isDefault, zone.isOwn { writer.raw(",\"isEligibleForZoneShare\":true") }
        writer.raw("}")
    }
}

/// A living zone, with the token of its present position unless it is a default zone.
struct ListedZone {
    let name: ZoneName
    let owner: UserRecordName
    let syncToken: String?
    /// Whether it is the caller's own zone, which they may share.
    var isOwn = true
    /// Whether the caller knows a share of the whole zone.
    var isShared = false
}
