/// Words too frequent to look for; token searches leave them out (semantics.md §4.2).
enum StopWords {
    static let english: Set<[UInt8]> = Set(words.map { Array($0.utf8) })

    private static let words = [
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is",
        "it",
        "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
        "they", "this", "to", "was", "will", "with",
    ]
}
