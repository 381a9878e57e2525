/// Where a guess or a request comes from: the blocks of network addresses that it lies in, each within the
/// next.
///
/// A client with one address has its whole block, and often a wider one. So all of them are counted, the wider
/// ones with higher limits.
package struct NetworkOrigin: Sendable, Equatable {
    /// The narrowest first; never empty.
    package let blocks: [String]

    /// - Parameters:
    ///   - block: the narrowest.
    ///   - wider: those around it, each within the next.
    package init(_ block: String, within wider: [String] = []) { blocks = [block] + wider }

    /// The widest block that may belong to one person.
    package var widest: String { blocks[blocks.count - 1] }

    /// The narrowest block alone, for a caller who is known.
    var narrowest: NetworkOrigin { NetworkOrigin(blocks[0]) }

    /// What each block counts towards, and with which limits.
    func counted(
        _ policy: GuessLimits.Policy, as subject: (String) -> GuessLimits.Subject
    ) -> [(subject: GuessLimits.Subject, policy: GuessLimits.Policy)] {
        var policy = policy
        return blocks.map { block in
            defer { policy.free *= Self.growth }
            return (subject(block), policy)
        }
    }

    /// Each block may make this many times as many free guesses as the block within it.
    private static let growth = 4
}

extension NetworkOrigin: ExpressibleByStringInterpolation {
    package init(stringLiteral block: String) { self.init(block) }
}
