import CloudModel

/// How much time a row covers: the older, the more.
package enum TelemetryStep: Int64, Sendable, CaseIterable {
    case minute = 60
    case quarterHour = 900
    case sixHours = 21_600

    package var milliseconds: Milliseconds { rawValue * 1_000 }

    /// How long its rows are kept.
    package var keptMilliseconds: Milliseconds {
        switch self {
        case .minute: 48 * 3_600_000
        case .quarterHour: 31 * 86_400_000
        case .sixHours: 400 * 86_400_000
        }
    }

    /// When the row begins that a moment falls into.
    package func start(of moment: Milliseconds) -> Milliseconds {
        let into = moment % milliseconds
        return moment - (into < 0 ? into + milliseconds : into)
    }
}
