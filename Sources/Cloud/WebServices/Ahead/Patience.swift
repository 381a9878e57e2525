/// How often pages are made ahead of one follower, by what has come of it so far.
///
/// Two pages in a row that were made in vain make a pause of some pages. Each further pause is twice as long, until
/// pages have been of use again for a while.
struct Patience: Sendable {
    private var vainInRow = 0
    private var usedInRow = 0
    private var pauseLeft = 0
    private var nextPause = Self.pauseMin

    private static let vainInRowMax = 2
    /// Pages that are not made ahead.
    private static let pauseMin = 8
    private static let pauseMax = 256
    /// After so many that were of use, the next pause is short again.
    private static let usedInRowMin = 32

    /// Whether the next page is to be made ahead; asked once for each page.
    mutating func takesPage() -> Bool {
        guard pauseLeft > 0 else { return true }
        pauseLeft -= 1
        return false
    }

    mutating func noteUse() {
        vainInRow = 0
        usedInRow += 1
        if usedInRow >= Self.usedInRowMin { nextPause = Self.pauseMin }
    }

    mutating func noteWaste() {
        usedInRow = 0
        vainInRow += 1
        guard vainInRow >= Self.vainInRowMax else { return }
        vainInRow = 0
        pauseLeft = nextPause
        nextPause = min(Self.pauseMax, nextPause * 2)
    }
}
