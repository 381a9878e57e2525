import CloudModel
import Storage

extension StorageFailure {
    /// What is answered for the rest of a request whose first operations are on disk.
    ///
    /// - Returns: nil where nobody knows whether the rest is on disk, too.
    package var refusalOfRemainder: Fault? {
        guard self != .indeterminate else { return nil }
        return .tryAgainLater("the operations before this one were carried out; send it again")
    }
}
