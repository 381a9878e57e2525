import Storage

/// The entries of one record in one index that were left for later, found on a snapshot.
struct LateEntries: Sendable {
    let row: LateRow
    /// Where the record's version was; nil when the record has gone.
    let position: Position?
    /// Whether the index is to have entries of the record at all.
    let isWanted: Bool
    /// What is still to go, in the order of the previous body.
    private(set) var gone: ArraySlice<SingleEntry>
    /// What is still to come, in the order of the present body.
    private(set) var come: ArraySlice<SingleEntry>
    /// Whether only what the bodies do not share goes and comes, in one step.
    let isDifference: Bool
    /// Whether the index has words of the record that stay.
    private let keepsWords: Bool

    /// - Parameter entriesMax: how many entries one step writes.
    init(
        _ row: LateRow, position: Position?, isWanted: Bool, previous: [SingleEntry],
        present: [SingleEntry], entriesMax: Int
    ) {
        (self.row, self.position, self.isWanted) = (row, position, isWanted)
        let held = row.held(of: previous)
        let rest = present[min(row.come, present.count)...]
        let (leaving, coming) = Self.difference(held, rest)
        isDifference = row.come == 0 && leaving.count + coming.count <= entriesMax
        (gone, come) = isDifference ? (leaving, coming) : (held, rest)
        keepsWords = row.come > 0 || isDifference && leaving.count < held.count
    }

    /// What of the entries that are held is not to stay, and what is still to come.
    private static func difference(
        _ held: ArraySlice<SingleEntry>, _ rest: ArraySlice<SingleEntry>
    ) -> (gone: ArraySlice<SingleEntry>, come: ArraySlice<SingleEntry>) {
        guard !held.isEmpty, !rest.isEmpty else { return (held, rest) }
        let (before, after) = (Set(held), Set(rest))
        return (
            held.filter { !after.contains($0) }[...], rest.filter { !before.contains($0) }[...]
        )
    }

    /// How many entries are left.
    var count: Int { gone.count + come.count }

    /// Whether a step that writes so many entries more can take these up.
    func fits(_ entriesMax: Int) -> Bool { !isDifference || count <= entriesMax }

    /// What one step writes.
    struct Step {
        let gone: ArraySlice<SingleEntry>
        let come: ArraySlice<SingleEntry>
        /// Whether words of the record stay in the index when those that go have gone.
        let leavesWords: Bool
        /// How far the record is after it; nil when nothing is left.
        let row: LateRow?
        /// What is left.
        let rest: LateEntries
    }

    func step(entriesMax: Int) -> Step {
        let leaving = gone.prefix(isDifference ? gone.count : entriesMax)
        let coming = come.prefix(isDifference ? come.count : entriesMax - leaving.count)
        var next = row
        next.previousFrom += leaving.count
        let goneLeft = gone.dropFirst(leaving.count)
        if goneLeft.isEmpty {
            (next.previous, next.previousFrom, next.previousThrough) = (nil, 0, -1)
        }
        next.come += coming.count
        let isDone = leaving.count + coming.count == count
        return Step(
            gone: leaving, come: coming,
            leavesWords: keepsWords || !goneLeft.isEmpty, row: isDone ? nil : next,
            rest: LateEntries(
                going: next, self, goneLeft, come.dropFirst(coming.count),
                keepsWords: keepsWords || !coming.isEmpty))
    }

    private init(
        going row: LateRow, _ previous: LateEntries, _ gone: ArraySlice<SingleEntry>,
        _ come: ArraySlice<SingleEntry>, keepsWords: Bool
    ) {
        (self.row, position, isWanted) = (row, previous.position, previous.isWanted)
        (self.gone, self.come, self.keepsWords) = (gone, come, keepsWords)
        isDifference = false
    }
}
