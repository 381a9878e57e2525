import CatalogSQL
import CloudModel
import Storage
import StoredRows

// Those who ask to take part in a share (rulings.md 50).
extension SQLiteTransaction {
    func save(
        _ requests: [StoredAccessRequest], settling users: [UserRecordName],
        of share: ShareNumber?
    ) throws {
        for user in users {
            try shareWrites().shares.settleRequests.run(share?.value ?? 0, user.text)
        }
        for request in requests {
            try insert(
                request, of: share,
                share == nil ? .counted : request.isBlocked ? .blocked : .waiting)
        }
    }

    private func insert(
        _ request: StoredAccessRequest, of share: ShareNumber?, _ state: RequestState
    ) throws {
        let statement = try shareWrites().shares.insertRequest
        statement.bind(share?.value ?? 0, at: 1)
        statement.bind(request.user.text, at: 2)
        statement.bind(request.madeAt ?? .unset, at: 3)
        statement.bind(state.rawValue, at: 4)
        try statement.run()
    }
}
