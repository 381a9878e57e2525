/// Why an engine could not do what it was asked; each of these failures passes.
///
/// The data are as they were before. After `indeterminate`, they are either so or as they were meant to be.
///
/// The caller is told to try again. An engine itself tries again only where it knows that nobody can tell the
/// difference, and only within the time that a request may take.
package enum StorageFailure: Error, Sendable, Equatable {
    /// There is no room; nothing was written.
    ///
    /// Writes that only remove (`WriteLoad.frees`) may still work.
    case full
    /// Another writer came in between; nothing was written.
    ///
    /// The caller may hand in the same write again at once.
    case conflict
    /// The store cannot be read, or takes no writes, at present; nothing was written.
    case unavailable(Unavailability)
    /// Nobody knows whether it was written.
    ///
    /// The caller must look before they try again. As soon as the store can be read, it shows whether the
    /// write happened, and the answer does not change any more.
    case indeterminate
    /// A read took longer than the store lets a snapshot live.
    case interrupted

    /// Why a store is unavailable; for its operator.
    package enum Unavailability: Sendable, Equatable {
        /// The store is just being put in the place of another; it will be there in a moment.
        case beginning
        /// The store's data are gone, or another store's are in their place; the operator must put them back.
        case missing
        /// The container is being copied to another server, or was: it is served there, or not at all.
        case moved
        /// The store could not be opened: the process has as much open as it is allowed.
        case tooManyOpen
        /// So many writes wait that the engine did not take this one.
        case busy
        /// So many writes of this caller wait that the engine did not take this one.
        case callerBusy
        /// Whatever holds the data does not answer, or not as it should; in the engine's words.
        case unreachable(String)
    }

    package static let beginning = StorageFailure.unavailable(.beginning)
    package static let missing = StorageFailure.unavailable(.missing)
    package static let moved = StorageFailure.unavailable(.moved)
    package static let tooManyOpen = StorageFailure.unavailable(.tooManyOpen)
}

extension StorageFailure: CustomStringConvertible {
    /// A description for people who ran a command.
    package var description: String {
        switch self {
        case .full: "the disk is full; nothing was changed"
        case .conflict: "somebody else changed it at the same time; try again"
        case .indeterminate: "it is not known whether the change was made; look, then try again"
        case .interrupted: "reading took too long; try again"
        case .unavailable(.beginning): "the environment is being reset; try again"
        case .unavailable(.missing):
            "the environment's data are not there, or are another's; `check` names them. Put them "
                + "back, restore a backup, or delete the container"
        case .unavailable(.moved):
            "the container is being copied to another server, or was; `storage copy --reopen` has it "
                + "back here"
        case .unavailable(.tooManyOpen):
            "the server has as many files open as the system lets it (ulimit -n); try again"
        case .unavailable(.busy), .unavailable(.callerBusy): "too many writes wait; try again"
        case .unavailable(.unreachable(let words)):
            "the environment's data cannot be reached: \(words)"
        }
    }
}
