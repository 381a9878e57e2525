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
    private var entries: [RecordTypeName: [(index: Int, grown: GrownType)]] = [:]
    private var names: [Int: RecordTypeName] = [:]

    func type(_ name: RecordTypeName, before index: Int) -> Schema.RecordType? {
        entries[name]?.last { $0.index < index }?.grown.type
    }

    func entry(_ index: Int) -> GrownType? {
        names[index].flatMap { name in entries[name]?.first { $0.index == index }?.grown }
    }

    /// The operation that looks at a type next after one.
    func next(_ name: RecordTypeName, after index: Int) -> Int {
        entries[name]?.first { $0.index > index }?.index ?? .max
    }

    mutating func put(_ grown: GrownType?, _ index: Int) {
        if let name = names.removeValue(forKey: index) {
            entries[name]?.removeAll { $0.index == index }
        }
        guard let grown else { return }
        names[index] = grown.name
        let place = entries[grown.name]?.firstIndex { $0.index > index }
        entries[grown.name, default: []].insert(
            (index, grown), at: place ?? entries[grown.name]?.count ?? 0)
    }

    /// The names of types that there are before an operation.
    func names(before index: Int) -> [RecordTypeName] {
        entries.compactMap { ($0.value.first?.index ?? .max) < index ? $0.key : nil }
    }

    /// The types to which the batch brings something.
    var brought: [RecordTypeName: Schema.RecordType] {
        entries.compactMapValues { all in
            all.contains(where: \.grown.brings) ? all.last?.grown.type : nil
        }
    }
}
