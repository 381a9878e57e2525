import CloudModel
import Storage

/// Who takes part in one share, and how the list may change (rulings.md 36 to 39).
///
/// Pure: nothing here reads or writes a store.
struct ParticipantList: Equatable {
    /// The owner first, then by role and id when read.
    private(set) var all: [StoredParticipant]

    init(_ all: [StoredParticipant]) {
        self.all = all.sorted { ($0.role.rawValue, $0.id) < ($1.role.rawValue, $1.id) }
    }

    /// The list of a new share.
    init(ownedBy user: UserRecordName, id: String) {
        all = [
            StoredParticipant(
                id: id, user: user, address: nil, role: .owner, permission: .readWrite,
                status: .accepted)
        ]
    }

    var owner: StoredParticipant? { all.first { $0.role == .owner } }

    /// The entry that was matched to a user.
    func participant(_ user: UserRecordName) -> StoredParticipant? { all.first { $0.user == user } }

    /// A user's entry, or the one that becomes theirs if they accept: by their name, else by an address.
    ///
    /// - Parameter addresses: the addresses that are verified as theirs.
    func invitation(of user: UserRecordName, addresses: Set<String>) -> StoredParticipant? {
        if let known = participant(user) { return known }
        return all.first { entry in
            entry.user == nil && entry.address.map { addresses.contains($0) } ?? false
        }
    }

    // MARK: - By the owner and administrators

    /// What a change of the list needs to know.
    struct Editing {
        /// Whether the editor is an administrator and not the owner.
        let isByAdministrator: Bool
        let publicPermission: SharePermission
        /// The owner's own addresses, so that nobody invites the owner.
        let ownerAddresses: Set<String>
        /// How many participants a share may have.
        let most: Int
        let makeID: () -> String
    }

    /// Replaces the list by the one that a request sends.
    ///
    /// Entries are matched by id, then user record name, then address. An entry of the owner's role without a
    /// name is the owner. Anyone who is not named any more is removed, except the owner.
    ///
    /// - Throws: BAD_REQUEST for an entry that names nobody, a second owner, a new entry that claims to have
    ///   joined by the link, or too many; ACCESS_DENIED for an administrator who makes another administrator.
    mutating func replace(with entries: [ParticipantEntry], _ editing: Editing) throws(Fault) {
        let known = ParticipantIndex(all, editing)
        var kept = ParticipantIndex(all.filter { $0.role == .owner }, editing)
        for entry in entries {
            if let known = known.match(entry) {
                if kept.holds(known.id) { continue }
                kept.append(try known.changed(by: entry, editing))
            } else if kept.match(entry) == nil {
                kept.append(try Self.invited(by: entry, editing))
            }
            guard kept.all.count - 1 <= editing.most else { throw Self.tooMany(editing.most) }
        }
        all = kept.all
    }

    private static func invited(
        by entry: ParticipantEntry, _ editing: Editing
    ) throws(Fault) -> StoredParticipant {
        let isNamed = entry.user != nil || entry.address != nil
        guard isNamed || entry.isOneTimeLink else {
            throw .badRequest(
                "participants: expected userIdentity with userRecordName or lookupInfo, or the "
                    + "participantId of somebody in the list, or oneTimeLink")
        }
        guard !isNamed || !entry.isOneTimeLink else {
            throw .badRequest(
                "participants: oneTimeLink: it is for the first person who opens it, and names nobody"
            )
        }
        switch entry.role {
        case .owner: throw .badRequest("participants: a share has one owner, who cannot be changed")
        case .publicUser:
            throw .badRequest(
                "participants: nobody is invited as PUBLIC_USER; expected USER or ADMINISTRATOR")
        case .administrator where !isNamed: throw linkMakesNoAdministrator
        case .administrator where editing.isByAdministrator: throw mayNotPromote
        case .administrator, .privateUser, nil: break
        }
        return StoredParticipant(
            id: editing.makeID(), user: entry.user,
            address: entry.user == nil ? entry.address : nil,
            role: entry.role ?? .privateUser, permission: entry.permission ?? .readOnly,
            status: .invited)
    }

    fileprivate static let mayNotPromote = Fault(
        .accessDenied, "participants: only the owner makes administrators")

    fileprivate static let linkMakesNoAdministrator = Fault.badRequest(
        "participants: oneTimeLink: the person who opens it is no ADMINISTRATOR; expected USER")

    /// Adds those who asked to take part and are now approved; existing entries stay as they are.
    ///
    /// - Throws: BAD_REQUEST when the share is full.
    mutating func approve(_ users: [UserRecordName], _ editing: Editing) throws(Fault) {
        for user in users {
            if let index = all.firstIndex(where: { $0.user == user }) {
                if all[index].role != .owner { all[index].isApprovedRequester = true }
                continue
            }
            guard all.count - 1 < editing.most else { throw Self.tooMany(editing.most) }
            all.append(
                StoredParticipant(
                    id: editing.makeID(), user: user, address: nil, role: .privateUser,
                    permission: .readOnly, status: .invited, isApprovedRequester: true))
        }
    }

    /// Removes those who are now blocked.
    mutating func remove(_ users: [UserRecordName]) {
        all.removeAll { entry in entry.role != .owner && users.contains { $0 == entry.user } }
    }

    private static func tooMany(_ most: Int) -> Fault { ParticipantEntry.tooMany(most) }

