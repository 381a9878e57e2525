import CloudKitWire
import Foundation

/// What a person's devices are told of without asking: one of `CKQuerySubscription`,
/// `CKRecordZoneSubscription` and `CKDatabaseSubscription`.
///
/// It belongs to the user who saves it, and tells all their devices but the one that made the
/// change.
open class CKSubscription: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Unchecked: as with records, one thread at a time changes it.

    /// What a subscription is known by within its database.
    public typealias ID = String
    /// What a notification shows and carries.
    public typealias NotificationInfo = CKNotificationInfo

    /// What a subscription watches.
    public enum SubscriptionType: Int, Sendable {
        /// To the records that match a query.
        case query = 1
        /// To all of a zone.
        case recordZone = 2
        /// To all of a database.
        case database = 3
    }

    /// What the subscription is known by; chosen by the app, or a new UUID.
    public let subscriptionID: ID
    /// What the subscription watches.
    public let subscriptionType: SubscriptionType
    /// What its notifications show and carry; without one they are silent.
    public var notificationInfo: NotificationInfo?

    init(_ type: SubscriptionType, _ subscriptionID: ID) {
        subscriptionType = type
        self.subscriptionID = subscriptionID
    }

    /// Writes what this kind of subscription has beside its type, name and notification.
    func write(_ json: inout JSONText) throws {}

    /// Takes over what a server or an archive says beside type, name and notification.
    func read(_ view: JSONView, _ reader: AnswerReader) {}

    /// The same subscription with the same settings.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKSubscription else { return false }
        return subscriptionID == other.subscriptionID
            && subscriptionType == other.subscriptionType
    }

    open override var hash: Int { subscriptionID.hashValue }

    open override var description: String { "<\(type(of: self)) \(subscriptionID)>" }

    /// A copy that can be changed by itself.
    open func copy(with zone: NSZone? = nil) -> Any {
        guard let text = try? SubscriptionText.bytes(of: self), let view = try? JSONTape(text).root,
            let copy = SubscriptionText.subscription(view, SubscriptionText.ownReader)
        else { return self }
        return copy
    }

    // MARK: - Archives

    /// True: archives name their classes.
    open class var supportsSecureCoding: Bool { true }

    /// Writes it into an archive.
    open func encode(with coder: NSCoder) {
        let text = (try? SubscriptionText.bytes(of: self)) ?? []
        coder.encode(Data(text) as NSData, forKey: "Subscription")
    }

    /// Reads it from an archive; nil for anything else.
    public required init?(coder: NSCoder) {
        guard let data = coder.object(NSData.self, "Subscription") as Data?,
            let view = try? JSONTape([UInt8](data)).root,
            let id = view["subscriptionID"]?.string,
            let type = SubscriptionText.type(view["subscriptionType"]?.string)
        else { return nil }
        subscriptionID = id
        subscriptionType = type
        super.init()
        notificationInfo = view["notificationInfo"].map(CKNotificationInfo.init)
        read(view, SubscriptionText.ownReader)
    }
}

/// Tells of records of one type that come to match, or cease to.
///
/// In the public and the private database.
public final class CKQuerySubscription: CKSubscription, @unchecked Sendable {
    // Unchecked: as its parent.

    /// What is told.
    public struct Options: OptionSet, Sendable {
        /// The native number of these options.
        public let rawValue: UInt

        /// Options by their native number.
        public init(rawValue: UInt) { self.rawValue = rawValue }

        /// Records that are made.
        public static let firesOnRecordCreation = Options(rawValue: 1)
        /// Records that are changed.
        public static let firesOnRecordUpdate = Options(rawValue: 2)
        /// Records that are deleted.
        public static let firesOnRecordDeletion = Options(rawValue: 4)
        /// Only the first of these, after which the server deletes the subscription.
        public static let firesOnce = Options(rawValue: 8)
    }

