#if PostgreSQL
    /// A number of the row `progress` that moves with what is known under it.
    ///
    /// It grows within a life of the store. Of two lives the later one may have the lesser number: a server that lacks
    /// all of a life goes on from what was before that.
    struct Revision: Equatable, Sendable {
        /// The incarnation of the life.
        let life: Int64
        let number: Int64

        /// Whether what is known under it takes the place of what is known under another one.
        func replaces(_ other: Revision?) -> Bool {
            guard let other, other.life == life else { return true }
            return number >= other.number
        }
    }
#endif
