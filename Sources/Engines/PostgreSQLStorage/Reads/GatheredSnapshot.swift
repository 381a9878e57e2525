#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    /// The snapshot of one read of a group.
    ///
    /// What it said that it will ask for is there; anything else takes a round trip, for which the group waits.
    final class GatheredSnapshot: PostgreSQLSnapshot {
        private let rows: ReadRows

        init(
            within connection: Connection, _ store: Int64, _ facts: StoreFacts,
            _ progress: Progress, _ rows: ReadRows
        ) {
            self.rows = rows
            super.init(within: connection, store, facts, progress)
        }

        /// The questions of others are not stopped for this one's.
        override func limit(milliseconds: Int) {}

        override func owners(_ keys: [OwnerKey]) throws -> [StoredOwner?] {
            guard let needed = rows.needs.owner, keys.count == 1, case .name(needed) = keys[0]
            else { return try super.owners(keys) }
            return [rows.owner]
        }

        override func zones(_ keys: [ZoneKey]) throws -> [StoredZone?] {
            guard keys.count == 1, let needed = rows.needs.zone else {
                return try super.zones(keys)
            }
            switch keys[0] {
            case .nameOfOwner(needed, let owner) where owner == rows.needs.owner: return [rows.zone]
            case .name(needed, let owner) where owner == rows.owner?.number: return [rows.zone]
            default: return try super.zones(keys)
            }
        }

        /// The row of each name in a zone; nil unless all of them were fetched.
        private func fetched(_ names: [RecordName], in zone: ZoneNumber) -> [Int?]? {
            guard zone == rows.zone?.number else { return nil }
            var found: [Int?] = []
            for name in names {
                guard let row = rows.records[name] else { return nil }
                found.append(row)
            }
            return found
        }

        override func heads(of names: [RecordName], in zone: ZoneNumber) throws -> [StoredHead?] {
            guard let found = fetched(names, in: zone) else {
                return try super.heads(of: names, in: zone)
            }
            return found.map { row in
                row.map {
                    StoredHead(
                        record: RecordNumber(rows.versions.number($0, 1)),
                        position: rows.versions.number($0, 2))
                }
            }
        }

        override func current(
            _ keys: CurrentKeys, inOrder: Bool,
            _ visit: (_ index: Int, StoredVersion) throws -> Bool
        ) throws {
            guard case .names(let names, let zone) = keys, let found = fetched(names, in: zone)
            else { return try super.current(keys, inOrder: inOrder, visit) }
            try visiting {
                for (index, row) in found.enumerated() {
                    guard let row else { continue }
                    let goesOn = try VersionColumns.visit(rows.versions, row, from: 1) {
                        try visit(index, $1)
                    }
                    guard goesOn else { return }
                }
            }
        }
    }
#endif
