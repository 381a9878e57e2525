#if PostgreSQL
    import CloudModel
    import PostgreSQL
    import Storage
    import StoredRows

    /// Bodies that a group has left with the server: fetched again in the order of their use, a page at a time.
    ///
    /// Each page takes the place of the one before, and the group knows no more than before.
    struct LeftBodies {
        /// Whether the server is told of what the job has changed before each page, so that its bodies are not kept either.
        let sendingChanges: Bool
        private var page: [RecordName: CurrentRecord] = [:]

        init(sendingChanges: Bool) { self.sendingChanges = sendingChanges }

        /// A record with its body.
        ///
        /// - Parameter names: those that will be asked for, this record's first; the page has as many as it can.
        mutating func whole(
            _ record: CurrentRecord, _ names: some Sequence<RecordName>, in zone: ZoneNumber,
            _ transaction: PostgreSQLTransaction
        ) throws -> CurrentRecord {
            var names = names.makeIterator()
            guard let name = names.next() else { throw InvalidRow(table: "records") }
            if page[name]?.position != record.position {
                page = [:]
                var further = [name]
                while let next = names.next() {
                    if transaction.record(next, in: zone)?.hasBody == false { further.append(next) }
                }
                page = try transaction.fetch(further, in: zone, sendingChanges: sendingChanges)
            }
            guard let whole = page[name], whole.position == record.position else {
                throw InvalidRow(table: "records")
            }
            return whole
        }
    }

    extension PostgreSQLTransaction {
        /// A page of records with their bodies: as many of the names from the first on as its bytes allow.
        fileprivate func fetch(
            _ names: [RecordName], in zone: ZoneNumber, sendingChanges: Bool
        ) throws -> [RecordName: CurrentRecord] {
            let query = PostgreSQLSnapshot.namedPage(names[...], in: zone, of: store)
            let rows = try sendingChanges ? ask([query]) : askByKey([query])
            guard let rows = rows.first else { return [:] }
            var page: [RecordName: CurrentRecord] = [:]
            for row in 0..<rows.count {
                let name = names[Int(rows.number(row, 0)) - 1]
                let hasFiles = record(name, in: zone)?.hasFiles ?? false
                page[name] = VersionColumns.copy(rows, row, from: 1, hasFiles: hasFiles)
            }
            return page
        }
    }
#endif
