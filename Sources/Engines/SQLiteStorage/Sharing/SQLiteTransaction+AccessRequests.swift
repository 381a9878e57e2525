import CloudModel
import Storage

// Those who ask to take part in a share (rulings.md 50).
extension SQLiteTransaction {
    func setAllowsRequests(_ allows: Bool, of share: ShareNumber) throws {
        try shareWrites().setAllowsRequests.run(share.value, Int64(allows ? 1 : 0))
    }

    func noteRequest(of user: UserRecordName, for share: ShareNumber?) throws {
        try insert(
            StoredAccessRequest(user: user, madeAt: now, isBlocked: false), of: share,
            share == nil ? .counted : .waiting)
    }

    func replaceRequests(of share: ShareNumber, by requests: [StoredAccessRequest]) throws {
        let previous = try accessRequests(of: share)
        for gone in previous where !requests.contains(gone) {
            try shareWrites().settleRequests.run(share.value, gone.user.text)
        }
        for request in requests where !previous.contains(request) {
            try insert(request, of: share, request.isBlocked ? .blocked : .waiting)
        }
    }

    func forgetRequests(of user: UserRecordName) throws {
        try shareWrites().forgetRequestsOfUser.run(user.text)
    }

    func noteRequestsTold(of share: ShareNumber) throws {
        try shareWrites().noteRequestsTold.run(share.value, now)
    }

    private func insert(
        _ request: StoredAccessRequest, of share: ShareNumber?, _ state: RequestState
    ) throws {
        try shareWrites().insertRequest.run(
            share?.value ?? 0, request.user.text, request.madeAt, state.rawValue)
    }
}
