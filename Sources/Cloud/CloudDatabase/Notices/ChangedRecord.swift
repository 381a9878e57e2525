import CloudModel
import Storage

/// A record that was saved or deleted, as subscriptions look at it; read only where one needs it.
final class ChangedRecord {
    let change: FollowedChange
    let name: RecordName
    let type: RecordTypeName
    let typeNumber: Int64
    let zone: StoredZone
    let zoneOwner: UserRecordName
    private var readVersion: StoredBody??
    private var readPrevious: StoredBody??

    init?(
        _ change: FollowedChange, type: RecordTypeName, zone: StoredZone, owner: UserRecordName
    ) {
        guard change.kind == .saved || change.kind == .deleted, let name = change.name,
            let number = change.type
        else { return nil }
        self.change = change
        self.name = name
        self.type = type
        typeNumber = number
        self.zone = zone
        zoneOwner = owner
    }

    var reason: NoticePayload.Reason {
        if change.kind == .deleted { return .deleted }
        return change.wasAlive ? .updated : .created
    }

    var firing: Subscription.Firing {
        switch reason {
        case .created: .create
        case .updated: .update
        case .deleted: .delete
        }
    }

    /// The record as the change left it; nil for a deletion, and when that is no longer known.
    private func version() throws -> StoredBody? {
        if let readVersion { return readVersion }
        let read = try change.kind == .saved ? change.version?.storedBody() : nil
        readVersion = .some(read)
        return read
    }

    private func previous() throws -> StoredBody? {
        if let readPrevious { return readPrevious }
        let read = try change.previous?.storedBody()
        readPrevious = .some(read)
        return read
    }

    /// The record before and after the change, as far as there is one.
    func states() throws -> [StoredFields] {
        try [version(), previous()].compactMap { $0.map { StoredFields($0) } }
    }

    /// Who made the record; nil where that is not known.
    func creator() throws -> String? { try states().first?.creator }

    /// The values that notices show: those of the new version, or of a deleted record's last version.
    func shown() throws -> NoticeFields {
        NoticeFields(try change.kind == .saved ? version() : previous())
    }
}
