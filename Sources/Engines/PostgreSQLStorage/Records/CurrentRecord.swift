#if PostgreSQL
    import CChecksum
    import CloudModel
    import PostgreSQL
    import Storage

    /// The current version of a record, or its tombstone, as its row in `records` is.
    struct CurrentRecord {
        let record: RecordNumber
        let position: Position
        let type: Int64
        let flags: VersionFlags
        /// Empty where the row is damaged, and where the server has not sent it.
        let body: [UInt8]
        /// How many the row has, in any case.
        let bytesCounted: Int
        /// Whether the row is not what was written.
        let isDamaged: Bool
        /// Whether it holds files.
        let hasFiles: Bool
        /// Whether the body is here; of one that is left with the server nobody knows yet whether it is damaged.
        var hasBody = true

        /// The same with its body left with the server.
        var withoutBody: CurrentRecord {
            CurrentRecord(
                record: record, position: position, type: type, flags: flags, body: [],
                bytesCounted: bytesCounted, isDamaged: false, hasFiles: hasFiles, hasBody: false)
        }

        var head: StoredHead { StoredHead(record: record, position: position) }

        /// Runs a body on the version, a damaged one as it is told of.
        func visit<Value>(_ body: (StoredVersion) throws -> Value) rethrows -> Value {
            assert(hasBody, "a version is visited with its body")
            guard !isDamaged else {
                return try body(
                    StoredVersion(
                        damaged: record, position: position, flags: flags,
                        bytesCounted: bytesCounted))
            }
            return try self.body.withUnsafeBytes {
                try body(
                    StoredVersion(
                        record: record, position: position, type: type, flags: flags, body: $0))
            }
        }
    }

    /// The columns of a version, as each query of versions begins.
    enum VersionColumns {
        static let text = """
            r.record, r.position, r.type, r.flags, r.checksum, r.zone, r.deleted_at, r.body
            """
        static let count = 8

        /// After so many bytes of bodies a page of versions ends; one body alone may have more.
        static let pageBytesMax: Int64 = 8_388_608

        /// The rows that have names in a zone, and which name each has: the parameters are the store, the zone and the names.
        static let byNames = """
            unnest($3::bytea[]) WITH ORDINALITY AS n (name, number)
                CROSS JOIN LATERAL (
                    SELECT * FROM records r
                    WHERE r.store = $1 AND r.zone = $2 AND r.name = n.name OFFSET 0) r
            """

        /// The same, whether the record holds files, and how many bytes its body has.
        ///
        /// Bodies are null from where they have too many bytes together, which the headers of the rows tell.
        ///
        /// - Parameter bytes: the number of the parameter that says how many they may have.
        static func bounded(bytes: Int) -> String {
            """
            r.record, r.position, r.type, r.flags, r.checksum, r.zone, r.deleted_at,
            CASE WHEN sum(octet_length(r.body)) OVER (ROWS UNBOUNDED PRECEDING) <= $\(bytes)
                THEN r.body END,
            EXISTS (
                SELECT 1 FROM asset_uses u WHERE u.store = r.store AND u.record = r.record)::int,
            octet_length(r.body)
            """
        }

        /// The sum over all that a version says.
        static func checksum(
            _ zone: ZoneNumber, _ record: RecordNumber, _ position: Position, _ type: Int64,
            _ flags: VersionFlags, _ body: UnsafeRawBufferPointer
        ) -> Int64 {
            var sum: UInt32 = 0
            for number in [zone.value, record.value, position, type, flags.rawValue] {
                withUnsafeBytes(of: number.littleEndian) {
                    sum = checksum_crc32c(sum, $0.baseAddress, $0.count)
                }
            }
            return Int64(checksum_crc32c(sum, body.baseAddress, body.count))
        }

        /// Visits a row's version, a damaged one as it is told of; its body is the row's.
        ///
        /// - Parameter column: where the columns begin.
        static func visit<Value>(
            _ rows: Rows, _ row: Int, from column: Int = 0,
            _ visit: (ZoneNumber, StoredVersion) throws -> Value
        ) rethrows -> Value {
            let record = RecordNumber(rows.number(row, column))
            let position = rows.number(row, column + 1)
            let type = rows.number(row, column + 2)
            let flags = VersionFlags(rawValue: rows.number(row, column + 3))
            let zone = ZoneNumber(rows.number(row, column + 5))
            let body = rows.bytes(row, column + 7)
            let sum = checksum(zone, record, position, type, flags, body)
            guard sum == rows.number(row, column + 4) else {
                // Nothing of the row counts, but that somebody has deleted the record.
                let flags: VersionFlags =
                    rows.isNull(row, column + 6) ? [.hasLinks, .hasAssets] : .tombstone
                return try visit(
                    zone,
                    StoredVersion(
                        damaged: record, position: position, flags: flags, bytesCounted: body.count)
                )
            }
            return try visit(
                zone,
                StoredVersion(
                    record: record, position: position, type: type, flags: flags, body: body))
        }

        /// A row of the `bounded` columns, copied.
        static func copy(_ rows: Rows, _ row: Int, from column: Int = 0) -> CurrentRecord {
            let hasFiles = rows.number(row, column + 8) != 0
            guard rows.isNull(row, column + 7) else {
                return copy(rows, row, from: column, hasFiles: hasFiles)
            }
            return CurrentRecord(
                record: RecordNumber(rows.number(row, column)),
                position: rows.number(row, column + 1), type: rows.number(row, column + 2),
                flags: VersionFlags(rawValue: rows.number(row, column + 3)), body: [],
                bytesCounted: Int(rows.number(row, column + 9)), isDamaged: false,
                hasFiles: hasFiles, hasBody: false)
        }

        /// A row of the `text` columns, copied.
        static func copy(
            _ rows: Rows, _ row: Int, from column: Int, hasFiles: Bool
        ) -> CurrentRecord {
            visit(rows, row, from: column) { _, version in
                CurrentRecord(
                    record: version.record, position: version.position, type: version.type,
                    flags: version.flags, body: Array(version.body),
                    bytesCounted: version.bytesCounted, isDamaged: version.isDamaged,
                    hasFiles: hasFiles)
            }
        }
    }

    /// Names a record within its store.
    struct RecordKey: Hashable {
        let zone: ZoneNumber
        let name: RecordName
    }
#endif
