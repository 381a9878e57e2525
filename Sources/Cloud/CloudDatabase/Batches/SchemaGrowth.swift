import CloudModel

/// A record type as a save leaves it that needs more than the stored schema has.
struct GrownType: Equatable {
    let name: RecordTypeName
    let type: Schema.RecordType
    /// Whether the save itself brings something.
    let brings: Bool
}

/// The schema with what the operations before one bring to it.
struct SchemaGrowth {
    let schema: Schema
    private let view: BatchView

    init(_ schema: Schema, _ view: BatchView) {
        self.schema = schema
        self.view = view
    }

    /// A record type with what the batch has brought to it; nil when it has brought nothing.
    func type(_ name: RecordTypeName) -> Schema.RecordType? { view.grownType(name) }

    /// Whether the schema has room for another record type, of at most so many.
    func hasRoom(forTypes most: Int) -> Bool {
        let count = schema.types.count - Schema.builtInTypes.count
        // Nearly always there is, whatever the batch brings.
        return count + view.operationsCount <= most || count + view.typesBrought < most
    }
}

/// What the operations of a batch make of record types, in their order.
///
/// Each save that looks at what the others bring leaves the type as it is after it, whether it brings
/// anything or not: so nobody but the next one is concerned when a save is taken out.
struct TypeTimelines {
    private var entries: [RecordTypeName: Timeline] = [:]
    private var names: [Int: RecordTypeName] = [:]

    /// What becomes of one type, in the order of the operations.
    private struct Timeline {
        private(set) var all: [(index: Int, grown: GrownType)] = []

        /// How many are of operations before one.
        func count(before index: Int) -> Int {
            var (low, high) = (0, all.count)
            while low < high {
                let middle = (low + high) / 2
                if all[middle].index < index { low = middle + 1 } else { high = middle }
            }
            return low
        }

        func place(of index: Int) -> Int? {
            let place = count(before: index)
            return place < all.count && all[place].index == index ? place : nil
        }

        mutating func insert(_ grown: GrownType, _ index: Int) {
            all.insert((index, grown), at: count(before: index))
        }

        mutating func remove(_ index: Int) {
            if let place = place(of: index) { all.remove(at: place) }
        }
    }

    func type(_ name: RecordTypeName, before index: Int) -> Schema.RecordType? {
        guard let timeline = entries[name] else { return nil }
        let count = timeline.count(before: index)
        return count > 0 ? timeline.all[count - 1].grown.type : nil
    }

    func entry(_ index: Int) -> GrownType? {
        guard let name = names[index], let timeline = entries[name] else { return nil }
        return timeline.place(of: index).map { timeline.all[$0].grown }
    }

    /// The operation that looks at a type next after one.
    func next(_ name: RecordTypeName, after index: Int) -> Int {
        guard let timeline = entries[name] else { return .max }
        let place = timeline.count(before: index + 1)
        return place < timeline.all.count ? timeline.all[place].index : .max
    }

    mutating func put(_ grown: GrownType?, _ index: Int) {
        if let name = names.removeValue(forKey: index) { entries[name]?.remove(index) }
        guard let grown else { return }
        names[index] = grown.name
        entries[grown.name, default: Timeline()].insert(grown, index)
    }

    /// The names of types that there are before an operation.
    func names(before index: Int) -> [RecordTypeName] {
        entries.compactMap { ($0.value.all.first?.index ?? .max) < index ? $0.key : nil }
    }

    /// The types to which the batch brings something.
    var brought: [RecordTypeName: Schema.RecordType] {
        entries.compactMapValues { timeline in
            timeline.all.contains(where: \.grown.brings) ? timeline.all.last?.grown.type : nil
        }
    }
}
