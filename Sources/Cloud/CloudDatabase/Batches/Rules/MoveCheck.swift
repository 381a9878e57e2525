import CloudModel
import Storage

/// Refuses two kinds of moves (rulings.md 34 and 38).
///
/// These are: a tree that contains a root, into a shared tree; and a record, below itself.
struct MoveCheck {
    private let context: BatchContext
    private let view: BatchView
    private let tree: PlannedTree

    /// - Parameter taken: the records at which new shares of the batch begin.
    init(_ context: BatchContext, _ view: BatchView, _ taken: [RecordKey: RecordName]) {
        self.context = context
        self.view = view
        tree = PlannedTree(context, view, taken: taken)
    }

    /// Why a step must fail; nil when it need not.
    func fault(of step: PlannedStep, _ operation: RecordOperation) throws -> Fault? {
        guard case .save(let save) = step, let parent = save.parent else { return nil }
        do {
            try check(context.key(operation.name), below: parent)
            return nil
        } catch let fault as Fault {
            return fault
        }
    }

    private func check(_ record: RecordKey, below parent: RecordName) throws {
        let previous = try context.previous(record)
        let before = try previous.head.flatMap { try context.parent(of: $0.record) }
        let isMoved = previous.isAlive && before != parent
        // Below a new record lies only what the batch puts there. In the public database, there may also be
        // what other people left below an earlier record of this name (rulings.md 45).
        let mayHaveChildren =
            context.database.scope == .public
            || !view.sources(of: record, kinds: .deleteSelfInTree ... .parent).isEmpty
        guard isMoved || !previous.isAlive && mayHaveChildren else { return }
        var entersTree = false
        let end = try tree.climb(from: record) { ancestor in
            guard try ancestor != record && tree.isRoot(ancestor) else { return true }
            entersTree = true
            // What lies above a root is as much out of a participant's sight as an unseen record.
            return !context.unseen.contains(record)
        }
        guard end != record else {
            throw Fault.badRequest("parent: '\(parent.text)' lies below the record itself")
        }
        guard isMoved, entersTree else { return }
        if try tree.isRoot(record) || tree.root(below: record) != nil {
            throw Fault.badRequest("parent: shared trees cannot lie in each other")
        }
    }
}
