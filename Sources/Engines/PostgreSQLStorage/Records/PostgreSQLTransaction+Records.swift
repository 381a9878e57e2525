#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage

    // Records under their names, which the transaction knows as it has left them itself.
    extension PostgreSQLTransaction {
        /// What stands under a key as far as is known; nil when nobody has asked yet.
        private func known(_ key: RecordKey) -> CurrentRecord?? {
            if let saved = job.saved[key] ?? group.changes.saved[key] {
                return .some(saved.current)
            }
            return group.known.records[key]
        }

        /// Asks for those of some names that nobody has asked for yet; one round trip, or none.
        func learn(_ names: [RecordName], in zone: ZoneNumber) throws {
            let unknown = Set(names).filter { known(RecordKey(zone: zone, name: $0)) == nil }
            guard !unknown.isEmpty else { return }
            let asked = Array(unknown)
            for name in asked { group.known.note(nil, RecordKey(zone: zone, name: name)) }
            try readCurrent(of: asked, in: zone) { index, version in
                group.known.note(
                    CurrentRecord(version), RecordKey(zone: zone, name: asked[index]))
                return true
            }
        }

        /// What stands under a name that was learned.
        func record(_ name: RecordName, in zone: ZoneNumber) -> CurrentRecord? {
            known(RecordKey(zone: zone, name: name)) ?? nil
        }

        /// The version at a position, if that is known.
        func record(at position: Position, in zone: ZoneNumber) -> CurrentRecord? {
            let key =
                job.keys[position] ?? group.changes.keys[position] ?? group.known.keys[position]
            guard let key, key.zone == zone, let record = record(key.name, in: zone),
                record.position == position
            else { return nil }
            return record
        }

        func save(_ versions: [NewVersion]) throws -> [RecordNumber] {
            for (zone, of) in Dictionary(grouping: versions, by: \.zone.number) {
                try learn(of.map(\.name), in: zone)
            }
            return try versions.map(save)
        }

        private func save(_ version: NewVersion) throws -> RecordNumber {
            let zone = version.zone
            try requireTaken(version.position)
            if version.files?.isEmpty == false { throw NotBuilt() }
            if version.shortGUID != nil { throw NotBuilt("save(shortGUID)") }
            let former = record(version.name, in: zone.number)
            try requireFormer(former, version)
            let record = try former?.record ?? RecordNumber(group.take(\.record))
            let isTombstone = version.flags.contains(.tombstone)
            guard (0...255).contains(version.flags.rawValue) else {
                throw BrokenInvariant("flags take a byte: \(version.flags.rawValue)")
            }
            let current = CurrentRecord(
                record: record, position: version.position, type: version.type,
                flags: version.flags, body: version.body, isDamaged: false)
            job.save(
                StoreChanges.Saved(current: current, deletedAt: isTombstone ? now : nil),
                RecordKey(zone: zone.number, name: version.name))
            if let links = version.links { job.links[record] = links }
            var sum = StoreChanges.ZoneSum()
            sum.changed = version.position
            sum.bytes = Int64((isTombstone ? 0 : version.body.count) - version.previousBytes)
            sum.records = (isTombstone ? 0 : 1) - (version.previousIsAlive ? 1 : 0)
            job.zones[zone.number, default: StoreChanges.ZoneSum()].add(sum)
            job.owners[zone.owner, default: 0] += sum.bytes
            return record
        }

        /// A head leads to its version, and a name to one record.
        private func requireFormer(_ former: CurrentRecord?, _ version: NewVersion) throws {
            guard let previous = version.previous else {
                guard former == nil else {
                    throw BrokenInvariant(
                        "a name leads to one record: \(version.name.text) in zone "
                            + "\(version.zone.number.value) has one")
                }
                return
            }
            guard let former, former.record == previous.record,
                former.position == previous.position
            else {
                throw BrokenInvariant(
                    "a head leads to its version: record \(previous.record.value) in zone "
                        + "\(version.zone.number.value) at \(previous.position)")
            }
        }

        func collect(_ garbage: Garbage, rowsMax: Int) throws -> Bool {
            defer { group.known = KnownRows() }
            return switch garbage {
            case .old(let moment):
                try StoreCollection(self, rowsMax: rowsMax).run(olderThan: moment)
            case .zones: throw NotBuilt("collect(zones)")
            case .previousVersions: throw NotBuilt("collect(previousVersions)")
            case .leftBehind: throw NotBuilt("collect(leftBehind)")
            }
        }
    }

    extension CurrentRecord {
        /// A copy of what a row says.
        init(_ version: StoredVersion) {
            self.init(
                record: version.record, position: version.position, type: version.type,
                flags: version.flags, body: Array(version.body), isDamaged: version.isDamaged)
        }
    }
#endif
