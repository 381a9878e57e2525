import CloudModel
import JSON
import Storage

/// One living record that a survey finds, as its owner sees it.
package struct SurveyedRecord {
    /// Whose zone it is in; `publicOwner` for the public database.
    package let owner: UserRecordName
    package let zone: ZoneName
    /// As `records/lookup` answers it, without links to assets; valid only while the visiting closure runs.
    package let body: UnsafeRawBufferPointer
    /// The files of its assets.
    package let files: [AssetDigest]
    /// What a share is for; nil for a record that is none.
    package let share: SharedRoot?

    /// What a share is for.
    package enum SharedRoot: Sendable, Equatable {
        case record(RecordName)
        case zone
    }
}

/// Which records of a store a survey hands out.
package struct RecordSelection: Sendable {
    /// Whose zones; `publicOwner` for the public database, nil for everybody's.
    package var owner: UserRecordName?
    package var zone: ZoneName?
    package var type: RecordTypeName?
    /// All must hold; only with a type, as `QueryCheck` has admitted them without indexes.
    package var filters: [RecordQuery.Filter] = []

    package init() {}
}

/// Goes through the records of a store in an order that stays, step by step, without an index and for nobody in particular.
///
/// Shares come behind other records of their zone, so that what is stored of them is read at once.
///
/// A record that is saved while a survey goes on may come again later, the newer version last. One that exists throughout
/// comes at least once.
package struct SurveyRecords {
    /// What one step has come to.
    package struct Step: Sendable {
        /// Where to go on; nil at the end.
        package let cursor: SurveyCursor?
        /// How many records are not what was written, and left out.
        package let damaged: Int
    }

    /// So that no reader holds up the log for long.
    private static let versionsMax = 2_000

    private let selection: RecordSelection
    private let storage: any Store
    private let limits: ServiceLimits
    private let viewed: (UserRecordName) -> Database

    /// - Parameter viewed: the private database of an owner, as they see it; asked for where there are shares.
    package init(
        _ selection: RecordSelection, of storage: any Store, limits: ServiceLimits,
        viewed: @escaping (UserRecordName) -> Database
    ) {
        self.selection = selection
        self.storage = storage
        self.limits = limits
        self.viewed = viewed
    }

    /// Visits the next records.
    ///
    /// Blocks: never on an event loop.
    ///
    /// - Throws: `Fault` for words that cannot be searched for; what `visit` and the storage report.
    package func step(
        after cursor: SurveyCursor, _ visit: (SurveyedRecord) throws -> Void
    ) throws -> Step {
        try storage.read { snapshot in
            let reader = try SurveyReader(selection, snapshot, limits, viewed)
            if selection.owner != nil {
                return try step(after: cursor, in: reader, snapshot, visit)
            }
            do {
                let next = try snapshot.versions(after: cursor, limit: Self.versionsMax) {
                    try reader.visit($1, in: $0, visit)
                    return true
                }
                try reader.finish(visit)
                return Step(cursor: next, damaged: 0)
            } catch let damaged as DamagedVersion {
                try reader.finish(visit)
                return Step(
                    cursor: SurveyCursor(zone: damaged.zone, position: damaged.position),
                    damaged: 1)
            }
        }
    }

    /// The next records of one owner's zones, in the order of the zones' numbers.
    private func step(
        after cursor: SurveyCursor, in reader: SurveyReader, _ snapshot: any StoreSnapshot,
        _ visit: (SurveyedRecord) throws -> Void
    ) throws -> Step {
        guard let name = selection.owner, let owner = try snapshot.owner(named: name) else {
            return Step(cursor: nil, damaged: 0)
        }
        let zones = try snapshot.zones(of: owner.number).sorted {
            $0.number.value < $1.number.value
        }
        var (seen, last) = (0, cursor)
        do {
            for zone in zones where zone.number.value >= cursor.zone.value {
                let after = zone.number == cursor.zone ? cursor.position : 0
                try snapshot.versions(
                    in: zone.number, after: after, through: .max, newestFirst: false
                ) { version in
                    guard seen < Self.versionsMax else { return false }
                    seen += 1
                    last = SurveyCursor(zone: zone.number, position: version.position)
                    try reader.visit(version, in: zone.number, visit)
                    return true
                }
                if seen >= Self.versionsMax { break }
            }
        } catch let damaged as DamagedVersion {
            try reader.finish(visit)
            return Step(
                cursor: SurveyCursor(zone: damaged.zone, position: damaged.position), damaged: 1)
        }
        try reader.finish(visit)
        return Step(cursor: seen >= Self.versionsMax ? last : nil, damaged: 0)
    }
}
