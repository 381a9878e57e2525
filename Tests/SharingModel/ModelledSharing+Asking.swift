// Those who ask to take part, and links that are good for whoever comes first.
extension ModelledSharing.Share {
    /// Follows what is decided of those who ask.
    mutating func decide(_ change: SharingOperation.ShareChange, owner: Int) {
        for index in participants.indices {
            if let user = participants[index].user, asking.contains(user) {
                participants[index].hasAsked = true
            }
        }
        for user in change.approve where user != owner {
            if let index = participants.firstIndex(where: { $0.user == user }) {
                participants[index].hasAsked = true
            } else {
                participants.append(
                    ModelledSharing.Participant(
                        handle: .name(user), user: user, role: .user, permission: .readOnly,
                        status: .invited, hasAsked: true))
            }
        }
        participants.removeAll { entry in entry.user.map(change.block.contains) ?? false }
        asking.removeAll { change.deny.contains($0) || change.block.contains($0) }
        blocked.removeAll { change.unblock.contains($0) }
        for user in change.block where !blocked.contains(user) { blocked.append(user) }
        let present = Set(participants.compactMap(\.user))
        asking.removeAll(where: present.contains)
        blocked.removeAll(where: present.contains)
    }
}

extension ModelledSharing {
    /// Whether those who decide on a share are to see that somebody asks.
    package func admitsRequest(of user: Int, for share: Share, in ownedZone: OwnedZone) -> Bool {
        share.allowsRequests && ownedZone.owner != user && !share.asking.contains(user)
            && !share.blocked.contains(user) && entry(of: user, in: share) == nil
    }

    /// Notes that somebody asks, where it is to be seen.
    package mutating func ask(_ name: String, user: Int, in ownedZone: OwnedZone) {
        guard let share = record(name, in: ownedZone)?.share,
            admitsRequest(of: user, for: share, in: ownedZone)
        else { return }
        change(name, in: ownedZone) { record in
            record.share?.asking.append(user)
            record.touch()
        }
    }
}
