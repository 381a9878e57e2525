/// Finds the name that somebody may have meant.
enum NearName {
    /// So many letters may be wrong, missing or too many.
    private static let distanceMax = 2

    /// The name that differs least; nil when all differ by more than a slip.
    ///
    /// Underscores do not count: where words end is what people get wrong most.
    static func closest(to name: String, among names: some Collection<String>) -> String? {
        let letters = Self.letters(of: name)
        let near = names.map { (name: $0, distance: distance(letters, Self.letters(of: $0))) }
            .filter { $0.distance <= distanceMax }
        return near.min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
    }

    private static func letters(of name: String) -> [UInt8] {
        name.utf8.filter { $0 != UInt8(ascii: "_") }
    }

    /// How many letters have to be changed, added or taken away to make one out of the other.
    private static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        guard abs(one.count - other.count) <= distanceMax else { return .max }
        var row = Array(0...other.count)
        for (index, letter) in one.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, wanted) in other.enumerated() {
                let changed = diagonal + (letter == wanted ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(changed, row[column] + 1, diagonal + 1)
            }
        }
        return row[other.count]
    }
}
