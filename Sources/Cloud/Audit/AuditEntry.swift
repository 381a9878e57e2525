import CloudModel

/// One thing that somebody did, or is about to do, to what is not theirs.
package struct AuditEntry: Sendable, Equatable {
    /// Of each text, in bytes.
    package static let textBytesMax = 1_024

    package let time: Milliseconds
    /// The operator: an operator's account id, a key's id, or a word such as `command line`.
    package let who: String
    /// What they did: a command's name, such as `user erase`.
    package let what: String
    /// The id of the account that it was done to; nil where it concerns none.
    package let account: String?
    /// What else is worth knowing, such as a container; never a secret, an address or a record's content.
    package let detail: String?

    package init(
        time: Milliseconds, who: String, what: String, account: String? = nil,
        detail: String? = nil
    ) {
        self.time = time
        self.who = who
        self.what = what
        self.account = account
        self.detail = detail
    }

    /// Whether each text is short enough to be noted.
    var fits: Bool {
        [who, what, account ?? "", detail ?? ""].allSatisfy {
            $0.utf8.count <= Self.textBytesMax
        }
    }
}

/// Why something cannot be noted: then it must not be done.
package enum AuditFailure: Error, Sendable, Equatable, CustomStringConvertible {
    /// A text of it is over `AuditEntry.textBytesMax`.
    case tooLong
    /// The file cannot be opened, read, written or synced.
    case system(call: String, reason: String)
    /// The file is not what an audit log looks like.
    case damaged(String)
    /// No line of the log ends where a page is to begin.
    case locationUnknown
    /// An earlier failure left open what is on the disk; the log has to be opened again.
    case uncertain

    package var description: String {
        switch self {
        case .tooLong: "the audit entry has a text over \(AuditEntry.textBytesMax) bytes"
        case .system(let call, let reason): "the audit log: \(call): \(reason)"
        case .damaged(let reason): "the audit log is damaged: \(reason)"
        case .locationUnknown: "no line of the audit log ends there"
        case .uncertain: "the audit log failed before and must be opened again"
        }
    }
}
