/// Why a job was not run, or why nobody knows whether it was.
package enum WriterError: Error, Sendable, Equatable {
    /// COMMIT failed so that only a restart can tell whether the group is in the database.
    ///
    /// Answer "try again later", never a definite failure: after a failed fsync the pages may still
    /// reach the disk.
    case indeterminate
    /// The writer is closed, or refuses work since an indeterminate COMMIT; the job has not run.
    case closed
    /// So many jobs wait, or so many bytes, that no further one is taken; it has not run.
    case tooManyWaiting
    /// The same of the one caller alone.
    case tooManyOfCaller
}
