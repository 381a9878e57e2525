import Foundation

/// The engine's state as it is kept between runs.
struct StoredState: Codable, Sendable {
    /// Tells later versions how to read this.
    private var format = 1
    private var saves: [Name] = []
    private var deletions: [Name] = []
    private var zonesToSave: [Zone] = []
    private var zonesToDelete: [Zone] = []
    private var databaseToken: String?
    private var zoneTokens: [ZoneToken] = []
    private var unfetched: [Zone] = []
    private var user: String?
    private var subscription: String?
    private var hasUntracked = false
    /// Nil in states of former versions.
    private var writeID: String?

    private struct Zone: Codable {
        let name: String
        let owner: String

        init(_ id: CKRecordZone.ID) {
            name = id.zoneName
            owner = id.ownerName
        }

        var id: CKRecordZone.ID { CKRecordZone.ID(zoneName: name, ownerName: owner) }
    }

    private struct Name: Codable {
        let record: String
        let zone: Zone
        /// Where among all pending changes it stands.
        let place: Int

        var id: CKRecord.ID { CKRecord.ID(recordName: record, zoneID: zone.id) }
    }

    private struct ZoneToken: Codable {
        let zone: Zone
        let token: String
    }

    init(_ contents: EngineMemory.Contents) {
        var records = contents.records
        records.putBack(contents.recordsInFlight)
        for (place, change) in records.changes.enumerated() {
            let id = change.recordID
            let name = Name(record: id.recordName, zone: Zone(id.zoneID), place: place)
            if case .saveRecord = change { saves.append(name) } else { deletions.append(name) }
        }
        var database = contents.database
        database.putBack(contents.databaseInFlight)
        for change in database.changes {
            switch change {
            case .saveZone(let zone): zonesToSave.append(Zone(zone.zoneID))
            case .deleteZone(let id): zonesToDelete.append(Zone(id))
            }
        }
        databaseToken = contents.databaseToken?.text
        zoneTokens = contents.zoneTokens.map { ZoneToken(zone: Zone($0), token: $1.text) }
        unfetched = contents.unfetched.map(Zone.init)
        user = contents.user?.recordName
        subscription = contents.subscription
        hasUntracked = contents.hasUntracked
        writeID = contents.writeID
    }

    var contents: EngineMemory.Contents {
        var contents = EngineMemory.Contents()
        let changes =
            saves.map { ($0.place, CKSyncEngine.PendingRecordZoneChange.saveRecord($0.id)) }
            + deletions.map { ($0.place, .deleteRecord($0.id)) }
        contents.records.add(changes.sorted { $0.0 < $1.0 }.map(\.1))
        contents.database.add(zonesToSave.map { .saveZone(CKRecordZone(zoneID: $0.id)) })
        contents.database.add(zonesToDelete.map { .deleteZone($0.id) })
        contents.databaseToken = databaseToken.map(CKServerChangeToken.init)
        for stored in zoneTokens {
            contents.zoneTokens[stored.zone.id] = CKServerChangeToken(stored.token)
        }
        contents.unfetched = unfetched.map(\.id)
        contents.user = user.map { CKRecord.ID(recordName: $0) }
        contents.subscription = subscription
        contents.hasUntracked = hasUntracked
        if let writeID { contents.writeID = writeID }
        return contents
    }
}
