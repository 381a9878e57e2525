import CloudModel
import Storage

/// Deletes the records of a store that are not what was written, as their owners would delete them.
///
/// Blocks, and reads every version. What it has removed stays removed when it is cut short: run it again.
package struct RemoveDamagedRecords {
    /// What came of it.
    package struct Report: Sendable, Equatable {
        package var removed = 0
        /// For each record that stays, which it is and why.
        package var kept: [String] = []

        package init() {}
    }

    private let storage: any Store
    private let environment: Environment
    private let limits: ServiceLimits
    /// How many versions one read looks at.
    private static let stepRowsMax = 5_000

    package init(
        in storage: any Store, of environment: Environment, limits: ServiceLimits
    ) {
        self.storage = storage
        self.environment = environment
        self.limits = limits
    }

    /// - Throws: what the store reports.
    package func run() throws -> Report {
        var report = Report()
        for version in try damaged() {
            let fault = try storage.writeAndWait { [self] transaction in
                try remove(version, transaction)
            }
            if let fault { report.kept.append(fault) } else { report.removed += 1 }
        }
        return report
    }

    private func damaged() throws -> [DamagedVersion] {
        var found: [DamagedVersion] = []
        var next: SurveyCursor? = .start
        while let cursor = next {
            do {
                next = try storage.read {
                    try $0.versions(after: cursor, limit: Self.stepRowsMax) { _, _ in true }
                }
            } catch let version as DamagedVersion {
                found.append(version)
                next = SurveyCursor(zone: version.zone, position: version.position)
            }
        }
        return found
    }

    /// - Returns: why the record stays; nil when it has gone.
    private func remove(
        _ version: DamagedVersion, _ transaction: any StoreTransaction
    ) throws -> String? {
        guard let zone = try transaction.zone(version.zone), !zone.isDeleted,
            let owner = try transaction.ownerName(zone.owner),
            let name = try transaction.locations(.position(version.position, in: zone.number))
                .first??.name
        else { return "\(version): no name leads to it" }
        if try isDeletion(name, in: zone, transaction) {
            try writeDeletion(name, in: zone, of: owner, transaction)
            return nil
        }
        let isPublic = owner == .publicOwner
        let database = Database(
            scope: isPublic ? .public : .private, environment: environment,
            caller: Caller(
                kind: isPublic ? .serverKey : .user, userRecordName: owner,
                passesRoles: isPublic),
            limits: limits, storage: storage, identities: NoIdentities(), random: .system)
        let operation = RecordOperation(
            kind: .forceDelete, name: name, type: nil, changeTag: nil, fields: EncodedFields(),
            parent: .absent, rendering: .whole)
        let deletion = try ModifyRecords(
            [.operation(operation)], in: ZoneID(name: zone.name), of: database, atomic: false,
            device: "iCloud")
        for case .failed(let name, let fault) in try deletion.apply(in: transaction) {
            return "record '\(name)' of zone '\(zone.name.text)': \(fault.reason)"
        }
        return nil
    }

    private func isDeletion(
        _ name: RecordName, in zone: StoredZone, _ transaction: any StoreTransaction
    ) throws -> Bool {
        try transaction.current(of: name, in: zone.number) {
            $0.isDamaged && $0.flags.contains(.tombstone)
        } ?? false
    }

    /// Says once more that a record was deleted.
    private func writeDeletion(
        _ name: RecordName, in zone: StoredZone, of owner: UserRecordName,
        _ transaction: any StoreTransaction
    ) throws {
        let head = try transaction.head(of: name, in: zone.number)
        let body = RecordBody.tombstone(
            name: name, type: "", zone: ZoneJSON.identifier(zone.name, owner: owner))
        _ = try transaction.save(
            NewVersion(
                zone: zone, name: name, position: transaction.takePosition(), previous: head,
                previousBytes: 0, previousIsAlive: false, previousIsDamaged: true, type: 0,
                flags: .tombstone, body: body))
    }
}
