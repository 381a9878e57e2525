import CloudModel

extension Subscription {
    /// The query that a subscription was made with; nil without one, and for one that today's limits refuse.
    package func storedQuery(
        of owner: UserRecordName, in scope: DatabaseScope, limits: ServiceLimits
    ) -> RecordQuery? {
        guard let query else { return nil }
        let zones = ZoneReader(caller: Caller(kind: .user, userRecordName: owner), scope: scope)
        var decoder = QueryDecoder(zones: zones, limits: limits)
        do throws(Fault) {
            return try decoder.decode(RequestObject(body: query))
        } catch {
            // NB: it was accepted under other limits, and finds nothing until it is made anew.
            return nil
        }
    }
}
