/// Changes that wait to be sent, in the order in which they were asked for, each thing once.
///
/// What is asked for again keeps its place; what is asked for otherwise, a deletion after a save, takes the
/// place of what was asked before.
struct PendingList<Change: Hashable & Sendable, Subject: Hashable & Sendable>: Sendable {
    private(set) var changes: [Change] = []
    private let subject: @Sendable (Change) -> Subject

    /// - Parameter subject: what a change is about.
    init(_ changes: [Change] = [], subject: @escaping @Sendable (Change) -> Subject) {
        self.subject = subject
        add(changes)
    }

    /// - Returns: whether anything has changed.
    @discardableResult
    mutating func add(_ added: [Change]) -> Bool {
        let before = changes
        var places: [Subject: Change] = [:]
        for change in changes { places[subject(change)] = change }
        for change in added {
            switch places.updateValue(change, forKey: subject(change)) {
            case change?: break
            case let previous?:
                changes.removeAll { $0 == previous }
                changes.append(change)
            case nil: changes.append(change)
            }
        }
        return changes != before
    }

    @discardableResult
    mutating func remove(_ removed: some Sequence<Change>) -> Bool {
        let gone = Set(removed)
        let before = changes.count
        changes.removeAll { gone.contains($0) }
        return changes.count != before
    }

    /// Puts changes back at the front, unless something was asked for since about the same thing.
    mutating func putBack(_ returned: [Change]) {
        let asked = Set(changes.map(subject))
        changes.insert(contentsOf: returned.filter { !asked.contains(subject($0)) }, at: 0)
    }
}
