import CloudModel
import Storage

/// What the operations decided so far will have done.
///
/// The decision of an operation sees what the operations before it do. The checks afterwards see what all of
/// them do. A state that tracks also remembers who looked at what. So when a step changes, only those are
/// decided and checked again that looked at something which the change affects.
final class BatchState {
    /// Who looks at a fact: a decision or a check.
    struct Reader: Hashable {
        enum Stage { case deciding, references, trees }

        let index: Int
        let stage: Stage
    }

    /// A fact that somebody can look at.
    enum Fact: Hashable {
        /// What happens to a record, and whether the operation on it fails.
        case record(RecordKey)
        /// Which records refer to a name because of the batch.
        case sources(RecordKey)
        /// What the batch adds to a record type.
        case type(RecordTypeName)
        /// How many record types the batch adds.
        case typeCount
    }

    private let context: BatchContext
    let tracks: Bool
    private(set) var steps: [PlannedStep] = []
    private var records: [RecordKey: RecordTimeline] = [:]
    private var sources: [RecordKey: [(index: Int, source: RecordKey)]] = [:]
    private var types = TypeTimelines()
    private var readers: [Fact: Set<Reader>] = [:]
    /// Operations whose decisions looked at something that has changed since; some may appear twice.
    private var staleDecisions: [Int] = []
    /// Checks that looked at something that has changed since.
    private var staleChecks: Set<Reader> = []

    init(_ context: BatchContext, tracks: Bool) {
        self.context = context
        self.tracks = tracks
        steps.reserveCapacity(context.operations.count)
    }

    fileprivate var operationsCount: Int { context.operations.count }

    /// What the batch adds to the schema.
    var grown: [RecordTypeName: Schema.RecordType] {
        types.brought
    }

    /// What the batch makes of a record; nil for a record that it does not touch.
    func outcome(_ key: RecordKey) -> PlannedRecord? { record(key, before: .max) }

    // MARK: - Looking

    fileprivate func note(_ fact: Fact, _ reader: Reader) {
        if tracks { readers[fact, default: []].insert(reader) }
    }

    fileprivate func record(_ key: RecordKey, before index: Int) -> PlannedRecord? {
        records[key]?.record(before: index)
    }

    fileprivate func planned(_ target: RecordKey) -> [(index: Int, source: RecordKey)] {
        sources[target] ?? []
    }

    fileprivate func type(_ name: RecordTypeName, before index: Int) -> Schema.RecordType? {
        types.type(name, before: index)
    }

    fileprivate func typesBrought(before index: Int) -> Int {
        types.names(before: index).count { context.schema.types[$0] == nil }
    }

    // MARK: - Changing

    /// Adds the step of the next operation.
    func append(_ step: PlannedStep, _ grown: GrownType?) {
        let index = steps.count
        steps.append(step)
        if let grown { types.put(grown, index) }
        guard context.actsOnOthers else { return }
        visitEffects(of: step, index) { records[$0, default: RecordTimeline()].put($1, index) }
        if case .save(let save) = step, !save.links.isEmpty { insert(save.links, index) }
    }

    /// Replaces a step by another, and finds out who must look again.
    func replace(_ index: Int, by step: PlannedStep, _ grown: GrownType?) {
        let previous = steps[index]
        steps[index] = step
        staleChecks.insert(Reader(index: index, stage: .references))
        staleChecks.insert(Reader(index: index, stage: .trees))
        if previous.isFault != step.isFault, let operation = context.operation(index) {
            touch(.record(context.key(operation.name)), index)
        }
        replaceType(index, by: grown)
        guard context.actsOnOthers else { return }
        visitEffects(of: previous, index) { key, _ in
            records[key]?.remove(index)
            touch(.record(key), index)
        }
        visitEffects(of: step, index) { key, record in
            records[key, default: RecordTimeline()].put(record, index)
            touch(.record(key), index)
        }
        let before = previous.links
        for link in before { touch(.sources(link.targetKey), index) }
        for link in before { sources[link.targetKey]?.removeAll { $0.index == index } }
        insert(step.links, index)
        for link in step.links { touch(.sources(link.targetKey), index) }
    }

    /// Marks an operation to be decided again.
    func decideAgain(_ index: Int) { staleDecisions.append(index) }

    /// Hands over the operations that must be decided again.
    func takeStaleDecisions() -> [Int] {
        defer { staleDecisions.removeAll() }
        return staleDecisions
    }

    /// Hands over the checks that must be made again.
    func takeStaleChecks() -> Set<Reader> {
        defer { staleChecks.removeAll() }
        return staleChecks
    }

