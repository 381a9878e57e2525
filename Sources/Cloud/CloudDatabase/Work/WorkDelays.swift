import CloudModel

/// How long work waits after its steps have failed.
enum WorkDelays {
    /// After the first failure; doubled by each further one.
    static let millisecondsMin: Milliseconds = 1_000
    static let millisecondsMax: Milliseconds = 3_600_000

    /// - Parameter failures: before the one that has just been.
    static func milliseconds(after failures: Int) -> Milliseconds {
        min(millisecondsMax, millisecondsMin << min(max(0, failures), 30))
    }
}
