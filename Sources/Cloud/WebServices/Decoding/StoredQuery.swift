import CloudModel
import RecordDecoding

extension Subscription {
    /// The query of a stored subscription; nil when it has none, and when today's limits refuse it.
    package func storedQuery(
        of owner: UserRecordName, in scope: DatabaseScope, limits: ServiceLimits
    ) -> RecordQuery? {
        guard let query else { return nil }
        let zones = ZoneReader(caller: Caller(kind: .user, userRecordName: owner), scope: scope)
        var decoder = QueryDecoder(zones: zones, limits: limits)
        do throws(Fault) {
            return try decoder.decode(RequestObject(body: query))
        } catch {
            // NB: it was accepted under other limits. It finds nothing until somebody makes it again.
            return nil
        }
    }
}
