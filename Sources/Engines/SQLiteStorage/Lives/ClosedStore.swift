import CloudModel
import SQLite
import Storage

/// A life of a store that goes on when the same process opens the file again.
///
/// Between the two the process had the folder alone, so that nothing of the log can have been lost: the
/// numbers go on, and no new life is recorded each time that a store comes and goes.
package struct StoreLife: Sendable {
    let identity: StoreIdentity
    /// The last position that the file had.
    let last: Position
    /// The first number that was never given out.
    let next: Position

    /// Whether a file is where this life ended, and not a copy that was put in its place.
    func goesOn(with recorded: StoreIdentity, _ position: Position) -> Bool {
        recorded.incarnation == identity.incarnation && position == last
    }
}

/// What a store leaves when it is closed.
package struct ClosedStore: Sendable {
    /// When its next queued work is due; nil for none.
    package var nextWork: Milliseconds?
    /// Nil when it has not written anything, and when nobody knows what is in the file.
    package var life: StoreLife?
    /// What its writer has done.
    package var measurements: WriterMeasurements
}
