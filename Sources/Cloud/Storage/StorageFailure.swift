/// What may keep an engine from doing what it was asked to; the data is as it was before or, for
/// `indeterminate`, as it was meant to be.
///
/// All of them pass: whoever asked is told to try again. An engine itself tries again only where it knows that nobody
/// can tell, and within the time that a request may take.
package enum StorageFailure: Error, Sendable, Equatable {
    /// There is no room: nothing was written. Writes that only remove (`WriteLoad.frees`) may still be done.
    case full
    /// Another writer came in between: nothing was written. The same write may be handed in again at once.
    case conflict
    /// The store cannot be read, or takes no write, at present: nothing was written.
    case unavailable(Unavailability)
    /// Whether it was written is not known. Whoever asked must look before they try again: as soon as the store can
    /// be read, it shows which it was, and that does not change any more.
    case indeterminate
    /// A read took longer than the store lets a snapshot live.
    case interrupted

    /// Why a store is unavailable, for its operator.
    package enum Unavailability: Sendable, Equatable {
        /// It is being put in place of another; in a moment it is there.
        case beginning
        /// What holds it is not there, or another's is in its place; its operator has to put it back.
        case missing
        /// No file could be opened: the process has as many open as it may.
        case tooManyFiles
        /// So much waits to be written that this was not taken.
        case busy
        /// So much of this caller's waits to be written that this was not taken.
        case callerBusy
        /// What holds it does not answer, or not as it should; in the engine's words.
        case unreachable(String)
    }

    package static let beginning = StorageFailure.unavailable(.beginning)
    package static let missing = StorageFailure.unavailable(.missing)
    package static let tooManyFiles = StorageFailure.unavailable(.tooManyFiles)
}

extension StorageFailure: CustomStringConvertible {
    /// For people who gave a command.
    package var description: String {
        switch self {
        case .full: "the disk is full; nothing was changed"
        case .conflict: "somebody else changed it at the same time; try again"
        case .indeterminate: "it is not known whether the change was made; look, then try again"
        case .interrupted: "reading took too long; try again"
        case .unavailable(.beginning): "the environment is being reset; try again"
        case .unavailable(.missing):
            "the environment's store.sqlite is not there, or is another's; `check` names it. Put it "
                + "back, restore a backup, or delete the container"
        case .unavailable(.tooManyFiles):
            "the server has as many files open as the system lets it (ulimit -n); try again"
        case .unavailable(.busy), .unavailable(.callerBusy): "too many writes wait; try again"
        case .unavailable(.unreachable(let words)):
            "the environment's data cannot be reached: \(words)"
        }
    }
}
