import CloudModel

/// How an index finds the records of one zone that match a filter.
enum FilterAccess {
    /// The rows between two places.
    case range(from: IndexPosition, to: IndexPosition)
    /// The rows of each of several values.
    case values([IndexValue])
    /// The records with these names.
    case names([RecordName])
    case words(WordSearch)
    case near(RecordQuery.Coordinate, metres: Double)
    /// No record can match.
    case nothing
}

extension RecordQuery.Filter {
    /// The index that finds the records that match the filter; nil when no index does.
    ///
    /// Negative comparators have no such index, and a list of record names needs none.
    var indexNeed: IndexNeed? {
        switch comparator {
        case .equals, .in, .listContains, .listContainsAny, .listContainsAll:
            guard subject != .system(.recordID) else { return nil }
            if comparator == .listContainsAll, case .list(let members) = value, members.isEmpty {
                return nil
            }
            return IndexNeed(subject.name, isFolded ? .folded : .values)
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .beginsWith,
            .listMemberBeginsWith:
            return IndexNeed(subject.name, .values)
        case .near: return IndexNeed(subject.name, .locations)
        case .containsAllTokens, .containsAnyTokens: return IndexNeed(subject.name, .words)
        case .notEquals, .notIn, .notBeginsWith, .notListContains, .notListContainsAny,
            .notListContainsAll, .notListMemberBeginsWith:
            return nil
        }
    }

    /// Whether this filter can find records, rather than only judge them.
    var findsRecords: Bool { indexNeed != nil || isOfNames }

    private var isOfNames: Bool {
        subject == .system(.recordID) && (comparator == .equals || comparator == .in)
    }

    /// Whether the matching rows of an index follow each other in its order.
    var isRange: Bool {
        switch comparator {
        case .lessThan, .lessThanOrEquals, .greaterThan, .greaterThanOrEquals, .beginsWith,
            .listMemberBeginsWith:
            true
        case .equals, .listContains: !isOfNames
        default: false
        }
    }

    /// Whether the filter matches within a circle around this place.
    func isCircle(around centre: RecordQuery.Coordinate) -> Bool {
        comparator == .near && value == .location(centre)
    }

    /// How to read the index in one zone.
    ///
    /// - Parameter words: those that a search for words looks for.
    func access(in zone: ZoneName, words wanted: [[UInt8]]?) -> FilterAccess {
        if searchText != nil {
            guard let wanted, !wanted.isEmpty else { return .nothing }
            return .words(WordSearch(words: wanted, needsAll: comparator == .containsAllTokens))
        }
        if case .location(let centre) = value, comparator == .near {
            return .near(centre, metres: distance ?? 0)
        }
        let values = indexValues(in: zone)
        guard let first = values.first else { return .nothing }
        if isOfNames {
            return .names(values.compactMap { $0.name })
        }
        switch comparator {
        case .in, .listContainsAny: return .values(Array(Set(values.map(\.cut))))
        case .listContainsAll: return .values([first.cut])
        default: return range(first)
        }
    }

    /// Whether the index alone tells that the filter matches, unless a row's value may be cut.
    var isCovered: Bool {
        switch comparator {
        case .listContainsAll, .listMemberBeginsWith: false
        default: true
        }
    }

    /// A cut value finds too many records, so each record itself must decide then.
    private func range(_ value: IndexValue) -> FilterAccess {
        let cut = value.cut
        let isCut = cut != value
        // In an index, numbers come before text. A range must stay within its own kind of value.
        let emptyText = IndexPosition.before(.text([]))
        let isText = if case .text = value { true } else { false }
        let lowest = isText ? emptyText : .lowest
        let highest = isText ? .highest : emptyText
        switch comparator {
        case .lessThan: return .range(from: lowest, to: isCut ? .after(cut) : .before(cut))
        case .lessThanOrEquals: return .range(from: lowest, to: .after(cut))
        case .greaterThan: return .range(from: isCut ? .before(cut) : .after(cut), to: highest)
        case .greaterThanOrEquals: return .range(from: .before(cut), to: highest)
        case .beginsWith, .listMemberBeginsWith:
            return .range(from: .before(cut), to: cut.afterPrefix.map { .before($0) } ?? .highest)
        default: return .range(from: .before(cut), to: .after(cut))
        }
    }
}

extension IndexValue {
    /// The least text that is greater than all texts with this prefix; nil when there is none.
    fileprivate var afterPrefix: IndexValue? {
        guard case .text(var bytes) = self, let last = bytes.popLast() else { return nil }
        // No byte of UTF-8 is the greatest one.
        bytes.append(last &+ 1)
        return .text(bytes)
    }

    /// The value as a record's name.
    fileprivate var name: RecordName? {
        guard case .text(let bytes) = self else { return nil }
        return RecordName(String(decoding: bytes, as: UTF8.self))
    }
}
