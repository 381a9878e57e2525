/// What is known of one record during one life of the server.
struct Timeline {
    /// A version and the write that made it.
    struct Save {
        let version: RecordVersion
        let span: Span
        let kind: Operation.Kind
        let isAcknowledged: Bool
    }

    /// A deletion of the record, or of its zone.
    struct Deletion {
        /// The version that it deleted; nil when it took whatever was there.
        let base: Int64?
        let span: Span
        let isAcknowledged: Bool
        /// The write that it is part of; nil for a zone's deletion.
        let write: Int?
    }

    var initial: RecordVersion?
    /// By tag; of the unanswered ones only those that were seen.
    var saves: [Save] = []
    var deletions: [Deletion] = []

    private var first: Save? {
        initial.map {
            Save(
                version: $0, span: Span(began: 0, ended: 0), kind: .force, isAcknowledged: true)
        }
    }

    /// The latest version that was certainly there, or replaced, when something began.
    func floor(before span: Span) -> Save? {
        var found = first
        for save in saves where save.isAcknowledged && save.span.isBefore(span) {
            if save.version.tag > found?.version.tag ?? -1 { found = save }
        }
        return found
    }

    /// Whether a deletion may have taken a version away before something ended.
    func mayBeGone(_ save: Save, by span: Span, without write: Int? = nil) -> Bool {
        deletions.contains { deletion in
            guard deletion.span.began <= span.ended else { return false }
            if let write, deletion.write == write { return false }
            guard let base = deletion.base else { return deletion.span.ended > save.span.began }
            return base >= save.version.tag
        }
    }

    /// What is wrong with somebody seeing a version, or none, in a span.
    func objection(to seen: RecordVersion?, in span: Span) -> (Violation.Kind, String)? {
        let floor = floor(before: span)
        guard let seen else {
            guard let floor, !mayBeGone(floor, by: span) else { return nil }
            return (.acknowledgedLost, "\(floor.version) is gone and nobody deleted it")
        }
        if let floor, seen.tag < floor.version.tag {
            return (.staleRead, "\(seen) is older than \(floor.version)")
        }
        for deletion in deletions where deletion.isAcknowledged && deletion.span.isBefore(span) {
            let last = deletion.base ?? self.floor(before: deletion.span)?.version.tag ?? -1
            if seen.tag <= last {
                return (.deletionUndone, "\(seen) had been deleted, at the latest \(last)")
            }
        }
        return nil
    }

    /// What successes show that two clients were told to have replaced one version.
    func conflicts() -> [(Violation.Kind, String)] {
        var found: [(Violation.Kind, String)] = []
        var previous = first
        for save in saves {
            switch save.kind {
            case .update(let base) where base != previous?.version.tag:
                let was = previous?.version.tag ?? -1
                found.append((.lostUpdate, "\(save.version) replaced \(base), not \(was)"))
            case .create:
                if let previous, !mayBeGone(previous, by: save.span) {
                    found.append((.lostUpdate, "\(save.version) was made over \(previous.version)"))
                }
            case .update, .force, .delete, .forceDelete: break
            }
            previous = save
        }
        for deletion in deletions where deletion.isAcknowledged {
            guard let base = deletion.base else { continue }
            let updated = saves.first { $0.kind == .update(base: base) }
            let later = saves.first {
                $0.version.tag > base && $0.isAcknowledged && $0.span.isBefore(deletion.span)
            }
            if let over = updated ?? later {
                found.append((.lostUpdate, "the deletion of \(base) missed \(over.version)"))
            }
        }
        return found
    }
}
