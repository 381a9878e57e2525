import CloudModel

/// A record type as a save leaves it, with more than the stored schema has.
struct GrownType: Equatable {
    let name: RecordTypeName
    let type: Schema.RecordType
    /// Whether the save itself adds something.
    let brings: Bool
}

/// The schema together with what the operations before one add to it.
struct SchemaGrowth {
    let schema: Schema
    let view: BatchView

    /// A record type together with what the batch has added to it; nil when it has added nothing.
    func type(_ name: RecordTypeName) -> Schema.RecordType? { view.grownType(name) }

    /// Whether the schema has room for one more record type, when `most` are allowed.
    func hasRoom(forTypes most: Int) -> Bool {
        let count = schema.types.count - Schema.builtInTypes.count
        // There nearly always is, whatever the batch adds.
        return count + view.operationsCount <= most || count + view.typesBrought < most
    }
}

/// What the operations of a batch make of record types, in their order.
///
/// Each save that looks at the additions of others also notes the type as it is after the save, whether the
/// save adds anything or not. So when a save is taken out, only the next such save must look again.
struct TypeTimelines {
    private var entries: [RecordTypeName: Timeline] = [:]
    private var names: [Int: RecordTypeName] = [:]

    /// What happens to one type, in the order of the operations.
    private struct Timeline {
        private(set) var all: [(index: Int, grown: GrownType)] = []

        /// How many entries are from operations before one.
        func count(before index: Int) -> Int {
            var (low, high) = (0, all.count)
            while low < high {
                let middle = (low + high) / 2
                if all[middle].index < index { low = middle + 1 } else { high = middle }
            }
            return low
        }

        func offset(of index: Int) -> Int? {
            let offset = count(before: index)
            return offset < all.count && all[offset].index == index ? offset : nil
        }

        mutating func insert(_ grown: GrownType, _ index: Int) {
            all.insert((index, grown), at: count(before: index))
        }

        mutating func remove(_ index: Int) {
            if let offset = offset(of: index) { all.remove(at: offset) }
        }
    }

    func type(_ name: RecordTypeName, before index: Int) -> Schema.RecordType? {
        guard let timeline = entries[name] else { return nil }
        let count = timeline.count(before: index)
        return count > 0 ? timeline.all[count - 1].grown.type : nil
    }

    func entry(_ index: Int) -> GrownType? {
        guard let name = names[index], let timeline = entries[name] else { return nil }
        return timeline.offset(of: index).map { timeline.all[$0].grown }
    }

    /// The next operation after one that looks at a type.
    func next(_ name: RecordTypeName, after index: Int) -> Int {
        guard let timeline = entries[name] else { return .max }
        let offset = timeline.count(before: index + 1)
        return offset < timeline.all.count ? timeline.all[offset].index : .max
    }

    mutating func put(_ grown: GrownType?, _ index: Int) {
        if let name = names.removeValue(forKey: index) { entries[name]?.remove(index) }
        guard let grown else { return }
        names[index] = grown.name
        entries[grown.name, default: Timeline()].insert(grown, index)
    }

    /// The names of the added types before an operation.
    func names(before index: Int) -> [RecordTypeName] {
        entries.compactMap { ($0.value.all.first?.index ?? .max) < index ? $0.key : nil }
    }

    /// The types to which the batch adds something.
    var brought: [RecordTypeName: Schema.RecordType] {
        entries.compactMapValues { timeline in
            timeline.all.contains(where: \.grown.brings) ? timeline.all.last?.grown.type : nil
        }
    }
}
