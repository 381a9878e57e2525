import CloudModel
import Storage

/// What the save of a share record does, besides saving the record.
struct PlannedShare {
    /// Where a new share begins.
    enum Beginning {
        case zone
        case tree(RecordKey, tag: String?)

        var root: RecordKey? { if case .tree(let root, _) = self { root } else { nil } }
    }

    /// The standing share; nil for a new one.
    let existing: StoredShare?
    /// Where a new share begins; nil for a standing one.
    let beginning: Beginning?
    let publicPermission: SharePermission
    let allowsRequests: Bool
    let previous: ParticipantList
    let participants: ParticipantList
    let previousRequests: AccessRequestList
    let requests: AccessRequestList
}

/// Writes what a change of a participant list means for the store.
struct ShareWriter {
    let transaction: any StoreTransaction

    /// Makes the stored participants those of a list, and gives and takes access accordingly.
    func write(
        _ participants: ParticipantList, over previous: ParticipantList, of share: StoredShare
    ) throws {
        let gone = previous.all.map(\.id).filter { id in
            !participants.all.contains { $0.id == id }
        }
        let changed = participants.all.filter { !previous.all.contains($0) }
        if !gone.isEmpty || !changed.isEmpty {
            try transaction.save(changed, removing: gone, of: share.number)
        }
        let changes = participants.accessChanges(from: previous).map { change in
            GrantChange(change.viewer, change.after == .none ? nil : change.after)
        }
        if !changes.isEmpty { try transaction.set(changes, of: share.number) }
    }

    /// Applies the difference between two lists to the stored requests.
    ///
    /// Requests that have come in the meantime stay.
    func write(
        _ requests: AccessRequestList, over previous: AccessRequestList, of share: StoredShare
    ) throws {
        let gone = previous.all.filter { !requests.all.contains($0) }
        let new = requests.all.filter { !previous.all.contains($0) }
        guard !gone.isEmpty || !new.isEmpty else { return }
        let settled = Set((gone + new).map(\.user))
        try transaction.save(new, settling: Array(settled), of: share.number)
    }
}