    /// The type of the records.
    public var recordType: CKRecord.RecordType { query.recordType }
    /// What must hold of them.
    public var predicate: NSPredicate { query.predicate }
    /// What is told.
    public private(set) var querySubscriptionOptions: Options
    /// The zone that is watched; nil for all.
    public var zoneID: CKRecordZone.ID?
    private(set) var query: CKQuery

    /// - Parameter subscriptionID: a name of the app's choice, of one subscription of the database.
    public init(
        recordType: CKRecord.RecordType, predicate: NSPredicate,
        subscriptionID: CKSubscription.ID = UUID().uuidString, options: Options = []
    ) {
        query = CKQuery(recordType: recordType, predicate: predicate)
        querySubscriptionOptions = options
        super.init(.query, subscriptionID)
    }

    /// Reads it from an archive; nil for anything else.
    public required init?(coder: NSCoder) {
        query = CKQuery(recordType: "", predicate: NSPredicate(value: true))
        querySubscriptionOptions = []
        super.init(coder: coder)
    }

    private static let words: [(Options, String)] = [
        (.firesOnRecordCreation, "create"), (.firesOnRecordUpdate, "update"),
        (.firesOnRecordDeletion, "delete"),
    ]

    override func write(_ json: inout JSONText) throws {
        guard let filters = try query.filters() else {
            throw CKError(.invalidArguments, "a subscription to what holds for no record")
        }
        json.key("query")
        try json.query(recordType, filters, [])
        json.key("firesOn")
        json.array { json in
            for (option, word) in Self.words where querySubscriptionOptions.contains(option) {
                json.string(word)
            }
        }
        if querySubscriptionOptions.contains(.firesOnce) {
            json.key("firesOnce")
            json.bool(true)
        }
        if let zoneID {
            json.zone(zoneID)
        } else {
            json.key("zoneWide")
            json.bool(true)
        }
    }

    override func read(_ view: JSONView, _ reader: AnswerReader) {
        zoneID = reader.zoneID(view["zoneID"])
        let filters = view["query"]?["filterBy"]?.elements.compactMap(reader.filter) ?? []
        query = CKQuery(recordType: view["query"]?["recordType"]?.string ?? "", filters: filters)
        let fires = view["firesOn"]?.elements.compactMap(\.string) ?? []
        querySubscriptionOptions = Options(
            Self.words.filter { fires.contains($0.1) }.map(\.0)
                + (view["firesOnce"]?.bool == true ? [.firesOnce] : []))
    }
}

/// Tells of any change in one zone of the private database.
public final class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
    // Unchecked: as its parent.

    /// The zone that is watched.
    public private(set) var zoneID: CKRecordZone.ID
    /// Only records of this type; nil for all.
    public var recordType: CKRecord.RecordType?

    /// - Parameter subscriptionID: a name of the app's choice, of one subscription of the database.
    public init(
        zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID = UUID().uuidString
    ) {
        self.zoneID = zoneID
        super.init(.recordZone, subscriptionID)
    }

    /// Reads it from an archive; nil for anything else.
    public required init?(coder: NSCoder) {
        zoneID = .default
        super.init(coder: coder)
    }

    override func write(_ json: inout JSONText) {
        json.zone(zoneID)
        if let recordType { json.member("recordType", recordType) }
    }

    override func read(_ view: JSONView, _ reader: AnswerReader) {
        zoneID = reader.zoneID(view["zoneID"]) ?? zoneID
        recordType = view["recordType"]?.string
    }
}

/// Tells of any change in the private or the shared database, also in zones that come later.
public final class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
    // Unchecked: as its parent.

    /// Only records of this type; nil for all.
    public var recordType: CKRecord.RecordType?

    /// - Parameter subscriptionID: a name of the app's choice, of one subscription of the database.
    public init(subscriptionID: CKSubscription.ID = UUID().uuidString) {
        super.init(.database, subscriptionID)
    }

    /// Reads it from an archive; nil for anything else.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    override func write(_ json: inout JSONText) {
        if let recordType { json.member("recordType", recordType) }
    }

    override func read(_ view: JSONView, _ reader: AnswerReader) {
        recordType = view["recordType"]?.string
    }
}
