#if PostgreSQL
    import CloudModel
    import IndexedQueries
    import Storage

    /// A row of the tables of indexes: one thing that an index says of a record.
    struct EntryRow: Hashable {
        enum Key: Hashable {
            /// In the order of `OrderedValue`.
            case value([UInt8])
            case word([UInt8])
            case location(RecordQuery.Coordinate)
        }

        /// The number of the index; turned round for rows that say that there is no value.
        let index: Int64
        let zone: ZoneNumber
        let record: RecordNumber
        let key: Key

        /// All rows that an index has of a record.
        static func all(
            of fields: StoredFields, _ index: StoredIndex, _ record: RecordNumber,
            in zone: ZoneNumber
        ) -> [EntryRow] {
            func row(_ key: Key, absent: Bool = false) -> EntryRow {
                EntryRow(
                    index: absent ? -index.number : index.number, zone: zone, record: record,
                    key: key)
            }
            return IndexEntry.entries(of: fields, for: index.need).flatMap { entry in
                switch entry {
                case .absent: [row(.value(absent), absent: true)]
                case .value(let value): [row(.value(OrderedValue.bytes(value)))]
                case .location(let location): [row(.location(location))]
                case .words(let text):
                    Words.of(String(decoding: text, as: UTF8.self)).map { row(.word($0)) }
                }
            }
        }

        private static let absent = OrderedValue.bytes(.integer(0))
    }
#endif
