import Foundation

/// What a server has told of by a push: one of `CKQueryNotification`, `CKRecordZoneNotification` and
/// `CKDatabaseNotification`.
///
/// Take it as a sign that something has changed, and fetch: pushes may be merged and dropped on their way.
open class CKNotification: NSObject, @unchecked Sendable {
    // Unchecked: nothing of it changes once it is made.

    /// What a notification is known by.
    public typealias ID = CKNotificationID

    /// What a notification tells of.
    public enum NotificationType: Int, Sendable {
        /// A record that came to match a query, or ceased to.
        case query = 1
        /// A zone in which something has changed.
        case recordZone = 2
        /// Never sent: of times when notifications were marked as read.
        case readNotification = 3
        /// A database in which something has changed.
        case database = 4
    }

    /// What it tells of.
    public let notificationType: NotificationType
    /// What it is known by; nil where the server does not say.
    public let notificationID: ID?
    /// The container that it is about.
    public let containerIdentifier: String?
    /// Whose subscription has fired.
    public let subscriptionOwnerUserRecordID: CKRecord.ID?
    /// Which subscription has fired.
    public let subscriptionID: CKSubscription.ID?
    /// Whether something was left out of it for want of room: fetch it.
    public let isPruned: Bool
    /// The text that was shown.
    public let alertBody: String?
    /// The key of the text that was shown.
    public let alertLocalizationKey: String?
    /// What the text has taken from the record.
    public let alertLocalizationArgs: [String]?
    /// The title that was shown.
    public let title: String?
    /// The key of the title that was shown.
    public let titleLocalizationKey: String?
    /// What the title has taken from the record.
    public let titleLocalizationArgs: [String]?
    /// The second title that was shown.
    public let subtitle: String?
    /// The key of the second title that was shown.
    public let subtitleLocalizationKey: String?
    /// What the second title has taken from the record.
    public let subtitleLocalizationArgs: [String]?
    /// The key of the button's text.
    public let alertActionLocalizationKey: String?
    /// The picture that is shown while the app starts.
    public let alertLaunchImage: String?
    /// The number at the app's icon.
    public let badge: NSNumber?
    /// The sound that was played.
    public let soundName: String?
    /// The group of actions that were offered.
    public let category: String?

    init(_ push: RemoteNotification, _ type: NotificationType) {
        notificationType = type
        notificationID = push.ck.text("nid").map(CKNotificationID.init)
        containerIdentifier = push.ck.text("cid")
        subscriptionOwnerUserRecordID = push.ck.text("ckuserid").map {
            CKRecord.ID(recordName: $0)
        }
        subscriptionID = push.body.text("sid")
        isPruned = push.ck["p"] != nil
        let alert = push.aps.object("alert")
        alertBody = alert?.text("body") ?? push.aps.text("alert")
        alertLocalizationKey = alert?.text("loc-key")
        alertLocalizationArgs = alert?.texts("loc-args")
        title = alert?.text("title")
        titleLocalizationKey = alert?.text("title-loc-key")
        titleLocalizationArgs = alert?.texts("title-loc-args")
        subtitle = alert?.text("subtitle")
        subtitleLocalizationKey = alert?.text("subtitle-loc-key")
        subtitleLocalizationArgs = alert?.texts("subtitle-loc-args")
        alertActionLocalizationKey = alert?.text("action-loc-key")
        alertLaunchImage = alert?.text("launch-image")
        badge = push.aps.number("badge")
        soundName = push.aps.text("sound")
        category = push.aps.text("category")
    }

    open override var description: String {
        "<\(type(of: self)) of \(subscriptionID ?? "no subscription")>"
    }
}

/// What a notification is known by.
public final class CKNotificationID: NSObject, NSCopying, Sendable {
    private let text: String

    init(_ text: String) { self.text = text }

    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKNotificationID)?.text == text
    }

    public override var hash: Int { text.hashValue }

    public override var description: String { text }

    /// Itself: it does not change.
    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// A record that came to match a subscription's query, or ceased to.
public final class CKQueryNotification: CKNotification, @unchecked Sendable {
    // Unchecked: as its parent.

    /// What happened to the record.
    public enum Reason: Int, Sendable {
        /// The record is new.
        case recordCreated = 1
        /// The record has changed.
        case recordUpdated
        /// The record is gone.
        case recordDeleted
    }

    /// What happened to the record.
    public let queryNotificationReason: Reason
    /// The fields that the subscription has asked for.
    public let recordFields: [CKRecord.FieldKey: Any]?
    /// The record; nil where it was left out for want of room.
    public let recordID: CKRecord.ID?
    /// The database that the record is in.
    public let databaseScope: CKDatabase.Scope

    init(_ push: RemoteNotification) {
        queryNotificationReason =
            push.body.number("fo").flatMap { Reason(rawValue: $0.intValue) } ?? .recordUpdated
        recordFields = push.body.object("af").map { fields in
            Dictionary(fields.map { ("\($0.key)", $0.value) }) { $1 }
        }
        databaseScope = push.scope ?? .public
        recordID = push.body.text("rid").map {
            CKRecord.ID(recordName: $0, zoneID: push.zoneID ?? .default)
        }
        super.init(push, .query)
    }
}

/// A zone in which something has changed.
public final class CKRecordZoneNotification: CKNotification, @unchecked Sendable {
    // Unchecked: as its parent.

    /// The zone; nil where it was left out for want of room.
    public let recordZoneID: CKRecordZone.ID?
    /// The database that the zone is in.
    public let databaseScope: CKDatabase.Scope

    init(_ push: RemoteNotification) {
        recordZoneID = push.zoneID
        databaseScope = push.scope ?? .private
        super.init(push, .recordZone)
    }
}

/// A database in which something has changed.
public final class CKDatabaseNotification: CKNotification, @unchecked Sendable {
    // Unchecked: as its parent.

    /// The database.
    public let databaseScope: CKDatabase.Scope

    init(_ push: RemoteNotification) {
        databaseScope = push.scope ?? .private
        super.init(push, .database)
    }
}
