import CatalogSQL
import CloudModel
import SQLite
import Storage
import StoredRows

// Who takes part in what, and what viewers have.
extension SQLiteSnapshot {
    func shares(_ keys: ShareKeys) throws -> [StoredShare?] {
        let statements = try shareStatements().shares
        return switch keys {
        case .numbers(let numbers):
            try numbers.map { try shares(statements.shareByNumber, $0.value).first }
        case .roots(let roots):
            try roots.map { try shares(statements.shareByRoot, $0.value).first }
        case .records(let records):
            try records.map { try shares(statements.shareByRecord, $0.value).first }
        case .rootsOrRecords(let records):
            try records.map {
                try shares(statements.shareByRoot, $0.value).first
                    ?? shares(statements.shareByRecord, $0.value).first
            }
        case .zones(let zones, let limit, let ofEach):
            try zones.reduce(into: []) { found, zone in
                let left = min(ofEach, limit - found.count)
                guard left > 0 else { return }
                statements.sharesOfZone.bind(Int64(left), at: 2)
                found += try shares(statements.sharesOfZone, zone.value)
            }
        }
    }

    func participants(
        _ keys: [ParticipantKey]
    ) throws -> [[(ShareNumber, StoredParticipant)]] { try keys.map { try participants($0) } }

    private func participants(
        _ key: ParticipantKey
    ) throws -> [(ShareNumber, StoredParticipant)] {
        let statements = try shareStatements().shares
        switch key {
        case .share(let share):
            statements.participants.bind(share.value, at: 1)
            return try participants(statements.participants)
        case .user(let user):
            statements.participations.bind(user.text, at: 1)
            return try participants(statements.participations)
        case .address(let address):
            statements.invitations.bind(address, at: 1)
            return try participants(statements.invitations)
        }
    }

    func accessRequests(_ keys: [AccessRequestKey]) throws -> [[StoredAccessRequest]] {
        try keys.map { try accessRequests($0) }
    }

    private func accessRequests(_ key: AccessRequestKey) throws -> [StoredAccessRequest] {
        let statements = try shareStatements().shares
        let statement: Statement
        switch key {
        case .share(let share):
            statement = statements.accessRequests
            statement.bind(share.value, at: 1)
        case .user(let user, let moment):
            statement = statements.accessRequestsOfUser
            statement.bind(user.text, at: 1)
            statement.bind(moment, at: 2)
        }
        return try statement.all(row: StoredAccessRequest.init(row:))
    }

    func shortGUIDs(_ keys: [ShortGUIDKey]) throws -> [StoredShortGUID?] {
        try keys.map { try shortGUID($0) }
    }

    private func shortGUID(_ key: ShortGUIDKey) throws -> StoredShortGUID? {
        let statements = try shareStatements().shares
        let statement: Statement
        switch key {
        case .record(let record):
            statement = statements.shortGUID
            statement.bind(record.value, at: 1)
        case .value(let value):
            statement = statements.recordByShortGUID
            statement.bind(value, at: 1)
        }
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        return StoredShortGUID(
            record: RecordNumber(statement.int64(0)), value: statement.string(1))
    }

    func grants(_ keys: [GrantKey]) throws -> [[StoredGrant]] { try keys.map(grants) }

    private func grants(_ key: GrantKey) throws -> [StoredGrant] {
        let statements = try shareStatements().viewers
        let viewer = key.viewer
        switch key.selection {
        case .shares(let shares):
            statements.grant.bind(viewer.text, at: 2)
            return try shares.flatMap { share in
                statements.grant.bind(share.value, at: 1)
                return try grants(statements.grant)
            }
        case .changed(let zone, let position):
            statements.grantsChanged.bind(viewer.text, at: 1)
            statements.grantsChanged.bind(zone.value, at: 2)
            statements.grantsChanged.bind(position, at: 3)
            return try grants(statements.grantsChanged)
        }
    }

    func views(of viewer: UserRecordName, _ selection: ViewSelection) throws -> [StoredView] {
        let statements = try shareStatements().viewers
        let statement: Statement
        switch selection {
        case .zones(let zones):
            return try zones.flatMap { zone in
                statements.view.bind(viewer.text, at: 1)
                statements.view.bind(zone.value, at: 2)
                return try views(statements.view)
            }
        case .current: statement = statements.currentViews
        case .changed(let position, let limit):
            statement = statements.viewsChanged
            statement.bind(position, at: 2)
            statement.bind(Int64(limit), at: 3)
        }
        statement.bind(viewer.text, at: 1)
        return try views(statement)
    }

    func viewer(_ name: UserRecordName) throws -> StoredViewer {
        let statement = try shareStatements().viewers.viewer
        defer { statement.reset() }
        statement.bind(name.text, at: 1)
        guard try statement.step() else { throw InvalidRow(table: "viewers") }
        return StoredViewer(oldestValidPosition: statement.int64(0))
    }

    private func shares(_ statement: Statement, _ value: Int64) throws -> [StoredShare] {
        statement.bind(value, at: 1)
        return try statement.all { try StoredShare(row: $0) }
    }

    private func participants(
        _ statement: Statement
    ) throws -> [(ShareNumber, StoredParticipant)] {
        try statement.all(row: ParticipantRow.participant)
    }

    private func grants(_ statement: Statement) throws -> [StoredGrant] {
        try statement.all(row: StoredGrant.init(row:))
    }

    private func views(_ statement: Statement) throws -> [StoredView] {
        try statement.all(row: StoredView.init(row:))
    }
}