    private func visitEffects(
        of step: PlannedStep, _ index: Int, _ visit: (RecordKey, PlannedRecord) -> Void
    ) {
        guard let operation = context.operation(index) else { return }
        switch step {
        case .save(let save): visit(context.key(operation.name), .saved(save.links))
        case .delete(let others):
            visit(context.key(operation.name), .deleted)
            for other in others { visit(other, .deleted) }
        case .fault, .nothing, .leave: break
        }
    }

    private func insert(_ links: [Link], _ index: Int) {
        guard let operation = context.operation(index) else { return }
        for link in links {
            sources[link.targetKey, default: []].append((index, context.key(operation.name)))
        }
    }

    private func replaceType(_ index: Int, by grown: GrownType?) {
        let previous = types.entry(index)
        types.put(grown, index)
        guard previous?.name != grown?.name || previous?.type != grown?.type else { return }
        for name in Set([previous?.name, grown?.name].compactMap(\.self)) {
            touch(.type(name), index, through: types.next(name, after: index))
            if context.schema.types[name] == nil { touch(.typeCount, index) }
        }
    }

    /// Marks those who looked at a fact, so that they look again.
    ///
    /// - Parameter last: the last operation whose decision saw what has changed.
    private func touch(_ fact: Fact, _ index: Int, through last: Int = .max) {
        for reader in readers[fact] ?? []
        where reader.stage != .deciding || reader.index > index && reader.index <= last {
            if reader.stage == .deciding {
                staleDecisions.append(reader.index)
            } else {
                staleChecks.insert(reader)
            }
        }
    }
}

/// What the operations of a batch make of one record, in their order; nearly always there is one.
private struct RecordTimeline {
    private var first: (index: Int, record: PlannedRecord)?
    private var others: [(index: Int, record: PlannedRecord)] = []

    func record(before index: Int) -> PlannedRecord? {
        others.last { $0.index < index }?.record
            ?? first.flatMap { $0.index < index ? $0.record : nil }
    }

    /// Adds what one operation makes of the record.
    mutating func put(_ record: PlannedRecord, _ index: Int) {
        guard let known = first, known.index != index else {
            first = (index, record)
            return
        }
        if known.index < index {
            others.removeAll { $0.index == index }
            others.insert(
                (index, record), at: others.firstIndex { $0.index > index } ?? others.count)
        } else {
            first = (index, record)
            others.insert(known, at: 0)
        }
    }

    /// Takes out what one operation makes of the record.
    mutating func remove(_ index: Int) {
        others.removeAll { $0.index == index }
        if first?.index == index { first = others.isEmpty ? nil : others.removeFirst() }
    }
}

/// The state of a batch as one operation's decision, or a check of it, sees it.
struct BatchView {
    let state: BatchState
    let reader: BatchState.Reader

    private var horizon: Int { reader.stage == .deciding ? reader.index : .max }

    /// What the batch makes of a record; nil when it leaves the record alone.
    func record(_ key: RecordKey) -> PlannedRecord? {
        state.note(.record(key), reader)
        return state.record(key, before: horizon)
    }

    /// Whether a record will be deleted.
    func isDeleted(_ key: RecordKey) -> Bool {
        if case .deleted = record(key) { true } else { false }
    }

    /// The step of the operation on a record; nil when the batch has none.
    func step(on key: RecordKey, _ context: BatchContext) -> PlannedStep? {
        state.note(.record(key), reader)
        return context.indexes[key].map { state.steps[$0] }
    }

    /// The records that refer to a target because of the batch, each with its link.
    ///
    /// Links that are stored already are not among them.
    func sources(
        of target: RecordKey, kinds: ClosedRange<LinkKind>
    ) -> [(source: RecordKey, kind: LinkKind)] {
        state.note(.sources(target), reader)
        var found: [(RecordKey, LinkKind)] = []
        var seen: Set<RecordKey> = []
        for (index, source) in state.planned(target) where index < horizon {
            guard seen.insert(source).inserted, case .saved(let links) = record(source),
                let link = links.first(where: {
                    $0.targetKey == target && kinds.contains($0.kind)
                })
            else { continue }
            found.append((source, link.kind))
        }
        return found
    }

    /// A record type together with what the batch adds to it; nil when it adds nothing.
    func grownType(_ name: RecordTypeName) -> Schema.RecordType? {
        state.note(.type(name), reader)
        return state.type(name, before: horizon)
    }

    var operationsCount: Int { state.operationsCount }

    /// How many record types the batch adds.
    var typesBrought: Int {
        state.note(.typeCount, reader)
        return state.typesBrought(before: horizon)
    }
}

extension PlannedStep {
    fileprivate var links: [Link] { if case .save(let save) = self { save.links } else { [] } }
}

extension Link {
    /// The record that the link leads to.
    var targetKey: RecordKey { RecordKey(zone: targetZone, name: target) }
}
