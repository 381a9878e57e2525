import CloudModel

/// The words that the token searches of one query look for, taken from their texts once.
final class SearchWords {
    private let wordsMax: Int
    private var known: [[UInt8]: [[UInt8]]] = [:]

    init(_ limits: ServiceLimits) { wordsMax = limits.listValuesPerQueryMax }

    /// What a filter looks for among words; nil for one that searches none.
    ///
    /// - Throws: as `words(in:)`.
    func words(of filter: RecordQuery.Filter) throws -> [[UInt8]]? {
        try filter.searchText.map { try words(in: $0) }
    }

    /// The words of a filter's text without stop words; empty when there is nothing to look for.
    ///
    /// - Throws: `Fault` BAD_REQUEST for too many words.
    func words(in text: String) throws -> [[UInt8]] {
        let key = Array(text.utf8)
        if let words = known[key] { return words }
        let words = Set(Words.of(text)).subtracting(StopWords.english)
        guard words.count <= wordsMax else {
            throw Fault.limitExceeded("more than \(wordsMax) words in a search")
        }
        let sorted = words.sorted { $0.lexicographicallyPrecedes($1) }
        known[key] = sorted
        return sorted
    }
}
