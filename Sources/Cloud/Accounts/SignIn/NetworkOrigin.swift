/// Where a guess or a wish comes from: the blocks of network addresses that it lies in, each within the next.
///
/// A client with one address has its whole block, and often a wider one. So all of them are counted, the wider
/// ones more patiently.
package struct NetworkOrigin: Sendable, Equatable {
    /// The narrowest first; never empty.
    package let blocks: [String]

    /// - Parameters:
    ///   - block: the narrowest.
    ///   - wider: those around it, each within the next.
    package init(_ block: String, within wider: [String] = []) { blocks = [block] + wider }

    /// The block that is everybody's who could be one person.
    package var widest: String { blocks[blocks.count - 1] }

    /// The narrowest block alone, for a caller who is known.
    var narrowest: NetworkOrigin { NetworkOrigin(blocks[0]) }

    /// What each block counts to, and how patiently.
    func counted(
        _ patience: GuessLimits.Patience, as subject: (String) -> GuessLimits.Subject
    ) -> [(subject: GuessLimits.Subject, patience: GuessLimits.Patience)] {
        var patience = patience
        return blocks.map { block in
            defer { patience.free *= Self.growth }
            return (subject(block), patience)
        }
    }

    /// So many times as many are free from each block as from the one within it.
    private static let growth = 4
}

extension NetworkOrigin: ExpressibleByStringInterpolation {
    package init(stringLiteral block: String) { self.init(block) }
}
