import CloudModel
import IndexedQueries
import Storage

// What a write does to indexes.
extension SQLiteTransaction {
    func previousFields(_ version: NewVersion) throws -> StoredFields? {
        guard version.previousIsAlive, !version.previousIsDamaged, let previous = version.previous
        else { return nil }
        return try snapshot.version(at: previous.position, in: version.zone.number) {
            $0.flags.contains(.tombstone) ? nil : try $0.storedFields()
        } ?? nil
    }

    /// Takes a record out of all indexes, of which nobody can tell what they say of it.
    func forgetInIndexes(_ record: RecordNumber, in zone: ZoneNumber) throws {
        guard !indexes.isEmpty else { return }
        let writer = try group.preparedIndexWriter(snapshot.connection)
        for index in indexes.all { try writer.forget(record, in: zone, index.number) }
        try writer.late.forget(record, in: zone)
    }

    /// Has indexes say of a record what its new version does.
    func keepUp(
        _ indexes: [StoredIndex], _ change: IndexChange, _ version: NewVersion,
        _ record: RecordNumber
    ) throws {
        switch change {
        case .later(let body):
            try leave(
                record, in: version.zone.number, to: indexes.filter { $0.holds(record) },
                previous: body, isAwaited: !version.flags.contains(.tombstone))
        case .direct(let entries):
            try write(
                entries, of: indexes, record, in: version.zone.number,
                isNew: !version.previousIsAlive)
        }
    }

    private func write(
        _ entries: [IndexChange.Entries], of indexes: [StoredIndex], _ record: RecordNumber,
        in zone: ZoneNumber, isNew: Bool
    ) throws {
        let writer = try group.preparedIndexWriter(snapshot.connection)
        for (index, entries) in zip(indexes, entries) where index.holds(record) {
            try writer.replace(
                entries.previous, with: entries.new, of: record, in: zone, index, isNew: isNew)
        }
        if try writer.values.isDue(record, indexes: indexesOfValues) {
            try enqueue(.maintenance(.index))
        }
    }

    /// Has queued work bring entries into order, where enough wait for it.
    func orderEntries(of writer: IndexWriter) throws {
        let last = try snapshot.storedIndexes.lastRecord()
        if try writer.values.isDue(last, indexes: indexesOfValues) {
            try enqueue(.maintenance(.index))
        }
    }

    private var indexesOfValues: Int { indexes.all.count { $0.need.kind.keepsValues } }

    func makeIndexes(_ needs: [IndexNeed], ofType type: Int64) throws {
        try workOnIndexes { try $0.make(needs, ofType: type) }
        if indexes.hasWork { try enqueue(.maintenance(.index)) }
    }

    func dropIndexes(ofType type: Int64, fields: Set<String>?) throws {
        try workOnIndexes { try $0.drop(ofType: type, fields: fields) }
        if indexes.hasWork { try enqueue(.maintenance(.index)) }
    }

    func workOnIndexes(recordsMax: Int) throws -> Bool {
        let values = try group.preparedIndexWriter(snapshot.connection).values
        let hasMore =
            try indexes.hasWork ? workOnIndexes { try $0.step(recordsMax: recordsMax) } : false
        let last = try snapshot.storedIndexes.lastRecord()
        if try values.hasWork(last, indexes: indexesOfValues) {
            try values.step(entriesMax: recordsMax)
            return try values.hasWork(last, indexes: indexesOfValues) || hasMore
        }
        return hasMore
    }

    private func workOnIndexes<Value>(_ body: (inout IndexWork) throws -> Value) throws -> Value {
        var work = IndexWork(
            snapshot.connection, versions: snapshot.versions, reader: snapshot.storedIndexes,
            writer: try group.preparedIndexWriter(snapshot.connection), catalog: indexes)
        let value = try body(&work)
        try group.indexWriter?.values.finish()
        indexes = work.catalog
        if try hasLateEntries() { try enqueue(.maintenance(.lateEntries)) }
        return value
    }
}
