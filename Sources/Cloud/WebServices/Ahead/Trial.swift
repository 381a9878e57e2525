/// Whether a follower gains by pages that are made ahead, by the time from one page to the next with them and
/// without.
///
/// Where processors are scarce, a page that a worker makes comes later than one that the event loop makes. Nobody can
/// tell that beforehand, so both are tried now and then, and what has been faster is done meanwhile.
struct Trial: Sendable {
    /// Whether pages are made ahead at present.
    private(set) var isAhead: Bool
    private var isTrying: Bool
    private var pagesLeft: Int
    private var times: [UInt64] = []
    /// The median time of the way that was tried first.
    private var former: UInt64?

    /// Pages that each of both is tried for; the former half is not counted.
    ///
    /// Until a worker that was just woken has a processor of its own, nothing overlaps.
    static let triedPages = 64
    /// Pages for which the outcome holds.
    static let settledPages = 512

    /// - Parameters:
    ///   - startsAhead: which of both is done first.
    ///   - isKnown: whether that is known to be faster, and need not be tried at once.
    init(startsAhead: Bool, isKnown: Bool) {
        isAhead = startsAhead
        isTrying = !isKnown
        pagesLeft = isKnown ? Self.settledPages : Self.triedPages
    }

    /// Takes note of the time from one page to the next.
    ///
    /// - Returns: the outcome where there is one now.
    mutating func note(nanoseconds: UInt64) -> Bool? {
        pagesLeft -= 1
        if isTrying { times.append(nanoseconds) }
        guard pagesLeft <= 0 else { return nil }
        pagesLeft = Self.triedPages
        guard isTrying else {
            isTrying = true
            return nil
        }
        let counted = times.suffix(Self.triedPages / 2).sorted()
        let median = counted[counted.count / 2]
        times = []
        guard let former else {
            former = median
            isAhead.toggle()
            return nil
        }
        let (with, without) = isAhead ? (median, former) : (former, median)
        // It has to gain a quarter: what is made ahead takes more from others.
        isAhead = with < without - without / 4
        self.former = nil
        isTrying = false
        pagesLeft = Self.settledPages
        return isAhead
    }
}
