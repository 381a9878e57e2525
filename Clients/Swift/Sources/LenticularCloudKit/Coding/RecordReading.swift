import CloudKitWire
import Foundation

/// Reads what the server says of records, zones and people.
///
/// The caller's own zones come under `CKCurrentUserDefaultName`, as the app names them.
struct AnswerReader: Sendable {
    /// The caller's user record name, where it is known: their zones are theirs under any name.
    let user: String?
    let scope: CKDatabase.Scope
    /// What links to shares begin with.
    let links: URL?

    func zoneID(_ view: JSONView?) -> CKRecordZone.ID? {
        guard let view, let name = view["zoneName"]?.string else { return nil }
        let owner = view["ownerRecordName"]?.string
        let isOwn = scope != .shared || owner == nil || owner == user
        return CKRecordZone.ID(
            zoneName: name, ownerName: isOwn ? CKCurrentUserDefaultName : owner ?? "")
    }

    /// - Parameter passed: the ID that the app asked by, which its results are found under.
    /// - Returns: nil for what has no name or type.
    func record(_ view: JSONView, as passed: CKRecord.ID? = nil) -> CKRecord? {
        var parts = RecordParts()
        for (key, value) in view.members { parts.note(key, value) }
        guard let name = parts.name?.string, let type = parts.type?.string,
            RecordTypeName.isLegal(type)
        else { return nil }
        let zone = passed?.zoneID ?? zoneID(parts.zone) ?? .default
        let id = passed ?? CKRecord.ID(recordName: name, zoneID: zone)
        let record =
            type == CKRecord.SystemType.share
            ? share(view, id) : CKRecord(recordType: type, recordID: id)
        record.adopt(version(parts, in: zone))
        record.fetched = record.version
        return record
    }

    private func share(_ view: JSONView, _ id: CKRecord.ID) -> CKShare {
        let share = CKShare(recordID: id)
        share.details = shareDetails(view)
        share.url = view["shortGUID"]?.string.flatMap { links?.appendingPathComponent($0) }
        return share
    }

    /// Room for so many fields saves growing in steps; more are no trouble.
    private static let usualFields = 8

    private func version(_ parts: RecordParts, in zone: CKRecordZone.ID) -> CKRecordVersion {
        var version = CKRecordVersion()
        version.changeTag = parts.tag?.string
        (version.created, version.creator) = stamp(parts.created)
        (version.modified, version.modifier) = stamp(parts.modified)
        version.parent = reference(parts.parent, in: zone)
        version.share = reference(parts.share, in: zone)
        guard let fields = parts.fields else { return version }
        version.values.reserveCapacity(Self.usualFields)
        for (key, field) in fields.members {
            guard let key = key.string else { continue }
            if field["isEncrypted"]?.bool == true {
                version.sealed[key] = field["value"]?.string.flatMap { Data(base64Encoded: $0) }
            } else if let value = value(field, in: zone) {
                version.values[key] = value
            }
        }
        return version
    }

    private func stamp(_ view: JSONView?) -> (Date?, CKRecord.ID?) {
        guard let view else { return (nil, nil) }
        let date = view["timestamp"]?.int64.map {
            Date(timeIntervalSince1970: Double($0) / 1000)
        }
        let person = view["userRecordName"]?.string.map {
            CKRecord.ID(recordName: $0 == user ? CKCurrentUserDefaultName : $0)
        }
        return (date, person)
    }

    func reference(_ view: JSONView?, in zone: CKRecordZone.ID) -> CKRecord.Reference? {
        guard let view, let name = view["recordName"]?.string else { return nil }
        let id = CKRecord.ID(recordName: name, zoneID: zoneID(view["zoneID"]) ?? zone)
        let isCascading = view["action"]?.isString("DELETE_SELF") ?? false
        return CKRecord.Reference(recordID: id, action: isCascading ? .deleteSelf : .none)
    }

    /// A field as the server writes it; nil for a type that this library does not know.
    func value(_ field: JSONView, in zone: CKRecordZone.ID) -> FieldValue? {
        guard let value = field["value"], let type = field["type"]?.string else { return nil }
        if let element = FieldValue.Element(rawValue: type) {
            return scalar(value, element, in: zone)
        }
        guard type.hasSuffix("_LIST") else { return nil }
        guard let element = FieldValue.Element(rawValue: String(type.dropLast("_LIST".count)))
        else { return value.elements.contains { _ in true } ? nil : .list([], nil) }
        let members = value.elements.compactMap { scalar($0, element, in: zone) }
        return .list(members, element)
    }

    private func scalar(
        _ view: JSONView, _ element: FieldValue.Element, in zone: CKRecordZone.ID
    ) -> FieldValue? {
        switch element {
        case .string: view.string.map { .string($0) }
        case .int64: view.int64.map { .int64($0) }
        case .double: view.double.map { .double($0) }
        case .timestamp: view.int64.map { .timestamp(FieldValue.date(ofMilliseconds: $0)) }
        case .bytes:
            view.string.flatMap { Data(base64Encoded: $0) }.map { .bytes($0) }
        case .reference: reference(view, in: zone).map { .reference($0) }
        case .asset: StoredAsset(view).map { .asset(CKAsset(stored: $0, fileURL: nil)) }
        case .location: location(view).map { .location($0) }
        }
    }

    private func location(_ view: JSONView) -> CLLocation? {
        guard let latitude = view["latitude"]?.double, let longitude = view["longitude"]?.double
        else { return nil }
        let moment = view["timestamp"]?.double.map { Date(timeIntervalSince1970: $0 / 1000) }
        return CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude),
            altitude: view["altitude"]?.double ?? 0,
            horizontalAccuracy: view["horizontalAccuracy"]?.double ?? 0,
            verticalAccuracy: view["verticalAccuracy"]?.double ?? -1,
            course: view["course"]?.double ?? -1, speed: view["speed"]?.double ?? -1,
            timestamp: moment ?? Date(timeIntervalSince1970: 0))
    }
}

/// The members of a record, found in one walk.
private struct RecordParts {
    var name: JSONView?
    var type: JSONView?
    var tag: JSONView?
    var fields: JSONView?
    var created: JSONView?
    var modified: JSONView?
    var zone: JSONView?
    var parent: JSONView?
    var share: JSONView?

    mutating func note(_ key: JSONView, _ value: JSONView) {
        // Compared as bytes: a text for each key of each record would cost more than the rest.
        if key.isString("recordName") {
            name = value
        } else if key.isString("recordType") {
            type = value
        } else if key.isString("recordChangeTag") {
            tag = value
        } else if key.isString("fields") {
            fields = value
        } else if key.isString("created") {
            created = value
        } else if key.isString("modified") {
            modified = value
        } else if key.isString("zoneID") {
            zone = value
        } else if key.isString("parent") {
            parent = value
        } else if key.isString("share") {
            share = value
        }
    }
}
