import Foundation

extension CKSyncEngine.Event: CustomStringConvertible {
    /// The event in one line, for logs: names of zones and records, and codes of errors.
    public var description: String {
        switch self {
        case .stateUpdate: "stateUpdate"
        case .accountChange(let event): "accountChange \(event.changeType)"
        case .fetchedDatabaseChanges(let event):
            "fetchedDatabaseChanges" + Self.list(event.modifications.map(\.zoneID.zoneName))
                + Self.list(
                    event.deletions.map { "\($0.zoneID.zoneName) \($0.reason)" }, "deleted")
        case .fetchedRecordZoneChanges(let event):
            "fetchedRecordZoneChanges"
                + Self.list(event.modifications.map(\.record.recordID.recordName))
                + Self.list(event.deletions.map(\.recordID.recordName), "deleted")
        case .sentDatabaseChanges(let event):
            "sentDatabaseChanges" + Self.list(event.savedZones.map(\.zoneID.zoneName))
                + Self.list(event.deletedZoneIDs.map(\.zoneName), "deleted")
                + Self.list(
                    event.failedZoneSaves.map { "\($0.zone.zoneID.zoneName) \($0.error.code)" }
                        + event.failedZoneDeletes.map { "\($0.key.zoneName) \($0.value.code)" }
                        .sorted(), "failed")
        case .sentRecordZoneChanges(let event):
            "sentRecordZoneChanges" + Self.list(event.savedRecords.map(\.recordID.recordName))
                + Self.list(event.deletedRecordIDs.map(\.recordName), "deleted")
                + Self.list(
                    event.failedRecordSaves.map {
                        "\($0.record.recordID.recordName) \($0.error.code)"
                    }
                        + event.failedRecordDeletes.map { "\($0.key.recordName) \($0.value.code)" }
                        .sorted(), "failed")
        case .willFetchChanges: "willFetchChanges"
        case .willFetchRecordZoneChanges(let event):
            "willFetchRecordZoneChanges \(event.zoneID.zoneName)"
        case .didFetchRecordZoneChanges(let event):
            "didFetchRecordZoneChanges \(event.zoneID.zoneName)"
                + (event.error.map { " \($0.code)" } ?? "")
        case .didFetchChanges: "didFetchChanges"
        case .willSendChanges: "willSendChanges"
        case .didSendChanges: "didSendChanges"
        }
    }

    private static func list(_ names: [String], _ title: String = "") -> String {
        names.isEmpty ? "" : " \(title)[\(names.joined(separator: ", "))]"
    }
}

extension CKSyncEngine.Event.AccountChange.ChangeType: CustomStringConvertible {
    /// What has become of the account, without whose it is.
    public var description: String {
        switch self {
        case .signIn: "signIn"
        case .signOut: "signOut"
        case .switchAccounts: "switchAccounts"
        }
    }
}
