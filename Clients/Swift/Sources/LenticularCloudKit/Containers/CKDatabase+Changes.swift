import CloudKitWire
import Foundation

// Feeds of changes.
extension CKDatabase {
    /// What happened to a zone.
    public enum DatabaseChange {
        /// A zone that was made, or whose records changed.
        public struct Modification: Hashable, Sendable {
            /// The zone.
            public let zoneID: CKRecordZone.ID
        }

        /// What is gone.
        public struct Deletion: Hashable, Sendable {
            /// Why a zone is gone.
            public enum Reason: Int, Sendable {
                /// An app deleted it.
                case deleted
                /// The user threw their data away: do not save it again.
                case purged
                /// The user reset their encrypted data: save it again.
                case encryptedDataReset
            }

            /// The zone.
            public let zoneID: CKRecordZone.ID
            /// Why it is gone.
            public let reason: Reason
        }
    }

    /// What happened to a record.
    public enum RecordZoneChange {
        /// A record that was made or changed.
        public struct Modification: Sendable {
            /// The record as it is now.
            public let record: CKRecord
        }

        /// What is gone.
        public struct Deletion: Hashable, Sendable {
            /// The record that is gone.
            public let recordID: CKRecord.ID
            /// What kind of record it was.
            public let recordType: CKRecord.RecordType
        }
    }

    /// A page of the feed of zones.
    public typealias DatabaseChanges = (
        modifications: [DatabaseChange.Modification], deletions: [DatabaseChange.Deletion],
        changeToken: CKServerChangeToken, moreComing: Bool
    )

    /// A page of a zone's feed.
    public typealias RecordZoneChanges = (
        modificationResultsByID: [CKRecord.ID: Result<RecordZoneChange.Modification, any Error>],
        deletions: [RecordZoneChange.Deletion], changeToken: CKServerChangeToken,
        moreComing: Bool
    )

    /// One page of the zones that changed after a token.
    ///
    /// - Throws: `CKError`, `changeTokenExpired` when everything must be fetched anew.
    public func databaseChanges(
        since token: CKServerChangeToken?, resultsLimit: Int? = nil
    ) async throws -> DatabaseChanges {
        try await databaseChanges(since: token, resultsLimit: resultsLimit, waitSeconds: nil)
    }

    /// How long a request for changes may be held, in seconds.
    private static let waitSecondsMax = 55

    /// Waits until zones have changed after a token, or the time is over; beyond Apple's framework.
    ///
    /// - Parameter seconds: 1 to 55; the server holds the request so long.
    /// - Throws: `CKError`, `changeTokenExpired` when everything must be fetched anew.
    public func databaseChanges(
        since token: CKServerChangeToken?, waitingUpTo seconds: Int
    ) async throws -> DatabaseChanges {
        try await databaseChanges(
            since: token, resultsLimit: nil,
            waitSeconds: max(1, min(Self.waitSecondsMax, seconds)))
    }

    private func databaseChanges(
        since token: CKServerChangeToken?, resultsLimit: Int?, waitSeconds: Int?
    ) async throws -> DatabaseChanges {
        let answer = try await call("changes/database") { json in
            if let token { json.member("syncToken", token.text) }
            json.resultsLimit(resultsLimit)
            if let waitSeconds {
                json.key("waitSeconds")
                json.int64(Int64(waitSeconds))
            }
        }
        let reader = try await reader()
        var modified: [DatabaseChange.Modification] = []
        var deleted: [DatabaseChange.Deletion] = []
        for zone in answer["zones"]?.elements ?? answer.elements {
            guard let id = reader.zoneID(zone["zoneID"]), !id.holdsKeys else { continue }
            if zone["deleted"]?.bool == true {
                deleted.append(DatabaseChange.Deletion(zoneID: id, reason: .init(zone["reason"])))
            } else {
                modified.append(DatabaseChange.Modification(zoneID: id))
            }
        }
        guard let next = answer["syncToken"]?.string else {
            throw CKError(.internalError, "the answer lacks its token")
        }
        return (
            modified, deleted, CKServerChangeToken(next), answer["moreComing"]?.bool ?? false
        )
    }

    /// One page of the records that changed in a zone after a token.
    ///
    /// Unless `resultsLimit` says how large pages are to be, the page after it is asked for at once, and comes
    /// while the app deals with this one.
    ///
    /// - Throws: `CKError`, `changeTokenExpired` when the zone must be fetched anew, `zoneNotFound`.
    public func recordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID, since token: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil
    ) async throws -> RecordZoneChanges {
        let page = try await zonePage(
            of: zoneID, since: token, desiredKeys: desiredKeys, resultsLimit: resultsLimit)
        var results: [CKRecord.ID: Result<RecordZoneChange.Modification, any Error>] = [:]
        results.reserveCapacity(page.records.count)
        for record in page.records {
            results[record.recordID] = await completed(.success(record)).map {
                RecordZoneChange.Modification(record: $0)
            }
        }
        return (results, page.deletions, page.token, page.moreComing)
    }
}

extension CKDatabase.DatabaseChange.Deletion.Reason {
    fileprivate init(_ view: JSONView?) {
        switch view?.string {
        case "PURGED": self = .purged
        case "ENCRYPTED_DATA_RESET": self = .encryptedDataReset
        default: self = .deleted
        }
    }
}

extension JSONText {
    mutating func resultsLimit(_ limit: Int?) {
        guard let limit, limit > 0 else { return }
        key("resultsLimit")
        int64(Int64(limit))
    }
}
