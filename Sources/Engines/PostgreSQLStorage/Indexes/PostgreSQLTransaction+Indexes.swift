#if PostgreSQL
    import CloudModel
    import IndexedQueries
    import PostgreSQL
    import Storage

    // What a write does to indexes: rows that come and go with the commit.
    extension PostgreSQLTransaction {
        /// The indexes as the transaction has left them.
        func indexes() throws -> IndexCatalog {
            try job.indexes?.catalog ?? group.indexes(storedIndexes).catalog
        }

        /// Has indexes say of a record what its new version does.
        func keepUp(_ former: CurrentRecord?, _ current: CurrentRecord, in zone: ZoneNumber) throws
        {
            let indexes = try indexes()
            guard !indexes.isEmpty else { return }
            let gone = former.flatMap { $0.flags.contains(.tombstone) ? nil : $0 }
            if gone?.isDamaged == true { forget(current.record, in: zone, indexes) }
            let before = try rows(of: gone, indexes, in: zone)
            let after = try rows(of: current, indexes, in: zone)
            for row in before.subtracting(after) { job.entries.updateValue(false, forKey: row) }
            for row in after.subtracting(before) { job.entries.updateValue(true, forKey: row) }
        }

        /// What the indexes have of a version; nothing of one that is no record, or that nobody can read.
        private func rows(
            of record: CurrentRecord?, _ indexes: IndexCatalog, in zone: ZoneNumber
        ) throws -> Set<EntryRow> {
            guard let record, !record.isDamaged, !record.flags.contains(.tombstone) else {
                return []
            }
            let holding = indexes.ofType(record.type).filter {
                $0.state != .leaving && $0.holds(record.record)
            }
            guard !holding.isEmpty else { return [] }
            let fields = try record.visit { try $0.storedFields() }
            return Set(
                holding.flatMap { EntryRow.all(of: fields, $0, record.record, in: zone) })
        }

        /// Takes a record out of all indexes, of which nobody can tell what they say of it.
        private func forget(
            _ record: RecordNumber, in zone: ZoneNumber, _ indexes: IndexCatalog
        ) {
            let numbers = indexes.all.flatMap { [$0.number, -$0.number] }
            job.statements += ["index_values", "index_words", "index_locations"].map {
                Query(
                    """
                    DELETE FROM \($0)
                    WHERE store = $1 AND index = ANY ($2) AND zone = $3 AND record = $4
                    """, .number(store), .numbers(numbers), .number(zone.value),
                    .number(record.value))
            }
        }

        // MARK: - Which indexes there are

        func makeIndexes(_ needs: [IndexNeed], ofType type: Int64) throws {
            for need in needs {
                let isThere = try indexes().ofType(type).contains {
                    $0.need == need && $0.state != .leaving
                }
                guard !isThere else { continue }
                try set(
                    StoredIndex(
                        number: group.take(\.index), type: type, need: need, state: .filling,
                        filledThrough: RecordNumber(0)))
            }
            if try indexes().hasWork { try enqueue(.maintenance(.index)) }
        }

        /// What queries may no longer use, by the fields of a type.
        func dropIndexes(_ former: Schema.RecordType, for wanted: Schema.RecordType?) throws {
            let lost = former.lostFields(wanted)
            for var index in try indexes().ofType(former.number)
            where index.state != .leaving && lost.contains(index.need.field) {
                index.state = .leaving
                index.filledThrough = RecordNumber(0)
                try set(index)
                job.moved.insert(.indexes)
            }
            if try indexes().hasWork { try enqueue(.maintenance(.index)) }
        }

        func set(_ index: StoredIndex) throws {
            job.statements.append(IndexRows.write(index, store))
            var catalog = try indexes()
            catalog.set(index)
            try keep(catalog)
        }

        func remove(_ index: StoredIndex) throws {
            job.statements.append(IndexRows.remove(index, store))
            var catalog = try indexes()
            catalog.remove(index)
            try keep(catalog)
            job.moved.insert(.indexes)
        }

        private func keep(_ catalog: IndexCatalog) throws {
            job.indexes = StoreFacts.KnownIndexes(
                revision: try group.moveIndexes(), catalog: catalog)
        }
    }

    extension Schema.RecordType {
        /// The fields, system fields too, of which queries lose an index: they or their options go, or their type changes.
        fileprivate func lostFields(_ wanted: Schema.RecordType?) -> Set<String> {
            var lost: Set<String> = []
            for (name, field) in fields {
                let kept = wanted?.fields[name]
                let left = kept?.type == field.type ? kept?.indexes ?? [] : []
                if !field.indexes.subtracting(left).isEmpty { lost.insert(name.text) }
            }
            for (field, options) in systemFields {
                let left = wanted?.systemFields[field] ?? []
                if !options.subtracting(left).isEmpty { lost.insert(field.rawValue) }
            }
            return lost
        }
    }
#endif
