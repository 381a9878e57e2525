extension CKShare {
    /// What somebody is in a share, as it was told before there were roles.
    public enum ParticipantType: Int, Sendable {
        /// Unknown, or a role that is newer than these.
        case unknown = 0
        /// Whose records they are.
        case owner = 1
        /// Invited by name.
        case privateUser = 3
        /// Came by the link.
        case publicUser = 4

        init(_ role: ParticipantRole) { self = Self(rawValue: role.rawValue) ?? .unknown }

        var role: ParticipantRole { ParticipantRole(rawValue: rawValue) ?? .unknown }
    }
}
