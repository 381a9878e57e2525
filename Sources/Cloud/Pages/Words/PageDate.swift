import Calendar
import CloudModel

/// Days and moments, as pages show them: `2026-03-01` and `2026-03-01 14:05 UTC`.
enum PageDate {
    static func moment(_ moment: Milliseconds) -> String {
        let time = CivilTime(seconds: moment / 1_000)
        return "\(time.date()) \(time.time().prefix(5)) UTC"
    }

    static func text(_ moment: Milliseconds) -> String {
        CivilTime(seconds: moment / 1_000).date()
    }
}
