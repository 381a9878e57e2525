import Storage

/// The records that refer to one target, as a view of the batch leaves them.
struct ReferringRecords {
    let context: BatchContext
    let view: BatchView
    let target: RecordKey
    let kinds: ClosedRange<LinkKind>

    /// Visits each record until the closure returns false.
    ///
    /// Stored records that the batch leaves alone come first, then those that it saves.
    func visit(_ visit: (RecordKey, LinkKind) throws -> Bool) throws {
        var goesOn = true
        try context.visitSources(of: target, kinds: kinds) { source, kind in
            if view.record(source) == nil { goesOn = try visit(source, kind) }
            return goesOn
        }
        guard goesOn else { return }
        for (source, kind) in view.sources(of: target, kinds: kinds) {
            guard try visit(source, kind) else { return }
        }
    }
}

extension LinkKind {
    /// Kinds of references whose source is deleted with the target.
    static let going = deleteSelfInTree...deleteSelf
    /// Kinds of references that need the target to exist.
    static let needing = validate...parent
}
