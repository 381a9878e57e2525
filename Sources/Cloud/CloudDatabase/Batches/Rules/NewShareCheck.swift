import CloudModel
import Storage

/// A share that a batch begins, and the operation that begins it.
struct ShareBeginning {
    let index: Int
    let record: RecordName
    let beginning: PlannedShare.Beginning

    static func all(in steps: [PlannedStep], of context: BatchContext) -> [ShareBeginning] {
        steps.indices.compactMap { index in
            guard case .save(let save) = steps[index], let beginning = save.share?.beginning,
                let operation = context.operation(index)
            else { return nil }
            return ShareBeginning(index: index, record: operation.name, beginning: beginning)
        }
    }
}

/// Checks new shares against each other and against standing shares, after all operations.
///
/// See rulings.md 34 and 38. Only atomic batches begin shares, so the check looks at nothing twice.
struct NewShareCheck {
    private let context: BatchContext
    private let state: BatchState
    private let view: BatchView

    init(_ context: BatchContext, _ state: BatchState) {
        self.context = context
        self.state = state
        view = BatchView(state: state, reader: BatchState.Reader(index: 0, stage: .trees))
    }

    /// The faults of operations that begin shares.
    ///
    /// - Parameter taken: gets the records at which shares begin, with the names of their share records.
    func faults(_ taken: inout [RecordKey: RecordName]) throws -> [Int: Fault] {
        var found: [Int: Fault] = [:]
        var hasZoneShare = false
        for beginning in ShareBeginning.all(in: state.steps, of: context) {
            do {
                switch beginning.beginning {
                case .zone:
                    try checkZoneShare(taken)
                    hasZoneShare = true
                case .tree(let root, let tag):
                    try checkRoot(root, tag: tag)
                    guard taken[root] == nil else { throw Self.sharedTwice }
                    guard !hasZoneShare else { throw Self.besideZoneShare }
                    try checkTree(at: root, taken)
                    taken[root] = beginning.record
                }
            } catch let fault as Fault {
                found[beginning.index] = fault
            }
        }
        return found
    }

    private static let sharedTwice = Fault.badRequest(
        "forRecord: another operation of the batch shares the same record", detail: .alreadyShared)
    private static let besideZoneShare = Fault.badRequest(
        "Cannot share: the zone is shared as a whole", detail: .alreadyShared)

    private func checkZoneShare(_ taken: [RecordKey: RecordName]) throws {
        guard taken.isEmpty, try PlannedTree(context, view).activeShares().isEmpty else {
            throw Fault.badRequest(
                "Cannot share the zone: records of it are shared already", detail: .alreadyShared)
        }
    }

    private func checkRoot(_ root: RecordKey, tag: String?) throws {
        let previous = try context.previous(root)
        let tree = PlannedTree(context, view)
        guard try tree.isAlive(root) else {
            throw ShareRule.nothingToShare("'\(root.name.text)' is not there")
        }
        guard previous.isAlive else {
            guard tag == nil else {
                throw Fault(.conflict, "forRecord: the record is new and has no tag yet")
            }
            return
        }
        guard !previous.flags.contains(.share) else {
            throw ShareRule.nothingToShare("'\(root.name.text)' is a share itself")
        }
        guard let tag else {
            throw Fault.badRequest("forRecord: missing required field 'recordChangeTag'")
        }
        let conflict = RecordConflict(context)
        guard tag == previous.changeTag else {
            throw try conflict.fault("client oplock error updating record", root)
        }
        // Unless the batch replaces it, what it says of sharing cannot be changed.
        if previous.isDamaged {
            guard case .saved = view.record(root) else { throw Fault.recordUnreadable }
        }
        if previous.flags.contains(.root), let head = previous.head,
            let share = try context.stored.share(ofRoot: head.record), try !tree.ends(share)
        {
            var fault = try conflict.fault("the record is shared already", root)
            fault.detail = .alreadyShared
            throw fault
        }
    }

    /// Refuses a tree that would lie in another shared tree, or contain one.
    private func checkTree(at root: RecordKey, _ taken: [RecordKey: RecordName]) throws {
        let zoneShare = context.key(.zoneShare)
        if try context.hasShares(context.zone.number), view.record(zoneShare) == nil,
            try context.previous(zoneShare).isAlive
        {
            throw Self.besideZoneShare
        }
        let tree = PlannedTree(context, view, taken: taken)
        var other: RecordKey?
        try tree.climb(from: root) { ancestor in
            if try ancestor != root && tree.isRoot(ancestor) { other = ancestor }
            return other == nil
        }
        if let other { throw Self.overlapping(other, "above") }
        if let other = try tree.root(below: root) { throw Self.overlapping(other, "below") }
    }

    /// Only the owner makes shares, so this tells nobody else of the other share.
    private static func overlapping(_ other: RecordKey, _ location: String) -> Fault {
        .badRequest(
            "Cannot share: record '\(other.name.text)' \(location) it is shared already",
            detail: .alreadyShared)
    }
}
