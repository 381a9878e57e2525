#if PostgreSQL
    /// Where the messages begin that a client sends, in what comes of them piece by piece.
    struct ClientMessages {
        /// Of the message that has come in part: its type and length so far, and how much is to come behind them.
        private var head: [UInt8] = []
        private var left = 0
        /// The first has no type.
        private var hasBegun = false

        /// The indexes in a piece at which messages begin.
        mutating func starts(in piece: ArraySlice<UInt8>) -> [Int] {
            var starts: [Int] = []
            var index = piece.startIndex
            while index < piece.endIndex {
                if left > 0 {
                    let passed = min(left, piece.endIndex - index)
                    (left, index) = (left - passed, index + passed)
                    continue
                }
                if head.isEmpty { starts.append(index) }
                head.append(piece[index])
                index += 1
                guard head.count == (hasBegun ? 5 : 4) else { continue }
                // The length counts itself.
                left = head.suffix(4).reduce(0) { $0 << 8 | Int($1) } - 4
                (head, hasBegun) = ([], true)
            }
            return starts
        }
    }
#endif
