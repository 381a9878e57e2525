import CloudKitWire
import Foundation

extension JSONText {
    /// Writes a zone's ID; the caller's own zones go without an owner.
    mutating func zoneID(_ zone: CKRecordZone.ID) {
        object { json in
            json.member("zoneName", zone.zoneName)
            if zone.ownerName != CKCurrentUserDefaultName {
                json.member("ownerRecordName", zone.ownerName)
            }
        }
    }

    /// Writes a field with its type, or one that clears it.
    ///
    /// - Throws: `CKError` `assetFileNotFound` for an asset that has not been sent.
    mutating func field(_ value: FieldValue?, in zone: CKRecordZone.ID) throws {
        try object { json in
            guard let value else {
                json.key("value")
                return json.null()
            }
            try json.valueAndType(value, in: zone)
        }
    }

    /// Writes what a field's value and type are called by, within an object.
    ///
    /// - Throws: `CKError` `assetFileNotFound` for an asset that has not been sent.
    mutating func valueAndType(_ value: FieldValue, in zone: CKRecordZone.ID) throws {
        key("value")
        try self.value(value, in: zone)
        if let type = value.typeName { member("type", type) }
    }

    private mutating func value(_ value: FieldValue, in zone: CKRecordZone.ID) throws {
        switch value {
        case .string(let text): string(text)
        case .int64(let number): int64(number)
        case .timestamp(let date): int64(FieldValue.milliseconds(of: date))
        case .double(let number): double(number)
        case .bytes(let data): string(data.base64EncodedString())
        case .reference(let reference): self.reference(reference, in: zone)
        case .asset(let asset): try self.asset(asset)
        case .location(let location): self.location(location)
        case .list(let members, _):
            try array { json in for member in members { try json.value(member, in: zone) } }
        }
    }

    mutating func reference(_ reference: CKRecord.Reference, in zone: CKRecordZone.ID) {
        object { json in
            json.member("recordName", reference.recordID.recordName)
            if reference.recordID.zoneID != zone {
                json.key("zoneID")
                json.zoneID(reference.recordID.zoneID)
            }
            json.member("action", reference.action == .deleteSelf ? "DELETE_SELF" : "NONE")
        }
    }

    private mutating func asset(_ asset: CKAsset) throws {
        guard let stored = asset.stored else {
            throw CKError(.assetFileNotFound, "the asset's file was not sent")
        }
        object { json in
            json.member("fileChecksum", stored.fileChecksum)
            json.key("size")
            json.int64(stored.size)
            if let receipt = stored.receipt { json.member("receipt", receipt) }
        }
    }

    private mutating func location(_ location: CLLocation) {
        object { json in
            let numbers = [
                ("latitude", location.coordinate.latitude),
                ("longitude", location.coordinate.longitude), ("altitude", location.altitude),
                ("horizontalAccuracy", location.horizontalAccuracy),
                ("verticalAccuracy", location.verticalAccuracy), ("course", location.course),
                ("speed", location.speed),
            ]
            for (name, number) in numbers where number.isFinite {
                json.key(name)
                json.double(number)
            }
            json.key("timestamp")
            json.int64(FieldValue.milliseconds(of: location.timestamp))
        }
    }
}
