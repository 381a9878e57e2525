import Foundation

/// A push's dictionary, as the system hands it to an app.
struct RemoteNotification {
    /// The part that every push has.
    let aps: [AnyHashable: Any]
    /// The part that a server of this protocol adds.
    let ck: [AnyHashable: Any]
    /// Its part that says what has happened.
    let body: [AnyHashable: Any]
    let type: CKNotification.NotificationType

    /// - Returns: nil for a push of somebody else, and for a kind that this library does not know.
    init?(_ dictionary: [AnyHashable: Any]) {
        guard let ck = dictionary.object("ck") else { return nil }
        // In this order: a zone's push goes before a query's.
        let kinds: [(String, CKNotification.NotificationType)] = [
            ("fet", .recordZone), ("qry", .query), ("met", .database),
        ]
        guard let (key, type) = kinds.first(where: { ck.object($0.0) != nil }),
            let body = ck.object(key)
        else { return nil }
        aps = dictionary.object("aps") ?? [:]
        self.ck = ck
        self.body = body
        self.type = type
    }

    var scope: CKDatabase.Scope? {
        body.number("dbs").flatMap { CKDatabase.Scope(rawValue: $0.intValue) }
    }

    /// The caller's own zones come under `CKCurrentUserDefaultName`.
    var zoneID: CKRecordZone.ID? {
        guard let name = body.text("zid") else { return nil }
        let owner = body.text("zoid") ?? "_defaultOwner"
        let isOwn =
            owner == "_defaultOwner" || scope == .private || scope == .public
            || owner == ck.text("ckuserid")
        return CKRecordZone.ID(
            zoneName: name, ownerName: isOwn ? CKCurrentUserDefaultName : owner)
    }

    var notification: CKNotification {
        switch type {
        case .query: CKQueryNotification(self)
        case .recordZone: CKRecordZoneNotification(self)
        case .database, .readNotification: CKDatabaseNotification(self)
        }
    }
}

/// Lets an initialiser of the parent give an object of the right subclass, as natively.
public protocol ReadFromPush {}

extension CKNotification: ReadFromPush {}

extension ReadFromPush where Self: CKNotification {
    /// Reads a push's dictionary; the object is of the subclass that fits.
    ///
    /// - Returns: nil for a push that is not of a server of this protocol.
    public init?(fromRemoteNotificationDictionary dictionary: [AnyHashable: Any]) {
        guard let made = RemoteNotification(dictionary)?.notification as? Self else { return nil }
        self = made
    }
}

extension [AnyHashable: Any] {
    func text(_ key: String) -> String? {
        (self[key] as? String) ?? (self[key] as? NSString).map { String($0) }
    }

    func number(_ key: String) -> NSNumber? {
        (self[key] as? NSNumber) ?? (self[key] as? Int).map { NSNumber(value: $0) }
    }

    func object(_ key: String) -> [AnyHashable: Any]? {
        if let found = self[key] as? [AnyHashable: Any] { return found }
        return (self[key] as? [String: Any]).map { found in
            Dictionary(uniqueKeysWithValues: found.map { (AnyHashable($0.key), $0.value) })
        }
    }

    func texts(_ key: String) -> [String]? { self[key] as? [String] }
}
