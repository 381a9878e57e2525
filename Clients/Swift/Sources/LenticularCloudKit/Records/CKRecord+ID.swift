import Foundation

// Classes that are archived stand at the top level: elsewhere than on Apple platforms an archiver cannot name
// nested ones. The names within `CKRecord` are the ones to use.
extension CKRecord {
    /// A record's name and zone.
    public typealias ID = CKRecordID
    /// A field's value that names another record.
    public typealias Reference = CKReference

    /// What becomes of a record when the one that it refers to is deleted.
    public enum ReferenceAction: UInt, Sendable {
        /// Nothing: the reference leads nowhere then.
        case none = 0
        /// It is deleted, too.
        case deleteSelf = 1
    }
}

/// A record's name and zone.
///
/// Two are equal when both are.
public final class CKRecordID: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// At most 255 characters of ASCII that do not begin with `_`; the server holds to that.
    public let recordName: String
    /// The zone that the record is in.
    public let zoneID: CKRecordZone.ID

    /// Names a record; one without a name gets a new one.
    public init(
        recordName: String = UUID().uuidString, zoneID: CKRecordZone.ID = .default
    ) {
        self.recordName = recordName
        self.zoneID = zoneID
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKRecordID else { return false }
        return recordName == other.recordName && zoneID == other.zoneID
    }

    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(recordName)
        hasher.combine(zoneID)
        return hasher.finalize()
    }

    public override var description: String { "<CKRecordID \(recordName) in \(zoneID)>" }

    /// Itself: it does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: archives name their classes.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it into an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(recordName as NSString, forKey: "RecordName")
        coder.encode(zoneID, forKey: "ZoneID")
    }

    /// Reads it from an archive; nil for anything else.
    public convenience init?(coder: NSCoder) {
        guard let name = coder.object(NSString.self, "RecordName"),
            let zone = coder.object(CKRecordZone.ID.self, "ZoneID")
        else { return nil }
        self.init(recordName: String(name), zoneID: zone)
    }
}

/// A field's value that names another record of the same database.
///
/// Two are equal when record and action are.
public final class CKReference: NSObject, NSSecureCoding, NSCopying, Sendable {
    /// The record that is named.
    public let recordID: CKRecord.ID
    /// What becomes of the record that has the reference.
    public let action: CKRecord.ReferenceAction

    /// Names a record.
    public init(recordID: CKRecord.ID, action: CKRecord.ReferenceAction) {
        self.recordID = recordID
        self.action = action
    }

    /// Names a record.
    public convenience init(record: CKRecord, action: CKRecord.ReferenceAction) {
        self.init(recordID: record.recordID, action: action)
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKReference else { return false }
        return recordID == other.recordID && action == other.action
    }

    public override var hash: Int { recordID.hash }

    public override var description: String { "<CKReference to \(recordID)>" }

    /// Itself: it does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// True: archives name their classes.
    public static var supportsSecureCoding: Bool { true }

    /// Writes it into an archive.
    public func encode(with coder: NSCoder) {
        coder.encode(recordID, forKey: "RecordID")
        coder.encode(Int(action.rawValue), forKey: "ReferenceAction")
    }

    /// Reads it from an archive; nil for anything else.
    public convenience init?(coder: NSCoder) {
        guard let record = coder.object(CKRecord.ID.self, "RecordID"),
            let action = CKRecord.ReferenceAction(
                rawValue: UInt(
                    clamping: coder.decodeInteger(forKey: "ReferenceAction")))
        else { return nil }
        self.init(recordID: record, action: action)
    }
}
