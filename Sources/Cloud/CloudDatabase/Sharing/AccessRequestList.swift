import CloudModel
import Storage

/// Who asks to take part in one share, who is blocked from asking, and how the list may change (rulings.md
/// 50).
///
/// Pure: nothing here reads or writes a store.
struct AccessRequestList: Equatable {
    private(set) var all: [StoredAccessRequest]

    init(_ all: [StoredAccessRequest]) { self.all = all }

    /// Those who wait for an answer, the longest waiting first.
    var waiting: [StoredAccessRequest] { all.filter { !$0.isBlocked } }

    /// Those who are blocked from asking.
    var blocked: [StoredAccessRequest] { all.filter(\.isBlocked) }

    func isWaiting(_ user: UserRecordName) -> Bool { waiting.contains { $0.user == user } }

    func isBlocked(_ user: UserRecordName) -> Bool { blocked.contains { $0.user == user } }

    /// Whether those who decide should see a further request.
    ///
    /// - Parameter most: how many may wait at a time.
    func admits(_ user: UserRecordName, most: Int) -> Bool {
        !all.contains { $0.user == user } && waiting.count < most
    }

    /// Applies decisions.
    ///
    /// Participants no longer ask, and are not blocked.
    ///
    /// - Parameters:
    ///   - participants: changes with it.
    ///   - most: how many may be blocked at a time.
    /// - Throws: BAD_REQUEST for approving a person who has not asked, for blocking the owner, and for too
    ///   many; what `ParticipantList.approve` throws.
    mutating func decide(
        _ decisions: AccessDecisions, _ participants: inout ParticipantList,
        _ editing: ParticipantList.Editing, most: Int
    ) throws(Fault) {
        for user in decisions.approve
        where !isWaiting(user) && participants.participant(user) == nil {
            throw .badRequest("approve: \(user.text) does not ask to take part")
        }
        for user in decisions.block where participants.owner?.user == user {
            throw .badRequest("block: the owner of a share cannot be kept out of it")
        }
        let asked = participants.all.compactMap(\.user).filter(isWaiting)
        try participants.approve(asked + decisions.approve, editing)
        participants.remove(decisions.block)
        let gone = Set(decisions.deny + decisions.block)
        all.removeAll { !$0.isBlocked && gone.contains($0.user) }
        all.removeAll { $0.isBlocked && decisions.unblock.contains($0.user) }
        for user in decisions.block where !isBlocked(user) {
            all.append(StoredAccessRequest(user: user, madeAt: nil, isBlocked: true))
        }
        all.removeAll { participants.participant($0.user) != nil }
        guard blocked.count <= most else {
            throw .limitExceeded(
                "block: more than \(most) kept out")
        }
    }

    /// Removes the request of a user who has joined: they need not ask any more.
    mutating func joined(_ user: UserRecordName) { all.removeAll { $0.user == user } }
}
