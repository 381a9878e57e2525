import CloudModel

/// How long work waits after its steps have failed.
enum WorkDelays {
    /// The delay after the first failure; each further failure doubles it.
    static let millisecondsMin: Milliseconds = 1_000
    static let millisecondsMax: Milliseconds = 3_600_000

    /// - Parameter failures: how many failures there were before the latest one.
    static func milliseconds(after failures: Int) -> Milliseconds {
        min(millisecondsMax, millisecondsMin << min(max(0, failures), 30))
    }
}
