import CloudModel

/// Tells one life of a store from another, and signs the store's tokens; as a snapshot has it.
///
/// A life begins with the first write after an engine may have lost what it had acknowledged; for example,
/// after the store was opened. So the store never takes something lost for its own, be it lost by the store
/// or with a copy of it.
package struct StoreIdentity: Sendable {
    /// Drawn at random for this life.
    package let incarnation: Int64
    /// The life before this one; nil in a store's first.
    package let previous: Int64?
    /// Earlier lives, the previous one included, each with the last position whose tokens are still good.
    package let earlier: [Int64: Position]
    /// The last position of this life.
    package let last: Position
    /// 32 random bytes, the same in all lives.
    package let tokenKey: [UInt8]

    package init(
        incarnation: Int64, previous: Int64? = nil, earlier: [Int64: Position], last: Position,
        tokenKey: [UInt8]
    ) {
        self.incarnation = incarnation
        self.previous = previous
        self.earlier = earlier
        self.last = last
        self.tokenKey = tokenKey
    }

    /// The life that a token names when it reaches no further than this position.
    ///
    /// What the previous life had is named by that life: this one may end before it has written anything.
    package func incarnation(reaching position: Position) -> Int64 {
        guard let previous, let last = earlier[previous], position <= last else {
            return incarnation
        }
        return previous
    }

    /// Whether what a life gave out at this position belongs to this store.
    package func knows(_ life: Int64, through position: Position) -> Bool {
        position <= (life == incarnation ? last : earlier[life] ?? -1)
    }
}
