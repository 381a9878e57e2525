import Foundation

/// A record: a type, a name in a zone, and fields by their keys.
///
/// Saving sends the keys that were set since the record was fetched, and brings the record up to date in
/// place. A record may be handed from thread to thread, but not be used by two at once.
open class CKRecord: NSObject, CKRecordKeyValueSetting, NSSecureCoding, NSCopying,
    @unchecked Sendable
{
    // Unchecked: as documented, one thread at a time uses a record.

    /// The name of a kind of records.
    public typealias RecordType = String
    /// The name of a field.
    public typealias FieldKey = String

    /// Types that every container has.
    public enum SystemType {
        /// The record that stands for a person.
        public static let userRecord: RecordType = "Users"
        /// Shares; and the key of a record's share.
        public static let share: RecordType = "cloudkit.share"
    }

    /// Keys of what the server keeps of every record, for predicates and sorts.
    public enum SystemFieldKey {
        /// The record's name.
        public static let recordID: FieldKey = "___recordID"
        /// Who made the record.
        public static let creatorUserRecordID: FieldKey = "___createdBy"
        /// When the record was made.
        public static let creationDate: FieldKey = "___createTime"
        /// Who saved the record last.
        public static let lastModifiedUserRecordID: FieldKey = "___modifiedBy"
        /// When the record was saved last.
        public static let modificationDate: FieldKey = "___modTime"
        /// The record's parent.
        public static let parent: FieldKey = "___parent"
        /// Shares; and the key of a record's share.
        public static let share: FieldKey = "___share"
    }

    /// What kind of record it is; never changes.
    public let recordType: RecordType
    /// The record's name and zone; never change.
    public let recordID: ID
    /// The version that this copy is of; nil for a record that was never saved.
    public internal(set) var recordChangeTag: String? {
        get { version.changeTag }
        set { version.changeTag = newValue }
    }
    /// When the record was made; nil until it was saved.
    public var creationDate: Date? { version.created }
    /// When the record was saved last; nil until it was.
    public var modificationDate: Date? { version.modified }
    /// Who made the record; `CKCurrentUserDefaultName` for the caller.
    public var creatorUserRecordID: ID? { version.creator }
    /// Who saved the record last.
    public var lastModifiedUserRecordID: ID? { version.modifier }
    /// The share of which the record is the root.
    public internal(set) var share: Reference? {
        get { version.share }
        set { version.share = newValue }
    }
    /// The record that this one goes with when a tree is shared; in the same zone.
    public var parent: Reference? {
        get { version.parent }
        set {
            if newValue != version.parent { isParentChanged = true }
            version.parent = newValue
        }
    }

    /// Everything but name and type, as it is now.
    private(set) var version = CKRecordVersion()
    var values: [FieldKey: FieldValue] { version.values }
    /// Encrypted values as the server has them, those that cannot be opened too.
    var sealed: [FieldKey: Data] { version.sealed }
    var changed: Set<FieldKey> = []
    var isParentChanged = false
    /// The names of saves of this record since the last one that has succeeded: each may stand on the server.
    var unansweredWrites: Set<String> = []
    /// The values as they were fetched, until the record is saved: the ancestor of a conflict.
    var fetched: CKRecordVersion?
    private(set) lazy var encrypted = EncryptedValues()

    /// - Precondition: the type begins with a letter and goes on with letters, digits and `_`.
    public init(recordType: RecordType, recordID: ID = ID()) {
        precondition(
            RecordTypeName.isLegal(recordType),
            "record type \"\(recordType)\": expected a letter, then letters, digits and _")
        self.recordType = recordType
        self.recordID = recordID
    }

    /// A new record with a name of its own in a zone.
    public convenience init(recordType: RecordType, zoneID: CKRecordZone.ID) {
        self.init(recordType: recordType, recordID: ID(zoneID: zoneID))
    }

    /// The fields that are encrypted on this device before they are sent.
    ///
    /// They cannot be asked for in queries, and the server cannot read them.
    public var encryptedValues: any CKRecordKeyValueSetting { encrypted }

    /// The value under a key; nil when the record has none.
    public func object(forKey key: FieldKey) -> (any CKRecordValueProtocol)? {
        values[key]?.object
    }

    /// Sets or clears a field.
    ///
    /// - Precondition: the key begins with a letter and goes on with letters, digits and `_`; the value is one
    ///   that a field can hold.
    public func setObject(_ object: (any CKRecordValueProtocol)?, forKey key: FieldKey) {
        precondition(
            FieldKeyName.isLegal(key),
            "key \"\(key)\": expected a letter, then letters, digits and _")
        guard let object else {
            version.values[key] = nil
            changed.insert(key)
            return
        }
        guard let value = FieldValue(object) else {
            preconditionFailure(
                "key \"\(key)\": a field holds text, numbers, dates, data, references, assets, "
                    + "places, or a list of one of these, not \(type(of: object))")
        }
        version.values[key] = value
        changed.insert(key)
    }

    #if os(Linux)
        /// The value under a key, as key-value coding gives it elsewhere.
        public func value(forKey key: FieldKey) -> Any? { object(forKey: key) }

        /// Sets or clears a field, as key-value coding does elsewhere.
        ///
        /// - Precondition: as for `setObject`.
        public func setValue(_ value: Any?, forKey key: FieldKey) {
            guard let value else {
                setObject(nil, forKey: key)
                return
            }
            guard let object = (FieldValue(value)?.object) else {
                preconditionFailure("key \"\(key)\": a field cannot hold a \(type(of: value))")
            }
            setObject(object, forKey: key)
        }

        /// Sets several fields, as key-value coding does elsewhere.
        public func setValuesForKeys(_ values: [String: Any]) {
            for (key, value) in values { setValue(value, forKey: key) }
        }
    #endif

    /// The keys that have values, in no particular order.
    public func allKeys() -> [FieldKey] { Array(values.keys) }

    /// The keys that were set since the record was fetched or saved, cleared ones too.
    public func changedKeys() -> [FieldKey] { Array(changed) }

    /// The words of all text fields, for a search of one's own.
    public func allTokens() -> [String] {
        values.values.flatMap { value -> [String] in
            guard case .string(let text) = value else { return [] }
            return text.split { !$0.isLetter && !$0.isNumber }.map(String.init)
        }
    }

    /// Lets the record go with another when a tree is shared; nil lets it stand alone.
    public func setParent(_ parent: CKRecord?) { setParent(parent?.recordID) }

    /// Lets the record go with another when a tree is shared; nil lets it stand alone.
    public func setParent(_ parent: ID?) {
        self.parent = parent.map { Reference(recordID: $0, action: .none) }
    }

    /// Takes a version over, as one that nobody has changed.
    func adopt(_ version: CKRecordVersion) {
        self.version = version
        isParentChanged = false
    }

    /// Takes over what a save has brought about.
    func becomeSaved(as saved: CKRecord) {
        adopt(saved.version)
        changed = []
        unansweredWrites = []
        encrypted.becomeSaved()
        fetched = version
    }

    /// A copy with the same values and the same changes.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = CKRecord(recordType: recordType, recordID: recordID)
        copy.adopt(version)
        copy.changed = changed
        copy.isParentChanged = isParentChanged
        copy.unansweredWrites = unansweredWrites
        copy.fetched = fetched
        copy.encrypted.adopt(encrypted)
        return copy
    }

    open override var description: String {
        "<CKRecord \(recordType) \(recordID.recordName), \(values.count) fields>"
    }

    // MARK: - Archives

    /// True: archives name their classes.
    open class var supportsSecureCoding: Bool { true }

    /// Writes everything but the fields: type, name, tag, dates, people, parent and share.
    ///
    /// What is read back from it can be filled and saved as the version that it was.
    public func encodeSystemFields(with coder: NSCoder) {
        coder.encode(recordType as NSString, forKey: "RecordType")
        coder.encode(recordID, forKey: "RecordID")
        coder.encode(recordChangeTag.map { $0 as NSString }, forKey: "ETag")
        coder.encode(creationDate.map { $0 as NSDate }, forKey: "RecordCtime")
        coder.encode(modificationDate.map { $0 as NSDate }, forKey: "RecordMtime")
        coder.encode(creatorUserRecordID, forKey: "CreatorUserRecordID")
        coder.encode(lastModifiedUserRecordID, forKey: "LastModifiedUserRecordID")
        coder.encode(parent, forKey: "ParentReference")
        coder.encode(share, forKey: "ShareReference")
    }

    open func encode(with coder: NSCoder) {
        encodeSystemFields(with: coder)
        coder.encode(values, as: "")
        coder.encode(names: changed.sorted(), as: "ChangedKeys")
        coder.encode(names: unansweredWrites.sorted(), as: "UnansweredWrites")
        encrypted.encode(with: coder)
    }

    /// Reads what `encodeSystemFields` or `encode` has written, and the system fields that Apple's framework has
    /// written; nil for anything else.
    public required init?(coder: NSCoder) {
        NativeClassNames.areKnown
        guard let type = coder.object(NSString.self, "RecordType"),
            let record = coder.object(ID.self, "RecordID")
        else { return nil }
        recordType = String(type)
        recordID = record
        super.init()
        version.changeTag = coder.object(NSString.self, "ETag").map { String($0) }
        version.created = coder.object(NSDate.self, "RecordCtime") as Date?
        version.modified = coder.object(NSDate.self, "RecordMtime") as Date?
        version.creator = coder.object(ID.self, "CreatorUserRecordID")
        version.modifier = coder.object(ID.self, "LastModifiedUserRecordID")
        version.parent = coder.object(Reference.self, "ParentReference")
        version.share = coder.object(Reference.self, "ShareReference")
        version.values = coder.fieldValues("")
        changed = Set(coder.names("ChangedKeys"))
        unansweredWrites = Set(coder.names("UnansweredWrites"))
        encrypted.decode(from: coder)
    }
}

extension CKRecord: Sequence {
    /// Goes through the fields and their values, in no particular order.
    public func makeIterator() -> AnyIterator<(FieldKey, any CKRecordValueProtocol)> {
        var rest = values.makeIterator()
        return AnyIterator { rest.next().map { ($0.key, $0.value.object) } }
    }
}
