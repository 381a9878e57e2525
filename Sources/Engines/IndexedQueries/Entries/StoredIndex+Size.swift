import Storage

extension StoredIndex {
    /// What operators are told of it.
    ///
    /// - Parameters:
    ///   - type: the name of its type.
    ///   - lastRecord: the number of the store's last record.
    ///   - entries: as of `IndexSize`.
    package func size(ofType type: String, lastRecord: Int64, entries: Int64?) -> IndexSize {
        IndexSize(
            type: type, field: need.field, kind: need.kind.sized, state: state.sized,
            percent: percent(of: lastRecord), entries: entries)
    }

    /// Whether it has an entry for each value, which are counted.
    package var countsEntries: Bool { need.kind == .values || need.kind == .folded }

    private func percent(of last: Int64) -> Int {
        guard state != .whole, last > 0 else { return 100 }
        return Int(min(filledThrough.value, last) * 100 / last)
    }
}

extension IndexKind {
    fileprivate var sized: IndexSize.Kind {
        switch self {
        case .values: .values
        case .folded: .text
        case .words: .words
        case .locations: .locations
        }
    }
}

extension StoredIndex.State {
    fileprivate var sized: IndexSize.State {
        switch self {
        case .filling: .filling
        case .whole: .whole
        case .leaving: .leaving
        }
    }
}
