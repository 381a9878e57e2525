import CloudModel
import Files
import SQLite
import Storage
import StoredRows

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension SQLiteStore {
    private static let pageBytes: Int64 = 4_096
    /// How often and how long readers are waited for who keep the file from being cut off.
    private static let cutAttempts = 100
    private static let readerMicroseconds: UInt32 = 20_000

    package func size(owners ownersMax: Int, counting: StoreCounting) throws -> StoreSize {
        StoreSize(
            space: try space(), amount: try amount(),
            owners: ownersMax > 0 ? try largestOwners(limit: ownersMax) : [],
            counts: counting.contains(.contents) ? try counts() : nil,
            indexes: counting.contains(.indexes) ? try indexSizes() : [])
    }

    func space() throws -> StoreSpace {
        let free = try looking { try $0.freePageCount() }
        return StoreSpace(
            bytes: FileSystem.size(of: path) + FileSystem.size(of: path + "-wal"),
            freeBytes: Int64(free) * Self.pageBytes)
    }

    private func amount() throws -> StoredAmount {
        try looking { connection in
            let row = try connection.prepare(
                """
                SELECT coalesce(sum(record_count), 0), coalesce(sum(body_bytes), 0),
                    coalesce(sum(asset_bytes), 0)
                FROM zones WHERE deleted_at IS NULL
                """)
            defer { row.reset() }
            return try row.step() ? StoredAmount(row, from: 0) : StoredAmount()
        }
    }

    private func counts() throws -> StoreCounts {
        try looking { connection in
            let row = try connection.prepare(
                """
                SELECT (SELECT count(*) FROM asset_files WHERE unused_since IS NULL),
                    (SELECT count(*) FROM tombstones),
                    (SELECT count(DISTINCT owner) FROM zones
                        WHERE deleted_at IS NULL AND owner != 0)
                """)
            defer { row.reset() }
            guard try row.step() else { throw InvalidRow(table: "zones") }
            return StoreCounts(
                assets: row.int64(0), tombstones: row.int64(1), users: row.int64(2))
        }
    }

    private func largestOwners(limit: Int) throws -> [OwnerAmount] {
        try looking { connection in
            let rows = try connection.prepare(
                """
                SELECT o.record_name, sum(z.record_count), sum(z.body_bytes), sum(z.asset_bytes)
                FROM owners o JOIN zones z ON z.owner = o.id WHERE z.deleted_at IS NULL
                GROUP BY o.id ORDER BY o.used_bytes DESC, o.id LIMIT ?1
                """)
            defer { rows.reset() }
            rows.bind(Int64(limit), at: 1)
            var found: [OwnerAmount] = []
            while try rows.step() {
                guard let owner = UserRecordName(rows.string(0)) else {
                    throw InvalidRow(table: "owners")
                }
                found.append(OwnerAmount(owner: owner, amount: StoredAmount(rows, from: 1)))
            }
            return found
        }
    }

    package func giveBackSpace(while goesOn: (StoreSpace) -> Bool) throws {
        do {
            let pace = OverwritingPace(first: 16, most: Maintenance.space.step.upperBound)
            // NB: what cannot be looked at ends nothing; the step meets it too, and tells.
            try inSteps(from: false, pace, { (try? goesOn(space())) ?? true }) {
                transaction, _, amount in
                try transaction.connection.giveBackFreePages(countMax: amount)
                return try transaction.connection.freePageCount() == 0
            } isDone: {
                $0
            }
        } catch is OverwritingEnded {
            // NB: what was given back is; the rest stays for another time.
            return
        }
        try cutOff(goesOn)
    }

    /// Has the file end where its last page does, which a checkpoint of the whole log sees to.
    private func cutOff(_ goesOn: (StoreSpace) -> Bool) throws {
        for _ in 0..<Self.cutAttempts {
            if try emptyLogOnce() { return }
            guard try goesOn(space()) else { return }
            usleep(Self.readerMicroseconds)
        }
        // A long reader stands in the way; a later checkpoint finds it gone.
    }

    private func looking<Value>(_ body: (Connection) throws -> Value) throws -> Value {
        try read { snapshot in
            guard let snapshot = snapshot as? SQLiteSnapshot else {
                throw InvalidRow(table: "zones")
            }
            return try body(snapshot.connection)
        }
    }
}

extension StoredAmount {
    fileprivate init(_ row: Statement, from column: Int32) {
        self.init(
            records: row.int64(column), recordBytes: row.int64(column + 1),
            assetBytes: row.int64(column + 2))
    }
}
