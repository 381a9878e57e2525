import CloudModel

/// Who did what: lines that are only added, of which each is on the disk before the thing that it tells of is done.
///
/// What cannot be noted is not done: `note` throws, and its caller refuses. Lines are chained by digests (`AuditLine`):
/// one that is removed, moved or changed shows in `AuditReport.problems`. Lines cut off at the end show only to a reader
/// who has kept the digest of the last line, which a report names. All methods block.
package protocol AuditStorage: Sendable {
    /// Notes what is about to be done; when this returns, it is on the disk.
    ///
    /// - Throws: `AuditFailure`; then it must not be done.
    func note(_ entry: AuditEntry) throws(AuditFailure)

    /// Some lines, read from the end towards the beginning, also while others are added.
    ///
    /// - Parameters:
    ///   - end: `next` of the page before; nil for the first page.
    ///   - since: entries before it are left out.
    ///   - prefix: how the operator, the action, the account or a word of the detail of each entry begins.
    ///   - limit: of entries, at least 1.
    /// - Throws: `AuditFailure`; `locationUnknown` when no line ends at `end`.
    func page(
        before end: Int64?, since: Milliseconds, prefix: String, limit: Int
    ) throws(AuditFailure) -> AuditPage

    /// What is wrong with the lines, all of them read.
    ///
    /// - Throws: `AuditFailure`.
    func report() throws(AuditFailure) -> AuditReport
}