    /// Follows a change of the public permission.
    ///
    /// When the share is closed, those who joined by themselves are removed; else they get the new
    /// permission.
    mutating func follow(_ publicPermission: SharePermission) {
        if publicPermission == .none { all.removeAll { $0.role == .publicUser } }
        for index in all.indices where all[index].role == .publicUser {
            all[index].permission = publicPermission
        }
    }

    // MARK: - By the participants

    /// Makes a user a participant.
    ///
    /// - Parameter oneTime: the entry of the one-time link that they used; nil for another link.
    /// - Returns: their entry; nil when they are not invited and may not join by the link either.
    /// - Throws: BAD_REQUEST when the share is full.
    mutating func accept(
        _ user: UserRecordName, addresses: Set<String>, oneTime: StoredParticipant? = nil,
        publicPermission: SharePermission, most: Int, makeID: () -> String
    ) throws(Fault) -> StoredParticipant? {
        if let own = invitation(of: user, addresses: addresses) ?? oneTime,
            let index = all.firstIndex(where: { $0.id == own.id })
        {
            // An invitation without permission keeps a person out, even of a public share.
            guard own.permission != .none else { return nil }
            all[index].user = user
            all[index].status = .accepted
            return all[index]
        }
        guard publicPermission != .none else { return nil }
        if all.count - 1 >= most {
            all.removeAll { $0.role == .publicUser && $0.status == .removed }
        }
        guard all.count - 1 < most else { throw Self.tooMany(most) }
        let joined = StoredParticipant(
            id: makeID(), user: user, address: nil, role: .publicUser,
            permission: publicPermission, status: .accepted)
        all.append(joined)
        return joined
    }

    /// Lets a user leave, unless they are the owner.
    ///
    /// Leaving twice changes nothing.
    ///
    /// - Returns: whether they have ever taken part.
    mutating func leave(_ user: UserRecordName) -> Bool {
        guard let index = all.firstIndex(where: { $0.user == user && $0.role != .owner }) else {
            return false
        }
        all[index].status = .removed
        return true
    }

    // MARK: - What follows for the viewers

    /// What a person may see and do after a change, and what they could before.
    struct AccessChange: Equatable {
        let viewer: UserRecordName
        let before: SharePermission
        let after: SharePermission
    }

    /// Whose access changes from another list to this one; leaves out the owner.
    func accessChanges(from previous: ParticipantList) -> [AccessChange] {
        var changes: [AccessChange] = []
        for participant in previous.all where participant.role != .owner {
            guard let viewer = participant.user else { continue }
            let after = self.participant(viewer)?.access ?? .none
            if after != participant.access {
                changes.append(
                    AccessChange(viewer: viewer, before: participant.access, after: after))
            }
        }
        for participant in all where participant.role != .owner && participant.access != .none {
            guard let viewer = participant.user, previous.participant(viewer) == nil else {
                continue
            }
            changes.append(
                AccessChange(viewer: viewer, before: .none, after: participant.access))
        }
        return changes
    }
}

/// The participants of a list, by the ways in which entries of a request may name them.
private struct ParticipantIndex {
    private(set) var all: [StoredParticipant] = []
    private let ownerAddresses: Set<String>
    private var owner: StoredParticipant?
    private var byID: [String: Int] = [:]
    private var byUser: [UserRecordName: Int] = [:]
    private var byAddress: [String: Int] = [:]

    init(_ participants: [StoredParticipant], _ editing: ParticipantList.Editing) {
        ownerAddresses = editing.ownerAddresses
        owner = participants.first { $0.role == .owner }
        for participant in participants { append(participant) }
    }

    mutating func append(_ participant: StoredParticipant) {
        let index = all.count
        all.append(participant)
        if byID[participant.id] == nil { byID[participant.id] = index }
        if let user = participant.user, byUser[user] == nil { byUser[user] = index }
        if let address = participant.address, byAddress[address] == nil {
            byAddress[address] = index
        }
    }

    func holds(_ id: String) -> Bool { byID[id] != nil }

    /// The participant that an entry means: by id, then user record name, then address.
    func match(_ entry: ParticipantEntry) -> StoredParticipant? {
        if let index = entry.id.flatMap({ byID[$0] }) { return all[index] }
        if let index = entry.user.flatMap({ byUser[$0] }) { return all[index] }
        guard let address = entry.address else { return entry.isOwner ? owner : nil }
        if let index = byAddress[address] { return all[index] }
        return ownerAddresses.contains(address) ? owner : nil
    }
}

extension StoredParticipant {
    /// The participant as an entry of a request changes them; how they were invited stays.
    fileprivate func changed(
        by entry: ParticipantEntry, _ editing: ParticipantList.Editing
    ) throws(Fault) -> StoredParticipant {
        guard role != .owner else { return self }
        var changed = self
        switch entry.role {
        case .administrator?:
            guard !isOneTimeLink else { throw ParticipantList.linkMakesNoAdministrator }
            guard role == .administrator || !editing.isByAdministrator else {
                throw ParticipantList.mayNotPromote
            }
            changed.role = .administrator
        case .privateUser?: changed.role = .privateUser
        case .owner?:
            throw .badRequest("participants: a share has one owner, who cannot be changed")
        case .publicUser?, nil: break
        }
        if changed.role == .publicUser {
            changed.permission = editing.publicPermission
        } else if let permission = entry.permission {
            changed.permission = permission
        }
        return changed
    }
}

extension StoredParticipant {
    /// What the participant may see and do now.
    var access: SharePermission { status == .accepted ? permission : .none }
}
