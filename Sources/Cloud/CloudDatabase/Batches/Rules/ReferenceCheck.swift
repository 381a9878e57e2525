import CloudModel
import Storage

/// Checks after all operations which records must exist, and which are still needed (rulings.md 18).
struct ReferenceCheck {
    private let context: BatchContext
    private let view: BatchView
    private let tree: PlannedTree

    init(_ context: BatchContext, _ view: BatchView) {
        self.context = context
        self.view = view
        tree = PlannedTree(context, view)
    }

    /// Why a step must fail; nil when it need not.
    func fault(of step: PlannedStep, _ operation: RecordOperation) throws -> Fault? {
        let key = context.key(operation.name)
        switch step {
        case .save(let save): return try fault(of: save, key)
        case .delete(let others): return try fault(ofDeleting: [key] + others)
        case .fault, .nothing, .leave: return nil
        }
    }

    private func fault(of save: PlannedSave, _ key: RecordKey) throws -> Fault? {
        // A record that the batch deletes again needs nothing.
        guard !save.links.isEmpty, try tree.isAlive(key) else { return nil }
        var fault: Fault?
        for link in save.links where try !staysUnseen(link, key) {
            try context.takeStep()
            let target = link.targetKey
            guard LinkKind.needing.contains(link.kind) || hasFailed(target) else { continue }
            let isHidden =
                try link.kind == .validate
                && !ParticipantRule(context).isInSight(target, of: context.previous(key), view)
            if try isHidden || !tree.isAlive(target) { fault = ReferenceRule.missing(link.target) }
        }
        return fault
    }

    private func fault(ofDeleting gone: [RecordKey]) throws -> Fault? {
        var fault: Fault?
        for gone in gone {
            try context.takeStep()
            guard try !tree.isAlive(gone),
                try HoldRule(context: context, view: view, target: gone).isHeld()
            else { continue }
            fault = Fault(
                .validatingReferenceError,
                "record '\(gone.name.text)' is still the parent or the VALIDATE target of "
                    + "another record")
        }
        return fault
    }

    /// Whether the batch has an operation on a record, and that operation fails.
    private func hasFailed(_ key: RecordKey) -> Bool {
        view.step(on: key, context)?.isFault ?? false
    }

    /// Whether a link leads, as it did before, to what the caller cannot see: so it tells them nothing.
    private func staysUnseen(_ link: Link, _ source: RecordKey) throws -> Bool {
        guard context.unseen.contains(link.targetKey),
            let record = try context.previous(source).head?.record
        else { return false }
        return try context.hasLink(link, from: record)
    }
}
