/// What a participant may do with the records of a share; the numbers are stored.
package enum SharePermission: Int64, Sendable, Comparable {
    case none = 1
    case readOnly = 2
    case readWrite = 3

    package static func < (left: SharePermission, right: SharePermission) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// What a participant is to a share; the numbers are stored.
package enum ParticipantRole: Int64, Sendable {
    case owner = 1
    /// Invites and removes others as the owner does.
    case administrator = 2
    /// Invited by name or address.
    case privateUser = 3
    /// Joined a share that is open to everybody with its link.
    case publicUser = 4
}

/// How far an invitation has come; the numbers are stored.
package enum AcceptanceStatus: Int64, Sendable {
    case invited = 1
    case accepted = 2
    case removed = 3
}
