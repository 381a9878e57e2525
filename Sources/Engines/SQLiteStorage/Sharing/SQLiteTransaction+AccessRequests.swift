import CloudModel
import Storage

// Those who ask to take part in a share (rulings.md 50).
extension SQLiteTransaction {
    func noteRequest(of user: UserRecordName, for share: ShareNumber?) throws {
        try insert(
            StoredAccessRequest(user: user, madeAt: now, isBlocked: false), of: share,
            share == nil ? .counted : .waiting)
    }

    func replaceRequests(of share: ShareNumber, by requests: [StoredAccessRequest]) throws {
        let previous = try accessRequests(of: share)
        for gone in previous where !requests.contains(gone) {
            let settle = try shareWrites().shares.settleRequests
            settle.bind(share.value, at: 1)
            settle.bind(gone.user.text, at: 2)
            try settle.run()
        }
        for request in requests where !previous.contains(request) {
            try insert(request, of: share, request.isBlocked ? .blocked : .waiting)
        }
    }

    private func insert(
        _ request: StoredAccessRequest, of share: ShareNumber?, _ state: RequestState
    ) throws {
        let statement = try shareWrites().shares.insertRequest
        statement.bind(share?.value ?? 0, at: 1)
        statement.bind(request.user.text, at: 2)
        statement.bind(request.madeAt, at: 3)
        statement.bind(state.rawValue, at: 4)
        try statement.run()
    }
}
