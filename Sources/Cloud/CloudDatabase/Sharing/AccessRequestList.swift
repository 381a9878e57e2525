import CloudModel
import Storage

/// Who asks to take part in one share, and who may not ask, and what may become of the list
/// (rulings.md 50).
///
/// Pure: nothing here reads or writes a store.
struct AccessRequestList: Equatable {
    private(set) var all: [StoredAccessRequest]

    init(_ all: [StoredAccessRequest]) { self.all = all }

    /// Those who wait for an answer, the longest waiting first.
    var waiting: [StoredAccessRequest] { all.filter { !$0.isBlocked } }

    /// Those who may not ask.
    var blocked: [StoredAccessRequest] { all.filter(\.isBlocked) }

    func isWaiting(_ user: UserRecordName) -> Bool { waiting.contains { $0.user == user } }

    func isBlocked(_ user: UserRecordName) -> Bool { blocked.contains { $0.user == user } }

    /// Whether a further request is to be seen by those who decide.
    ///
    /// - Parameter most: how many wait at a time.
    func admits(_ user: UserRecordName, most: Int) -> Bool {
        !all.contains { $0.user == user } && waiting.count < most
    }

    /// Follows what is decided; whoever takes part then asks no more and is not blocked.
    ///
    /// - Parameters:
    ///   - participants: changes with it.
    ///   - most: how many are blocked at a time.
    /// - Throws: BAD_REQUEST for approving somebody who has not asked, blocking the owner, and too many;
    ///   what `ParticipantList.approve` throws.
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
            all.append(StoredAccessRequest(user: user, madeAt: 0, isBlocked: true))
        }
        all.removeAll { participants.participant($0.user) != nil }
        guard blocked.count <= most else {
            throw .limitExceeded(
                "block: more than \(most) kept out (limits.accessRequestsPerShareMax)")
        }
    }

    /// Follows somebody's coming: they need not ask any more.
    mutating func joined(_ user: UserRecordName) { all.removeAll { $0.user == user } }
}
