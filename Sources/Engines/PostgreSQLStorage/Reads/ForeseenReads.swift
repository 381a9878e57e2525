#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// What several reads said that they will ask for, as one question of each kind.
    struct ForeseenReads {
        private let reads: [ForeseenRead]
        /// The zones that they ask for, each once.
        private let zones: [[ForeseenRead]]
        /// The names, each with the read that asks for it.
        private let names: [(read: ForeseenRead, name: RecordName)]

        init(_ reads: [ForeseenRead]) {
            self.reads = reads
            zones = Array(
                Dictionary(grouping: reads) { [$0.needs.owner?.text, $0.needs.zone?.text] }.values)
            names = reads.flatMap { read in read.needs.records.map { (read, $0) } }
        }

        private static let zonesText = """
            SELECT n.number, \(ZoneRows.ownerColumns), \(ZoneRows.columns)
            FROM unnest($2::bytea[], $3::bytea[]) WITH ORDINALITY AS n (owner, zone, number)
                CROSS JOIN LATERAL (
                    SELECT * FROM current_owners o
                    WHERE o.store = $1 AND o.record_name = n.owner OFFSET 0) o
                LEFT JOIN LATERAL (
                    SELECT * FROM current_zones z WHERE z.store = $1 AND z.owner = o.owner
                        AND z.name = n.zone AND z.deleted_at IS NULL OFFSET 0) z ON true
            """

        private static let recordsText = PostgreSQLSnapshot.page(
            "n.number, \(VersionColumns.text)",
            from: """
                unnest($2::bytea[], $3::bytea[], $4::bytea[])
                    WITH ORDINALITY AS n (owner, zone, name, number)
                    \(ZoneRows.byNames)
                    CROSS JOIN LATERAL (
                        SELECT * FROM records r
                        WHERE r.store = $1 AND r.zone = z.zone AND r.name = n.name OFFSET 0) r
                """, order: "n.number", bytes: 5, limit: 6)

        func queries(_ store: Int64) -> [Query] {
            func owners(_ reads: some Sequence<ForeseenRead>) -> Value {
                .byteStrings(reads.map { $0.needs.owner.map { Array($0.text.utf8) } })
            }
            func zones(_ reads: some Sequence<ForeseenRead>) -> Value {
                .byteStrings(reads.map { $0.needs.zone.map { Array($0.text.utf8) } })
            }
            return [
                Query(
                    Self.zonesText, .number(store), owners(self.zones.lazy.map { $0[0] }),
                    zones(self.zones.lazy.map { $0[0] })),
                Query(
                    Self.recordsText, .number(store), owners(names.lazy.map(\.read)),
                    zones(names.lazy.map(\.read)), .texts(names.map(\.name.text)),
                    .number(VersionColumns.pageBytesMax), .number(Int64(names.count))),
            ]
        }

        /// Gives each read what the two questions brought.
        func take(_ zones: Rows, _ records: Rows) throws {
            for read in reads { read.rows = ReadRows(read.needs, records) }
            for row in 0..<zones.count {
                let owner = ZoneRows.owner(zones, row, from: 1)
                let column = 1 + ZoneRows.ownerColumnCount
                let zone =
                    zones.isNull(row, column) ? nil : try ZoneRows.zone(zones, row, from: column)
                for read in self.zones[Int(zones.number(row, 0)) - 1] {
                    read.rows?.owner = owner
                    read.rows?.zone = zone
                }
            }
            var bytes: Int64 = 0
            var last = 0
            for row in 0..<records.count {
                last = Int(records.number(row, 0))
                bytes += Int64(records.bytes(row, VersionColumns.count).count)
                let (read, name) = names[last - 1]
                read.rows?.records.updateValue(row, forKey: name)
            }
            // A page that its bytes have ended tells nothing of what comes behind its last row.
            guard bytes >= VersionColumns.pageBytesMax else { return }
            for (read, name) in names[last...] { read.rows?.records.removeValue(forKey: name) }
        }
    }

    /// One read of a group: what it will ask for, and what was fetched of that.
    ///
    /// Handed once to the committer's queue, and touched there alone.
    final class ForeseenRead: Sendable {
        let needs: StoreNeeds
        nonisolated(unsafe) fileprivate(set) var rows: ReadRows?

        init(_ needs: StoreNeeds) { self.needs = needs }
    }

    /// What was fetched ahead for one read.
    struct ReadRows {
        let needs: StoreNeeds
        /// The owner that the read needs; nil for none.
        var owner: StoredOwner?
        /// The zone that it needs, of that owner; nil for none.
        var zone: StoredZone?
        /// The row of each name in that zone that was asked for, nil for a name that leads to nothing.
        var records: [RecordName: Int?] = [:]
        /// Those of all reads of the group.
        let versions: Rows

        init(_ needs: StoreNeeds, _ versions: Rows) {
            self.needs = needs
            self.versions = versions
            for name in needs.records { records.updateValue(nil, forKey: name) }
        }
    }
#endif
