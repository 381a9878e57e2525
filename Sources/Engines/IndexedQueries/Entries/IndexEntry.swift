import CloudModel

/// What one index says of one record.
package enum IndexEntry: Hashable {
    /// The record has no value to sort by.
    case absent
    /// A value, cut to what an index holds.
    case value(IndexValue)
    /// The texts of the field, a line each.
    case words([UInt8])
    case location(RecordQuery.Coordinate)

    /// About how many rows the entry has in its index.
    package var rows: Int {
        switch self {
        case .absent, .value, .location: 1
        case .words(let text): 1 + text.count / 4
        }
    }

    /// All that an index says of a record; no entry twice.
    package static func entries(of record: StoredFields, for need: IndexNeed) -> Set<IndexEntry> {
        switch need.kind {
        case .values, .folded:
            switch record.content(of: need.field, isFolded: need.kind == .folded) {
            case .absent: need.kind == .values ? [.absent] : []
            case .one(let value): [.value(value.cut)]
            case .many(let members): Set(members.map { .value($0.cut) })
            }
        case .words:
            if let texts = record.texts(in: need.field) {
                [.words(Array(texts.joined(separator: "\n").utf8))]
            } else {
                []
            }
        case .locations: [record.location(in: need.field).map { .location($0) } ?? .absent]
        }
    }
}
