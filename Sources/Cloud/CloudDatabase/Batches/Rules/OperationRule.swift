import CloudModel
import Storage

/// Decides what one operation does, and whether it may: by what is stored and which version it starts from.
struct OperationRule {
    let context: BatchContext
    let view: BatchView

    /// - Throws: `Fault` for an operation that fails, `RefusedBatch` for the whole batch.
    func decide(
        _ operation: RecordOperation, _ schemaCheck: inout SchemaCheck
    ) throws -> DecidedStep {
        let key = context.key(operation.name)
        let rights = RightRule(context)
        if operation.kind == .create || operation.kind.deletes {
            try rights.check(toMakeOrDelete: operation)
        }
        if context.access != nil {
            try context.checkSight(of: key)
            if operation.kind.deletes,
                let step = try ShareRule(context).leavingUnseen(context.previous(key))
            {
                return DecidedStep(step: step)
            }
        }
        // If the caller may not see a record, no more of it is read than they may know.
        let isOpen = context.access == nil && !context.rights.holdsBack
        var previous = try context.previous(key, withBody: isOpen && !operation.kind.deletes)
        guard previous.isAlive, !context.actsOnOthers || !view.isDeleted(key) else {
            guard try isToBeMade(operation, rights) else { return DecidedStep(step: .nothing) }
            return try SaveRule(context: context, view: view).save(
                operation, over: nil, &schemaCheck)
        }
        try ParticipantRule(context).check(operation, on: previous)
        if operation.kind == .create {
            throw try RecordConflict(context).fault("record to insert already exists", key)
        }
        guard try rights.allows(.write, key) else { throw RecordAccess.writeRefused }
        if operation.kind.deletes {
            try compareTag(operation, previous)
            return try CascadeRule(context: context, view: view).deletion(of: key, previous)
        }
        previous = try context.previous(key, withBody: true)
        try compareTag(operation, previous)
        return try SaveRule(context: context, view: view).save(
            operation, over: previous, &schemaCheck)
    }

    /// Whether an operation on a name without a record makes one; if not, it has nothing to do.
    private func isToBeMade(_ operation: RecordOperation, _ rights: RightRule) throws -> Bool {
        switch operation.kind {
        case .update, .replace, .delete, .forceDelete:
            let isUser = UserRecord.user(operation.name, in: context.zone.name) != nil
            guard !context.rights.conceals(.write, type: isUser ? .users : operation.type) else {
                throw RecordAccess.writeRefused
            }
            guard operation.kind == .forceDelete else { throw Fault.recordNotFound }
            return false
        case .create: return true
        case .forceUpdate, .forceReplace:
            try rights.check(toMakeOrDelete: operation)
            return true
        }
    }

    /// Refuses a save or deletion that starts from another version than the stored one.
    ///
    /// Every save of a share is compared, also a forced one: nobody saves a share that they have not seen.
    private func compareTag(_ operation: RecordOperation, _ previous: CurrentRecord) throws {
        let compares =
            operation.kind.comparesTag && operation.changeTag != nil
            || previous.flags.contains(.share) && !operation.kind.deletes
        if compares, operation.changeTag != previous.changeTag {
            throw try RecordConflict(context).fault(
                "client oplock error updating record", context.key(operation.name))
        }
    }
}

/// The fault of an operation that starts from another version than the stored one.
struct RecordConflict {
    private let context: BatchContext

    init(_ context: BatchContext) { self.context = context }

    /// A fault that shows the stored record, to those who may read it (rulings.md 11).
    func fault(_ reason: String, _ key: RecordKey) throws -> Fault {
        var fault = Fault(.conflict, reason)
        guard try RightRule(context).allows(.read, key) else { return fault }
        let previous = try context.previous(key, withBody: true)
        guard let head = previous.head, let body = previous.body else { return fault }
        let answered = try asAnswered(body, key, head.record, previous.flags)
        fault.serverRecord =
            previous.flags.contains(.hasAssets)
            ? try RenderedAsset.withoutLinks(answered) : answered
        return fault
    }

    /// A stored body as the caller would get it in an answer.
    private func asAnswered(
        _ body: [UInt8], _ key: RecordKey, _ record: RecordNumber, _ flags: VersionFlags
    ) throws -> [UInt8] {
        if let user = UserRecord.user(key.name, in: context.zone.name) {
            return try RightRule(context).answered(body, of: user)
        }
        return try body.withUnsafeBytes {
            try context.database.shown(record, flags, $0, with: ShownShares(context.stored))
        }
    }
}
