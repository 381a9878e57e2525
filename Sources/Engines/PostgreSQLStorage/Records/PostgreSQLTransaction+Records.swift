#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

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
        ///
        /// Bodies come as far as the group has room for them.
        func learn(_ names: [RecordName], in zone: ZoneNumber) throws {
            let unknown = Set(names).filter { known(RecordKey(zone: zone, name: $0)) == nil }
            guard !unknown.isEmpty else { return }
            let asked = Array(unknown)
            for name in asked { group.known.note(nil, RecordKey(zone: zone, name: name)) }
            let query = Query(
                """
                SELECT n.number, \(VersionColumns.bounded(bytes: 4))
                FROM \(VersionColumns.byNames)
                """, .number(store), .number(zone.value), .texts(asked.map(\.text)),
                .number(group.known.bodyBytesLeft))
            let shares = sharesQueries(asked, in: zone)
            let answers = try askByKey([query] + shares)
            guard let rows = answers.first else { return }
            for answer in answers.dropFirst() {
                SharesOfNames.add(answer, to: &group.known.shares)
            }
            for row in 0..<rows.count {
                let name = asked[Int(rows.number(row, 0)) - 1]
                group.known.note(
                    VersionColumns.copy(rows, row, from: 1), RecordKey(zone: zone, name: name))
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
            try learnFiles(of: versions)
            let needsFormer = try !indexes().isEmpty || following().isOn
            var left = LeftBodies(sendingChanges: true)
            return try versions.indices.map { index in
                let version = versions[index]
                let zone = version.zone.number
                var former = record(version.name, in: zone)
                if needsFormer, let known = former, !known.hasBody {
                    let further = versions[index...].lazy.filter { $0.zone.number == zone }
                    former = try left.whole(known, further.map(\.name), in: zone, self)
                }
                return try save(version, in: version.zone, former: former)
            }
        }

        private func save(
            _ version: NewVersion, in zone: StoredZone, former: CurrentRecord?
        ) throws -> RecordNumber {
            try requireTaken(version.position)
            try requirePrevious(former, version)
            let record = try former?.record ?? RecordNumber(group.take(\.record))
            let isTombstone = version.flags.contains(.tombstone)
            guard (0...255).contains(version.flags.rawValue) else {
                throw BrokenInvariant("flags take a byte: \(version.flags.rawValue)")
            }
            if let files = version.files, former?.hasFiles == true || !files.isEmpty {
                try replaceFiles(of: record, in: version.zone, by: files)
            }
            if let shortGUID = version.shortGUID { keep(shortGUID: shortGUID, of: record) }
            let current = CurrentRecord(
                record: record, position: version.position, type: version.type,
                flags: version.flags, body: version.body, bytesCounted: version.body.count,
                isDamaged: false,
                hasFiles: version.files.map { !$0.isEmpty } ?? former?.hasFiles ?? false)
            job.save(
                StoreChanges.Saved(current: current, deletedAt: isTombstone ? now : nil),
                RecordKey(zone: zone.number, name: version.name))
            try keepUp(former, current, in: zone.number)
            if let links = version.links {
                job.links[record] = links
                group.known.shares.link(links)
            }
            try note(version, of: record, former: former)
            var sum = ZoneSum()
            sum.changed = version.position
            sum.bytes = Int64((isTombstone ? 0 : version.body.count) - version.previousBytes)
            sum.records = (isTombstone ? 0 : 1) - (version.previousIsAlive ? 1 : 0)
            job.sums.add(sum, to: zone)
            return record
        }

        /// A head leads to its version, and a name to one record.
        private func requirePrevious(_ former: CurrentRecord?, _ version: NewVersion) throws {
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

        func collect(_ garbage: Garbage, limit: Int) throws -> Bool {
            defer { group.known = KnownRows() }
            return switch garbage {
            case .old(let moment):
                try StoreCollection(self, rowsMax: limit).run(olderThan: moment)
            case .zones(let name):
                if let owner = try owner(named: name) {
                    try StoreCollection(self, rowsMax: limit).run(zonesOf: owner.number)
                } else {
                    false
                }
            case .previousVersions(let position):
                try collectPrevious(through: position, rowsMax: limit)
            case .leftBehind(let person): try collectLeft(by: person)
            }
        }
    }
#endif
