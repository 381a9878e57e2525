import CloudModel

/// Which backups are kept.
///
/// All of the last hour are, one an hour for a day, one a day for a week, one a week for five weeks, and one a month, of
/// thirty days, for a year. Of each the first is kept, and always the last backup of all.
enum Retention {
    private static let hour: Milliseconds = 3_600_000
    private static let day = 24 * hour
    /// How long each is kept, and how long the times are of which one is.
    private static let steps: [(age: Milliseconds, each: Milliseconds)] = [
        (day, hour), (7 * day, day), (35 * day, 7 * day), (365 * day, 30 * day),
    ]

    /// - Parameter moments: of all backups that there are, in any order.
    static func kept(_ moments: [Milliseconds], now: Milliseconds) -> Set<Milliseconds> {
        let sorted = moments.sorted()
        var kept = Set(sorted.filter { $0 > now - hour })
        if let last = sorted.last { kept.insert(last) }
        for (age, each) in steps {
            var times: Set<Milliseconds> = []
            for moment in sorted where moment > now - age {
                if times.insert(moment / each).inserted { kept.insert(moment) }
            }
        }
        return kept
    }
}
