import CloudModel
import IndexedQueries
import Storage

/// One entry that an index has of a record; `IndexEntry` has all words of a text as one.
enum SingleEntry: Hashable, Sendable {
    case absent
    case value(IndexValue)
    case word([UInt8])
    case location(RecordQuery.Coordinate)

    /// All entries of a record in an index, none twice, in an order that follows from the record alone.
    static func all(
        of record: StoredFields, for need: IndexNeed
    ) -> [SingleEntry] {
        switch need.kind {
        case .values, .folded:
            switch record.content(of: need.field, isFolded: need.kind == .folded) {
            case .absent: return need.kind == .values ? [.absent] : []
            case .one(let value): return [.value(value.cut)]
            case .many(let members):
                var seen: Set<IndexValue> = []
                return members.map(\.cut).filter { seen.insert($0).inserted }.map { .value($0) }
            }
        case .words:
            guard let texts = record.texts(in: need.field) else { return [] }
            return Words.of(texts.joined(separator: "\n")).map { .word($0) }
        case .locations: return [record.location(in: need.field).map { .location($0) } ?? .absent]
        }
    }

    /// The entry where it is no word.
    var other: IndexEntry? {
        switch self {
        case .absent: .absent
        case .value(let value): .value(value)
        case .word: nil
        case .location(let location): .location(location)
        }
    }

    /// The words among entries, as a list of an index's terms has them.
    static func terms(
        _ entries: some Sequence<SingleEntry>, _ index: Int64, _ zone: ZoneNumber
    ) -> [UInt8] {
        let prefix = Array(WordTerms.prefix(index, zone).utf8)
        var terms: [UInt8] = []
        for case .word(let word) in entries {
            if !terms.isEmpty { terms.append(UInt8(ascii: " ")) }
            terms.append(contentsOf: prefix)
            terms.append(contentsOf: word)
        }
        return terms
    }
}
