import CloudModel
import SQLite
import Storage

// Which records shares cover, and what is still to be worked through.
extension SQLiteSnapshot {
    func currentMemberships(of records: [RecordNumber]) throws -> [CurrentMembership?] {
        try records.map(currentMembership)
    }

    private func currentMembership(_ record: RecordNumber) throws -> CurrentMembership? {
        let statement = try shareStatements().coverage.current
        defer { statement.reset() }
        statement.bind(record.value, at: 1)
        guard try statement.step() else { return nil }
        return CurrentMembership(
            share: ShareNumber(statement.int64(0)), position: statement.int64(1))
    }

    func memberships(
        _ selections: [MembershipSelection], in zone: ZoneNumber
    ) throws -> [MembershipRun?] {
        try selections.map { selection in
            switch selection {
            case .share(let share, let after, let limit, let withVersions):
                try memberships(share, zone, after: after, limit: limit, withVersions: withVersions)
            case .viewer(let viewer, let after, let limit):
                try changedMemberships(viewer, zone, after: after, limit: limit)
            }
        }
    }

    private func memberships(
        _ share: ShareNumber, _ zone: ZoneNumber, after: Position, limit: Int, withVersions: Bool
    ) throws -> MembershipRun {
        let statements = try shareStatements().coverage
        let statement = withVersions ? statements.membershipsWithVersions : statements.memberships
        statement.bind(share.value, at: 1)
        statement.bind(after, at: 2)
        if withVersions { statement.bind(Self.key(zone, 0), at: 3) }
        return try run(statement, limit: limit, withVersionsOf: withVersions ? zone : nil)
    }

    private func changedMemberships(
        _ viewer: UserRecordName, _ zone: ZoneNumber, after: Position, limit: Int
    ) throws -> MembershipRun? {
        let statement = try shareStatements().coverage.changedMemberships
        defer { statement.reset() }
        statement.bind(viewer.text, at: 1)
        statement.bind(zone.value, at: 2)
        statement.bind(after, at: 3)
        statement.bind(Self.key(zone, 0), at: 4)
        let run = MembershipRun(limit: limit)
        while try statement.step() {
            guard run.hasRoom, statement.int64(8) != 0 else { return nil }
            // A grant may have changed without a membership.
            guard !statement.isNull(0) else { continue }
            do {
                try append(statement, to: run, withVersionOf: zone)
            } catch is DamagedVersion {
                // NB: who goes through the shares one by one gets as far as it.
                return nil
            }
        }
        run.end()
        return run
    }

    func coverageWork(_ keys: [CoverageWorkKey]) throws -> [Position?] {
        let statements = try shareStatements().coverage
        return try keys.map { key in
            switch key {
            case .children(let record, let share):
                try statements.workOfChildren.first(share.value, record.value) { $0.int64(0) }
            case .share(let share): try statements.workOfShare.first(share.value) { $0.int64(0) }
            case .zone(let zone): try statements.workOfZone.first(zone.value) { $0.int64(0) }
            }
        }
    }

    /// Takes rows until there are enough of them or no more.
    ///
    /// - Parameter zone: that of the versions; nil for none of them.
    /// - Throws: `DamagedVersion` for the first row; before a later one the run ends.
    private func run(
        _ statement: Statement, limit: Int, withVersionsOf zone: ZoneNumber?
    ) throws -> MembershipRun {
        defer { statement.reset() }
        let run = MembershipRun(limit: limit)
        while try statement.step() {
            guard run.hasRoom else { return run }
            do {
                try append(statement, to: run, withVersionOf: zone)
            } catch let damaged as DamagedVersion {
                guard !run.memberships.isEmpty else { throw damaged }
                return run
            }
        }
        run.end()
        return run
    }

    private func append(
        _ row: Statement, to run: MembershipRun, withVersionOf zone: ZoneNumber?
    ) throws {
        let membership = StoredMembership(
            share: ShareNumber(row.int64(0)), position: row.int64(1),
            record: RecordNumber(row.int64(2)), version: row.int64(3), type: row.int64(4),
            entered: row.int64(5), left: row.isNull(6) ? nil : row.int64(6))
        guard let zone, membership.left == nil else { return run.append(membership) }
        let key = Self.key(zone, membership.version)
        if !row.isNull(7) {
            return try versions.visit(content: row.bytes(7), at: key) {
                run.append(membership, $0)
            }
        }
        let isThere = try versions.visit(at: key) { run.append(membership, $0) } != nil
        if !isThere { run.append(membership) }
    }
}
